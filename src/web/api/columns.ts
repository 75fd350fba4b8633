/** Column lineage: the columns of entities, and which column comes from which, as their aspects state it. */
import type { Aspects } from "./aspect.ts";
import { readAspects } from "./entities.ts";
import { listAt, textAt, textsAt } from "./json.ts";
import { partsOf, typeOf } from "./urn.ts";

export interface ColumnRef {
  readonly urn: string;
  readonly path: string;
}

/** Data flows from the source to the target. */
export interface ColumnEdge {
  readonly source: ColumnRef;
  readonly target: ColumnRef;
}

export interface ColumnLineage {
  /** Paths of the columns, by entity. Columns with edges come first. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly edges: readonly ColumnEdge[];
}

const lineageAspects = ["upstreamLineage", "dataJobInputOutput", "inputFields"] as const;

/** Edges of one aspect: an entry connects all its sources with all its targets. */
const edgesMax = 20_000;

/**
 * Reads the columns of some entities and the edges between columns that the entities and their
 * neighbours state.
 */
export async function readColumnLineage(
  urns: readonly string[],
  neighbours: readonly string[],
): Promise<ColumnLineage> {
  const [own, around] = await Promise.all([
    readAspects(urns, ["schemaMetadata", ...lineageAspects]),
    readAspects(neighbours, lineageAspects),
  ]);
  const edges = [...own, ...around].flatMap(([urn, aspects]) => columnEdgesOf(urn, aspects));
  const linked = new Map<string, Set<string>>();
  for (const { urn, path } of edges.flatMap(({ source, target }) => [source, target])) {
    linked.set(urn, (linked.get(urn) ?? new Set()).add(path));
  }
  const columns = urns.map((urn) => {
    const paths = pathsOf(own.get(urn) ?? new Map());
    const first = linked.get(urn) ?? new Set<string>();
    const others = paths.filter((path) => !first.has(path));
    const known = paths.filter((path) => first.has(path));
    return [urn, [...new Set([...known, ...first, ...others])]] as const;
  });
  return { columns: new Map(columns), edges };
}

const pathsOf = (aspects: Aspects): readonly string[] => [
  ...textsAt(listAt(aspects.get("schemaMetadata")?.value, "fields"), "fieldPath"),
  ...listAt(aspects.get("inputFields")?.value, "fields").flatMap(
    (field) => textAt(field, "schemaField", "fieldPath") ?? [],
  ),
];

/** The edges that the aspects of an entity state, in the order of the aspects. */
export function columnEdgesOf(urn: string, aspects: Aspects): readonly ColumnEdge[] {
  const pairs = ["upstreamLineage", "dataJobInputOutput"].flatMap((aspect) =>
    listAt(aspects.get(aspect)?.value, "fineGrainedLineages").flatMap(pairsOf),
  );
  const shown = listAt(aspects.get("inputFields")?.value, "fields").flatMap((field) => {
    const source = columnOf(textAt(field, "schemaFieldUrn") ?? "");
    if (source === undefined) return [];
    const path = textAt(field, "schemaField", "fieldPath") ?? source.path;
    return [{ source, target: { urn, path } }];
  });
  return [...pairs, ...shown].slice(0, edgesMax);
}

function pairsOf(entry: unknown): readonly ColumnEdge[] {
  const columns = (name: string) =>
    textsAt(listAt(entry, name)).flatMap((urn) => columnOf(urn) ?? []);
  const targets = columns("downstreams");
  return columns("upstreams").flatMap((source) => targets.map((target) => ({ source, target })));
}

/** The column that the urn of a `schemaField` names. */
export function columnOf(urn: string): ColumnRef | undefined {
  if (typeOf(urn) !== "schemaField") return undefined;
  const [entity = "", ...path] = partsOf(urn);
  if (path.length === 0) return undefined;
  // Producers encode brackets and commas of a path, and nothing else.
  const readable = path.join(",").replaceAll(/%(28|29|2C)/gi, decodeURIComponent);
  return { urn: entity, path: readable };
}
