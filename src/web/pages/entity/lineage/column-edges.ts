/** Edges between columns, as the aspects of an entity state them. */
import type { Aspects } from "../../../api/aspect.ts";
import { listAt, textAt, textsAt } from "../../../api/json.ts";
import { type ColumnRef, columnOf } from "./column-urn.ts";

/** Data flows from the source to the target. */
export interface ColumnEdge {
  readonly source: ColumnRef;
  readonly target: ColumnRef;
}

/** Edges of one aspect: an entry connects all its sources with all its targets. */
const edgesMax = 20_000;

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
