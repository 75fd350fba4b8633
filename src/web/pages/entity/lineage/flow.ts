/** The graph of lineage as nodes and edges of React Flow, with the columns of expanded entities. */
import { type Edge, type Node, type NodeHandle, Position } from "@xyflow/react";
import { nameOfUrn } from "../../../api/urn.ts";
import type { ColumnEdge } from "./column-edges.ts";
import type { ColumnRef } from "./column-urn.ts";
import type { ColumnLineage } from "./columns.ts";
import { type Graph, idOf, keyOfColumn } from "./graph.ts";
import type { Places } from "./layout.ts";

/** Sizes of a card in pixels: `lineage.css` has the same. */
export const cardWidth = 280;
const headHeight = 52;
const rowHeight = 32;
const listPadding = 8;

/** Smallest zooms at which the buttons of a card, and the card itself, are targets of 24 pixels. */
export const buttonsZoom = 24 / 32;
export const cardsZoom = 24 / 50;

/** Columns that a card shows at first, and how many more each time. */
export const columnsStep = 8;

/** The columns that a card shows. */
export interface ShownColumns {
  readonly paths: readonly string[];
  /** Number of columns that are not shown. */
  readonly hidden: number;
  readonly loading: boolean;
}

interface NodeData extends Record<string, unknown> {
  readonly urn: string;
  readonly root: boolean;
  readonly found: boolean;
  /** Undefined for an entity whose columns are not shown. */
  readonly columns: ShownColumns | undefined;
  /** Keys of the columns on the path of the selected column. */
  readonly lit: ReadonlySet<string>;
}

export type EntityNode = Node<NodeData, "entity">;

/** The columns that each expanded card shows: `limits` has how many. */
export function shownColumns(
  limits: ReadonlyMap<string, number>,
  lineage: ColumnLineage | undefined,
): ReadonlyMap<string, ShownColumns> {
  return new Map(
    [...limits].map(([urn, limit]) => {
      const all = lineage?.columns.get(urn);
      const paths = (all ?? []).slice(0, limit);
      const hidden = (all?.length ?? 0) - paths.length;
      return [urn, { paths, hidden, loading: all === undefined }];
    }),
  );
}

/** The height of a card with some columns. */
export function heightOf(columns: ShownColumns | undefined): number {
  if (columns === undefined) return headHeight;
  const rows = Math.max(columns.paths.length, columns.hidden > 0 ? 0 : 1);
  return headHeight + listPadding + (rows + (columns.hidden > 0 ? 1 : 0)) * rowHeight;
}

interface View {
  readonly graph: Graph;
  readonly root: string;
  readonly places: Places;
  readonly columns: ReadonlyMap<string, ShownColumns>;
  readonly found: ReadonlySet<string>;
  readonly lit: ReadonlySet<string>;
}

/** Nodes have known sizes and handles, so that React Flow renders only the visible ones. */
export function nodesOf(view: View): EntityNode[] {
  const { graph, root, places, found, lit } = view;
  return graph.urns.flatMap((urn) => {
    const position = places.get(urn);
    if (position === undefined) return [];
    const columns = view.columns.get(urn);
    const size = { width: cardWidth, height: heightOf(columns) };
    return [
      {
        id: urn,
        type: "entity" as const,
        position,
        ...size,
        measured: size,
        handles: handlesOf(columns),
        ariaLabel: nameOfUrn(urn),
        data: { urn, root: urn === root, found: found.has(urn), columns, lit },
      },
    ];
  });
}

function handlesOf(columns: ShownColumns | undefined): NodeHandle[] {
  const sides = (y: number, id?: string): NodeHandle[] =>
    (["target", "source"] as const).map((type) => ({
      type,
      y,
      x: type === "target" ? 0 : cardWidth,
      width: 1,
      height: 1,
      position: type === "target" ? Position.Left : Position.Right,
      ...(id === undefined ? {} : { id }),
    }));
  const rows = (columns?.paths ?? []).flatMap((path, n) =>
    sides(headHeight + listPadding / 2 + (n + 0.5) * rowHeight, path),
  );
  return [...sides(headHeight / 2), ...rows];
}

/** Edges between entities, and from column to column where at least one end shows its columns. */
export function edgesOf(
  { graph, columns, lit }: Omit<View, "root" | "places" | "found">,
  columnEdges: readonly ColumnEdge[],
  path: ReadonlySet<string>,
): Edge[] {
  const between = graph.edges.map(({ source, target }) => {
    const id = idOf({ source, target });
    return { id, source, target, className: path.has(id) ? "on-path" : "" };
  });
  const present = new Set(graph.urns);
  const handle = ({ urn, path }: ColumnRef) =>
    columns.get(urn)?.paths.includes(path) === true ? path : undefined;
  const drawn = new Map<string, Edge>();
  for (const { source, target } of columnEdges) {
    if (!present.has(source.urn) || !present.has(target.urn)) continue;
    const [from, to] = [handle(source), handle(target)];
    if (from === undefined && to === undefined) continue;
    const onPath = lit.has(keyOfColumn(source)) && lit.has(keyOfColumn(target));
    const id = `${source.urn}\n${from ?? ""}\n${target.urn}\n${to ?? ""}`;
    if (drawn.get(id)?.className === "column-edge on-path") continue;
    drawn.set(id, {
      id,
      source: source.urn,
      target: target.urn,
      ...(from === undefined ? {} : { sourceHandle: from }),
      ...(to === undefined ? {} : { targetHandle: to }),
      className: onPath ? "column-edge on-path" : "column-edge",
      zIndex: onPath ? 1 : 0,
    });
  }
  return [...between, ...drawn.values()];
}
