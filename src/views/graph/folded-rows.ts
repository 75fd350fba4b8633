/** Folds the changes of an entity into its expected rows of the graph, in memory. */
import { appendAll } from "../../lib/lists.ts";
import type { Projection } from "../../projector/sink.ts";
import type { Cell, FoldedRows, Row, RowShape } from "../../projector/verify/view-rows.ts";
import type { Edge, GraphWrite } from "./graph.ts";

/**
 * The order of edges and the kinds of their ends are not compared here; the store checks them itself
 * (`asMade`).
 */
export const graphRowShape: RowShape = {
  names: [
    ...["aspect", "type", "source", "destination", "position", "ordinal", "path", "via"],
    ...["createdOn", "createdActor", "updatedOn", "updatedActor", "properties", "asMade"],
  ],
  keys: 4,
  order: [4, 5],
};

const SOURCE = 2;
const DESTINATION = 3;
const POSITION = 4;
const ORDINAL = 5;
const CREATED_ON = 8;
const CREATED_ACTOR = 9;

type Replace = Extract<GraphWrite, { op: "replace" }>;

export const foldGraphRows =
  (project: Projection<GraphWrite>) =>
  (urn: string): FoldedRows => {
    /** By aspect, then by the ends of the edge. */
    let stated = new Map<string, Map<string, Row>>();
    let size = 0;

    function replace(write: Replace): void {
      const before = stated.get(write.aspect);
      const now = new Map<string, Row>();
      for (const [ordinal, edge] of write.edges.entries()) {
        const ends = `${edge.type}\0${edge.source}\0${edge.destination}`;
        now.set(ends, rowOf(write, edge, ordinal, before?.get(ends)));
      }
      size += now.size - (before?.size ?? 0);
      stated.set(write.aspect, now);
    }

    function forget(about: string): void {
      for (const rows of stated.values()) {
        for (const [ends, row] of rows) {
          if (row[SOURCE] !== about && row[DESTINATION] !== about) continue;
          rows.delete(ends);
          size--;
        }
      }
    }

    function clear(): void {
      stated = new Map();
      size = 0;
    }

    function apply(write: GraphWrite): void {
      if (write.op === "replace") replace(write);
      else if (write.urn === urn) clear();
      else if (write.op === "forget") forget(write.urn);
    }

    return {
      add(change) {
        for (const write of project(change)) apply(write);
      },
      size: () => size,
      rows() {
        const rows: Row[] = [];
        for (const edges of stated.values()) appendAll(rows, edges.values());
        return rows.sort(
          (a, b) =>
            Number(a[POSITION]) - Number(b[POSITION]) || Number(a[ORDINAL]) - Number(b[ORDINAL]),
        );
      },
    };
  };

/** Missing stamps are those of the write; `created…` those of the first write with the edge. */
function rowOf({ aspect, position, stamp }: Replace, edge: Edge, ordinal: number, old?: Row): Row {
  const { type, source, destination, path, via, properties } = edge;
  return [
    ...[aspect, type, source, destination],
    ...(old === undefined ? [position, ordinal] : [old[POSITION] as Cell, old[ORDINAL] as Cell]),
    ...[path, via ?? null],
    edge.createdOn ?? (old?.[CREATED_ON] as number | undefined) ?? stamp.time,
    edge.createdActor ?? (old?.[CREATED_ACTOR] as string | undefined) ?? stamp.actor,
    edge.updatedOn ?? stamp.time,
    edge.updatedActor ?? stamp.actor,
    properties === undefined ? null : JSON.stringify(properties),
    1,
  ];
}
