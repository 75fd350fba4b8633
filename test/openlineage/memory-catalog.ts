/** The parts of a catalog that events need, in memory: aspects with versions and their conditions. */
import type { Caller, Catalog, FoundEntity, Proposal } from "../../src/catalog/catalog.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { entityTypeOf } from "../../src/core/urn.ts";

interface Stored {
  readonly version: number;
  readonly value: string;
}

const timeseries = [
  "openLineageEvent",
  "dataProcessInstanceRunEvent",
  "operation",
  "datasetProfile",
  "assertionRunEvent",
];

export interface MemoryCatalog extends Pick<Catalog, "findEntities" | "ingest"> {
  /** Values by urn and aspect; events of timeseries by urn, aspect, time and message. */
  contents(): Readonly<Record<string, unknown>>;
  /** Number of proposals so far. */
  proposals(): number;
  put(urn: string, aspect: string, value: object): void;
  remove(urn: string, aspect: string): void;
}

export function memoryCatalog(): MemoryCatalog {
  const aspects = new Map<string, Map<string, Stored>>();
  const events = new Map<string, unknown>();
  let count = 0;
  const of = (urn: string) => aspects.get(urn) ?? new Map<string, Stored>();
  const put = (urn: string, aspect: string, value: string) => {
    const version = (of(urn).get(aspect)?.version ?? 0) + 1;
    aspects.set(urn, new Map(of(urn)).set(aspect, { version, value }));
  };

  function write({ entityUrn = "", aspectName = "", aspect, headers }: Proposal): void {
    count++;
    const text = String(aspect?.value);
    if (timeseries.includes(aspectName)) {
      const { timestampMillis, messageId } = JSON.parse(text);
      events.set([entityUrn, aspectName, timestampMillis, messageId].join(" "), JSON.parse(text));
      return;
    }
    const version = of(entityUrn).get(aspectName)?.version ?? -1;
    if (headers?.["If-Version-Match"] !== String(version)) {
      throw new CatalogError("invalid", "another version", { failedCondition: true });
    }
    put(entityUrn, aspectName, text);
  }

  return {
    async findEntities(urns): Promise<readonly FoundEntity[]> {
      return urns.map((urn) => ({
        urn,
        entityType: entityTypeOf(urn),
        exists: true,
        aspects: [...of(urn)].map(([name, stored]) => ({
          ...{ name, ...stored, time: 0, actor: "", system: { lastObserved: 0, runId: "" } },
        })),
      }));
    },
    async ingest(proposals, _caller: Caller) {
      for (const proposal of proposals) write(proposal);
      return { position: position(count), changed: [] };
    },
    contents: () =>
      Object.fromEntries([
        ...[...aspects].flatMap(([urn, own]) =>
          [...own].map(([name, { value }]) => [`${urn} ${name}`, JSON.parse(value)] as const),
        ),
        ...events,
      ]),
    proposals: () => count,
    put: (urn, aspect, value) => put(urn, aspect, JSON.stringify(value)),
    remove(urn, aspect) {
      const left = new Map(of(urn));
      left.delete(aspect);
      aspects.set(urn, left);
    },
  };
}
