/** Column lineage: the columns of entities, and which column comes from which, as their aspects state it. */
import type { Aspects } from "../../../api/aspect.ts";
import { readAspects } from "../../../api/entities.ts";
import { listAt, textAt, textsAt } from "../../../api/json.ts";
import { type ColumnEdge, columnEdgesOf } from "./column-edges.ts";

export interface ColumnLineage {
  /** Paths of the columns, by entity. Columns with edges come first. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly edges: readonly ColumnEdge[];
}

const lineageAspects = ["upstreamLineage", "dataJobInputOutput", "inputFields"] as const;

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
