/** The layout of a graph of lineage, computed by ELK in a worker. */
import ELK from "elkjs/lib/elk-api.js";
import workerAddress from "elkjs/lib/elk-worker.min.js?url";
import type { Graph } from "./graph.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Places = ReadonlyMap<string, Point>;

const elk = new ELK({ workerFactory: () => new Worker(workerAddress) });

/** Entities that are laid out with care; larger graphs are laid out fast. */
const carefulMax = 200;

/** Places every entity. `heightOf` returns the height of its card. */
export async function layOut(
  graph: Graph,
  width: number,
  heightOf: (urn: string) => number,
): Promise<Places> {
  const { urns, edges } = graph;
  // Numbers instead of urns: ids of ELK are short.
  const numbers = new Map(urns.map((urn, n) => [urn, String(n)]));
  const laidOut = await elk.layout({
    id: "root",
    layoutOptions: { ...common, ...(urns.length > carefulMax ? fast : careful) },
    children: urns.map((urn, n) => ({ id: String(n), width, height: heightOf(urn) })),
    edges: edges.map(({ source, target }, n) => ({
      id: `e${n}`,
      sources: [numbers.get(source) ?? ""],
      targets: [numbers.get(target) ?? ""],
    })),
  });
  return new Map(
    (laidOut.children ?? []).map(({ id, x = 0, y = 0 }) => [urns[Number(id)] ?? "", { x, y }]),
  );
}

const common = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.layered.spacing.nodeNodeBetweenLayers": "72",
  "elk.spacing.nodeNode": "20",
  // The page draws its own curves: routes of ELK would cost most of the time.
  "elk.edgeRouting": "POLYLINE",
};

const careful = { "elk.layered.thoroughness": "7" };

/** Half the time of the defaults, and a more compact graph. */
const fast = {
  "elk.layered.thoroughness": "1",
  "elk.layered.nodePlacement.strategy": "SIMPLE",
  "elk.layered.crossingMinimization.greedySwitch.type": "OFF",
};
