/** The layout of a graph of lineage, computed by ELK in a worker. */
import ELK from "elkjs/lib/elk-api.js";
import workerAddress from "elkjs/lib/elk-worker.min.js?url";
import type { Graph } from "./graph.ts";

export type Places = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

const nodeSize = { width: 232, height: 52 };

const elk = new ELK({ workerFactory: () => new Worker(workerAddress) });

export async function layOut(graph: Graph): Promise<Places> {
  const laidOut = await elk.layout(elkGraphOf(graph));
  return new Map(
    (laidOut.children ?? []).map(({ id, x = 0, y = 0 }) => [
      graph.urns[Number(id)] ?? "",
      { x, y },
    ]),
  );
}

/** Numbers instead of urns: ids of ELK are short. */
function elkGraphOf({ urns, edges }: Graph) {
  const numbers = new Map(urns.map((urn, n) => [urn, String(n)]));
  return {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": "72",
      "elk.spacing.nodeNode": "20",
      // The page draws its own curves: routes of ELK would cost most of the time.
      "elk.edgeRouting": "POLYLINE",
      "elk.layered.thoroughness": urns.length > 200 ? "1" : "7",
      ...(urns.length > 200 ? { "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED" } : {}),
    },
    children: urns.map((_, n) => ({ id: String(n), ...nodeSize })),
    edges: edges.map(({ source, target }, n) => ({
      id: `e${n}`,
      sources: [numbers.get(source) ?? ""],
      targets: [numbers.get(target) ?? ""],
    })),
  };
}
