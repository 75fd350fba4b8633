/** Draws the graph of lineage: layout, search, columns, and the paths that the reader selects. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import {
  Background,
  Controls,
  getNodesBounds,
  getViewportForBounds,
  MiniMap,
  Panel,
  ReactFlow,
  useReactFlow,
  useStore,
  useStoreApi,
} from "@xyflow/react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import "@xyflow/react/dist/style.css";
import { edgesOfPaths, type LineageDirection } from "../../../api/lineage.ts";
import { announceError } from "../../../components/toasts.tsx";
import type { ColumnEdge } from "./column-edges.ts";
import { readColumnLineage } from "./columns.ts";
import { type CardActions, CardActionsContext, EntityCard } from "./entity-card.tsx";
import {
  buttonsZoom,
  cardsZoom,
  cardWidth,
  columnsStep,
  edgesOf,
  heightOf,
  nodesOf,
  shownColumns,
} from "./flow.ts";
import type { Focus } from "./focus.ts";
import { columnsAround, type Graph, idOf, pathBetween, withNeighbours } from "./graph.ts";
import { layOut, type Places } from "./layout.ts";
import { FocusNote, LineageToolbar } from "./lineage-toolbar.tsx";

interface CanvasProps {
  readonly root: string;
  readonly graph: Graph;
  readonly since: number | undefined;
  /** The first view has the whole graph, however small its cards are. */
  readonly whole: boolean;
  readonly tools: ReactNode;
  readonly onExpand: (urn: string, direction: LineageDirection) => void;
  readonly onAdd: (graph: Graph) => void;
}

const nodeTypes = { entity: EntityCard };
const noEdges: readonly ColumnEdge[] = [];

export function LineageCanvas({ root, graph, since, whole, tools, onExpand, onAdd }: CanvasProps) {
  const [focus, setFocus] = useState<Focus>();
  const [text, setText] = useState("");
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(new Map());
  const lineage = useColumnLineage(graph, limits);
  const columns = useMemo(() => shownColumns(limits, lineage), [limits, lineage]);
  const columnEdges = lineage?.edges ?? noEdges;
  const { places, view, showNode } = usePlaces(
    whole ? { whole } : { center: root },
    graph,
    columns,
  );
  const tiny = useStore(({ transform: [, , zoom] }) => zoom < cardsZoom);
  const actions = useMemo<CardActions>(() => {
    const setLimit = (urn: string, next: (before: number | undefined) => number | undefined) => {
      view.current = { keep: urn };
      setLimits((before) => {
        const limit = next(before.get(urn));
        const others = [...before].filter(([one]) => one !== urn);
        return new Map(limit === undefined ? others : [...others, [urn, limit]]);
      });
    };
    return {
      expand(urn, direction) {
        view.current = { center: urn };
        onExpand(urn, direction);
      },
      toggleColumns: (urn) =>
        setLimit(urn, (before) => (before === undefined ? columnsStep : undefined)),
      showMore: (urn) => setLimit(urn, (before) => (before ?? 0) + columnsStep),
      selectColumn: (column) => setFocus({ kind: "column", column }),
    };
  }, [onExpand, view]);
  const found = useMemo(() => matchesOf(graph, text), [graph, text]);
  const path = useMemo(() => edgesOfFocus(graph, root, focus), [graph, root, focus]);
  const lit = useMemo(
    () => (focus?.kind === "column" ? columnsAround(columnEdges, focus.column) : new Set<string>()),
    [columnEdges, focus],
  );
  const nodes = useMemo(
    () => nodesOf({ graph, root, places, columns, found: new Set(found), lit }),
    [graph, root, places, columns, found, lit],
  );
  const edges = useMemo(
    () => edgesOf({ graph, columns, lit }, columnEdges, path),
    [graph, columns, lit, columnEdges, path],
  );
  return (
    <CardActionsContext value={actions}>
      <LineageToolbar
        root={root}
        focus={focus}
        since={since}
        count={graph.urns.length}
        tools={tools}
        text={text}
        found={found}
        onText={setText}
        onShow={showNode}
        onPaths={(paths) => {
          view.current = { show: paths.flat() };
          onAdd({ urns: paths.flat(), edges: edgesOfPaths(paths, "DOWNSTREAM") });
          setFocus({ kind: "paths", paths });
        }}
      />
      <div className={tiny ? "lineage panel tiny" : "lineage panel"}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          minZoom={0.05}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          onlyRenderVisibleElements
          proOptions={{ hideAttribution: true }}
          onNodeClick={(_, node) => setFocus({ kind: "entity", urn: node.id })}
          onKeyDown={({ key, target }) => {
            const { id } = (target as HTMLElement).dataset;
            if (key === "Enter" && id !== undefined) setFocus({ kind: "entity", urn: id });
          }}
          onPaneClick={() => setFocus(undefined)}
        >
          <Background gap={20} />
          <Controls showInteractive={false} />
          {focus !== undefined && (
            <Panel position="top-right">
              <FocusNote focus={focus} columns={columns} onClear={() => setFocus(undefined)} />
            </Panel>
          )}
          {graph.urns.length > 30 && (
            <MiniMap pannable zoomable style={{ width: 140, height: 96 }} />
          )}
        </ReactFlow>
      </div>
    </CardActionsContext>
  );
}

function useColumnLineage(graph: Graph, limits: ReadonlyMap<string, number>) {
  const expanded = [...limits.keys()].toSorted();
  const around = withNeighbours(graph, expanded).filter((urn) => !limits.has(urn));
  const { data } = useQuery({
    queryKey: ["columns", expanded, around],
    queryFn: () => readColumnLineage(expanded, around),
    enabled: expanded.length > 0,
    placeholderData: keepPreviousData,
  });
  return data;
}

/** `someMin`: the smallest zoom at which some entities are shown together. */
const zooms = { someMin: 0.6, max: 1, padding: 0.1 };

/**
 * The part of the next layout that is visible: some entities, or the whole graph. Without `whole`,
 * in a graph whose cards would be too small for buttons, one entity instead: in the middle, or
 * where it was.
 */
type NextView =
  | { readonly whole: true }
  | { readonly center: string }
  | { readonly keep: string }
  | { readonly show: readonly string[] };

function usePlaces(first: NextView, graph: Graph, columns: ReturnType<typeof shownColumns>) {
  const [places, setPlaces] = useState<Places>(new Map());
  const last = useRef(places);
  const view = useRef(first);
  const { getViewport, setCenter, setViewport } = useReactFlow();
  const store = useStoreApi();
  const showNode = (urn: string): void => {
    const place = last.current.get(urn);
    if (place === undefined) return;
    void setCenter(place.x + cardWidth / 2, place.y + 26, { zoom: 1 });
  };
  const show = useRef(showNode);
  show.current = showNode;
  useEffect(() => {
    let current = true;
    layOut(graph, cardWidth, (urn) => heightOf(columns.get(urn))).then((next) => {
      if (!current) return;
      const before = last.current;
      // From the layout: the nodes of the canvas may not have their new places yet.
      const viewportOf = (shown: readonly string[], zoomMin: number) => {
        const cards = shown.flatMap((id) => {
          const position = next.get(id);
          const size = { width: cardWidth, height: heightOf(columns.get(id)) };
          return position === undefined ? [] : [{ id, position, ...size, data: {} }];
        });
        const { width, height } = store.getState();
        const { max, padding } = zooms;
        return getViewportForBounds(getNodesBounds(cards), width, height, zoomMin, max, padding);
      };
      last.current = next;
      setPlaces(next);
      const wanted = view.current;
      requestAnimationFrame(() => {
        if ("show" in wanted) {
          void setViewport(viewportOf(wanted.show, zooms.someMin));
          return;
        }
        const whole = viewportOf([...next.keys()], 0);
        if ("whole" in wanted || whole.zoom >= buttonsZoom) void setViewport(whole);
        else if ("center" in wanted) show.current(wanted.center);
        else {
          const [from, to] = [before.get(wanted.keep), next.get(wanted.keep)];
          if (from === undefined || to === undefined) return;
          const { x, y, zoom } = getViewport();
          void setViewport({ x: x + (from.x - to.x) * zoom, y: y + (from.y - to.y) * zoom, zoom });
        }
      });
    }, announceError);
    return () => {
      current = false;
    };
  }, [graph, columns, store, getViewport, setViewport]);
  return { places, view, showNode };
}

/** Entities whose urn contains all words. */
function matchesOf(graph: Graph, text: string): readonly string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return graph.urns.filter((urn) => {
    const lower = urn.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
}

function edgesOfFocus(graph: Graph, root: string, focus: Focus | undefined): ReadonlySet<string> {
  if (focus?.kind === "entity") return pathBetween(graph, root, focus.urn);
  if (focus?.kind !== "paths") return new Set();
  return new Set(edgesOfPaths(focus.paths, "DOWNSTREAM").map(idOf));
}
