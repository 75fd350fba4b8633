/**
 * The section on the model of the documentation page: a table of entity types with urns and aspects,
 * which the browser's search can find.
 */
import { escaped } from "./docs-text.ts";

/** An entity type for the documentation. */
export interface EntityOutline {
  readonly name: string;
  /** Fields of its key, in the order of the urn. */
  readonly key: readonly string[];
  /** The key aspect first. */
  readonly aspects: readonly {
    readonly name: string;
    readonly timeseries: boolean;
    /** 1 when absent. */
    readonly schemaVersion?: number | undefined;
    /** Its urns that state edges, with their paths; none when absent. */
    readonly relationships?: readonly {
      readonly name: string;
      readonly entityTypes: readonly string[];
      readonly path: readonly string[];
    }[];
    /** Builds the JSON Schema of its values; any value fits when absent. */
    readonly schema?: () => Readonly<Record<string, unknown>>;
  }[];
}

export function renderModel(entities: readonly EntityOutline[], namespace: string): string {
  const rows = [...entities]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      (entity) =>
        `<tr><td>${code(entity.name)}<br>${code(urnOf(entity, namespace))}</td><td>${listed(entity, false)}${timeseriesOf(entity)}</td></tr>`,
    );
  const aspects = new Set(entities.flatMap((entity) => entity.aspects.map(({ name }) => name)));
  return `<section id="model"><h2>Entities and aspects</h2>
<p>${entities.length} entity types with ${aspects.size} aspects. Find one with your browser's search.</p>
<table class="model"><thead><tr><th>Entity type and urn</th><th>Aspects</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></section>`;
}

function urnOf({ name, key }: EntityOutline, namespace: string): string {
  const id = key.length === 1 ? `<${key[0]}>` : `(${key.map((field) => `<${field}>`).join(",")})`;
  return `urn:${namespace}:${name}:${id}`;
}

function timeseriesOf(entity: EntityOutline): string {
  const names = listed(entity, true);
  return names === "" ? "" : `<br>Timeseries: ${names}`;
}

const listed = ({ aspects }: EntityOutline, timeseries: boolean): string =>
  aspects
    .filter((aspect) => aspect.timeseries === timeseries)
    .map(({ name }) => code(name))
    .join(" ");

const code = (text: string): string => `<code>${escaped(text)}</code>`;
