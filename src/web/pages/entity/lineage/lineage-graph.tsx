/** The graph of lineage: reads it, and adds what the reader loads. */
import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { type Lineage, type LineageDirection, readLineage } from "../../../api/lineage.ts";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { announce, announceError } from "../../../components/toasts.tsx";
import { type Graph, joinGraphs } from "./graph.ts";
import "./lineage.css";
import { LineageCanvas } from "./lineage-canvas.tsx";

interface GraphProps {
  readonly urn: string;
  readonly hops: number;
  readonly since: number | undefined;
  /** Controls at the beginning of the toolbar. */
  readonly tools: ReactNode;
}

const none: Graph = { urns: [], edges: [] };

const graphOf = (urn: string, lineages: readonly Lineage[]): Graph =>
  joinGraphs([
    { urns: [urn], edges: [] },
    ...lineages.map(({ nodes, edges }) => ({ urns: nodes.map((node) => node.urn), edges })),
  ]);

export function LineageGraph({ urn, hops, since, tools }: GraphProps) {
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
  const [added, setAdded] = useState<Graph>(none);
  const graph = useMemo(
    () => (data === undefined ? undefined : joinGraphs([data.graph, added])),
    [data, added],
  );
  const add = useCallback((more: Graph) => setAdded((before) => joinGraphs([before, more])), []);
  const expand = useCallback(
    (from: string, direction: LineageDirection) => {
      readLineage({ urn: from, direction, hops: 1, since }).then((lineage) => {
        const more = graphOf(from, [lineage]);
        if (more.urns.every((one) => graph?.urns.includes(one))) {
          announce(`No other ${direction === "UPSTREAM" ? "sources" : "uses"}`);
        }
        add(more);
      }, announceError);
    },
    [add, graph, since],
  );
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (graph === undefined) return <Loading lines={8} />;
  if (graph.edges.length === 0) {
    return (
      <>
        <div className="row">{tools}</div>
        <Empty title="No lineage">
          {since === undefined
            ? "No aspect states sources or uses of this entity."
            : "No aspect has stated sources or uses of this entity in this time."}
        </Empty>
      </>
    );
  }
  return (
    <>
      {data?.partial && <p className="notice">The graph is too large to be read completely.</p>}
      <ReactFlowProvider>
        <LineageCanvas
          root={urn}
          graph={graph}
          since={since}
          whole={hops > 1}
          tools={tools}
          onExpand={expand}
          onAdd={add}
        />
      </ReactFlowProvider>
    </>
  );
}
