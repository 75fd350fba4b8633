/** The graph of lineage. A worker computes the layout. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";
import "@xyflow/react/dist/style.css";
import { useSummary } from "../../../api/entities.ts";
import { type Lineage, type LineageDirection, readLineage } from "../../../api/lineage.ts";
import { typeLabel } from "../../../api/type-names.ts";
import { nameOfUrn } from "../../../api/urn.ts";
import { TypeGlyph } from "../../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { announceError } from "../../../components/toasts.tsx";
import { type Graph, joinGraphs, pathBetween } from "./graph.ts";
import { layOut, type Places } from "./layout.ts";

interface GraphProps {
  readonly urn: string;
  readonly hops: number;
  readonly since: number | undefined;
}

const graphOf = (urn: string, lineages: readonly Lineage[]): Graph =>
  joinGraphs([
    { urns: [urn], edges: [] },
    ...lineages.map(({ nodes, edges }) => ({ urns: nodes.map((node) => node.urn), edges })),
  ]);

export function LineageGraph({ urn, hops, since }: GraphProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ["entity", urn, "lineage", hops, since ?? 0],
    queryFn: async ({ signal }) => {
      const both = await Promise.all(
        (["UPSTREAM", "DOWNSTREAM"] as const).map((direction) =>
          readLineage({ urn, direction, hops, since, signal }),
        ),
      );
      return { graph: graphOf(urn, both), partial: both.some(({ partial }) => partial) };
    },
  });
  const [added, setAdded] = useState<Graph>({ urns: [], edges: [] });
  const graph = useMemo(
    () => (data === undefined ? undefined : joinGraphs([data.graph, added])),
    [data, added],
  );
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (graph === undefined) return <Loading lines={8} />;
  if (graph.edges.length === 0) {
    return (
      <Empty title="No lineage">Nothing is stated about the sources or uses of this entity.</Empty>
    );
  }
  const expand = (from: string, direction: LineageDirection) =>
    readLineage({ urn: from, direction, hops: 1, since }).then(
      (lineage) => setAdded((before) => joinGraphs([before, graphOf(from, [lineage])])),
      announceError,
    );
  return (
    <>
      {data?.partial && <p className="notice">The graph is too large to be read completely.</p>}
      <ReactFlowProvider>
        <Canvas root={urn} graph={graph} onExpand={expand} />
      </ReactFlowProvider>
    </>
  );
}

interface CanvasProps {
  readonly root: string;
  readonly graph: Graph;
  readonly onExpand: (urn: string, direction: LineageDirection) => void;
}

interface NodeData extends Record<string, unknown> {
  readonly urn: string;
  readonly root: boolean;
  readonly found: boolean;
  readonly onExpand: CanvasProps["onExpand"];
}

type EntityNode = Node<NodeData, "entity">;

const nodeTypes = { entity: EntityCard };

/** Entities that are readable when the whole graph is shown. */
const readableMax = 60;

function Canvas({ root, graph, onExpand }: CanvasProps) {
  const [places, setPlaces] = useState<Places>(new Map());
  const [selected, setSelected] = useState<string>();
  const [text, setText] = useState("");
  const { fitView, setCenter } = useReactFlow();
  useEffect(() => {
    let current = true;
    layOut(graph).then((next) => {
      if (!current) return;
      setPlaces(next);
      const center = next.get(root);
      requestAnimationFrame(() => {
        // A large graph as a whole shows nothing: the entity is in the middle then.
        if (graph.urns.length > readableMax && center !== undefined) {
          void setCenter(center.x + 110, center.y + 30, { zoom: 0.7 });
        } else void fitView({ maxZoom: 1, padding: 0.15 });
      });
    }, announceError);
    return () => {
      current = false;
    };
  }, [graph, root, fitView, setCenter]);
  const found = useMemo(() => {
    const words = text.trim().toLowerCase();
    return new Set(
      words === "" ? [] : graph.urns.filter((urn) => urn.toLowerCase().includes(words)),
    );
  }, [graph, text]);
  const path = useMemo(
    () => (selected === undefined ? new Set<string>() : pathBetween(graph, root, selected)),
    [graph, root, selected],
  );
  const nodes: EntityNode[] = graph.urns.flatMap((urn) => {
    const position = places.get(urn);
    if (position === undefined) return [];
    const data = { urn, root: urn === root, found: found.has(urn), onExpand };
    return [{ id: urn, type: "entity", position, data, ariaLabel: nameOfUrn(urn) }];
  });
  const edges: Edge[] = graph.edges.map(({ source, target }) => {
    const id = `${source}\n${target}`;
    return { id, source, target, className: path.has(id) ? "on-path" : "" };
  });
  const showFound = () => {
    const [first] = found;
    const place = first === undefined ? undefined : places.get(first);
    if (place !== undefined) void setCenter(place.x + 110, place.y + 30, { zoom: 1 });
  };
  return (
    <>
      <div className="row">
        <input
          className="field column-filter"
          type="search"
          aria-label="Find in the graph"
          placeholder="Find in the graph"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && showFound()}
        />
        <span className="muted num" aria-live="polite">
          {text === "" ? `${graph.urns.length} entities` : `${found.size} found`}
        </span>
        <span className="muted small">Select an entity to see its path. Arrows load more.</span>
      </div>
      <div className="lineage panel">
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
          onNodeClick={(_, node) => setSelected(node.id)}
          onPaneClick={() => setSelected(undefined)}
        >
          <Background gap={20} />
          <Controls showInteractive={false} />
          {graph.urns.length > 30 && <MiniMap pannable zoomable />}
        </ReactFlow>
      </div>
    </>
  );
}

function EntityCard({ data, selected }: NodeProps<EntityNode>) {
  const { urn, root, found, onExpand } = data;
  const { name, type, platform } = useSummary(urn);
  const platformName = useSummary(platform ?? "").name;
  const state = `${root ? " root" : ""}${found ? " found" : ""}${selected ? " selected" : ""}`;
  return (
    <div className={`lineage-node${state}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <ExpandButton name={name} urn={urn} direction="UPSTREAM" onExpand={onExpand} />
      <TypeGlyph type={type} />
      <div className="lineage-text">
        <Link
          to="/ui/entity/$urn/$tab"
          params={{ urn, tab: "lineage" }}
          className="clip"
          title={urn}
        >
          {name}
        </Link>
        <span className="muted small clip">
          {typeLabel(type)}
          {platform !== undefined && ` · ${platformName}`}
        </span>
      </div>
      <ExpandButton name={name} urn={urn} direction="DOWNSTREAM" onExpand={onExpand} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

interface ExpandProps {
  readonly name: string;
  readonly urn: string;
  readonly direction: LineageDirection;
  readonly onExpand: CanvasProps["onExpand"];
}

const ExpandButton = ({ name, urn, direction, onExpand }: ExpandProps) => (
  <button
    type="button"
    className="expand nodrag"
    aria-label={`Load ${direction === "UPSTREAM" ? "sources" : "uses"} of ${name}`}
    onClick={(event) => {
      event.stopPropagation();
      onExpand(urn, direction);
    }}
  >
    {direction === "UPSTREAM" ? "‹" : "›"}
  </button>
);
