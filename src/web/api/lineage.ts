/** Reads lineage: neighbours of an entity within some hops, with the edges that lead to them. */
import { read } from "./http.ts";
import { listAt, numberAt, textAt, textsAt } from "./json.ts";

export type LineageDirection = "UPSTREAM" | "DOWNSTREAM";

export interface LineageEdge {
  /** Data flows from the source to the target. */
  readonly source: string;
  readonly target: string;
}

interface LineageNode {
  readonly urn: string;
  readonly degree: number;
}

export interface Lineage {
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly LineageEdge[];
  readonly total: number;
  /** A limit of the service ended the walk. */
  readonly partial: boolean;
}

interface LineageRequest {
  readonly urn: string;
  readonly direction: LineageDirection;
  readonly hops: number;
  readonly count?: number;
  readonly since?: number | undefined;
  readonly signal?: AbortSignal;
}

export async function readLineage(request: LineageRequest): Promise<Lineage> {
  const { urn, direction, hops, count = 500, since, signal } = request;
  const answer = await read<{ readonly value: unknown }>("/relationships?action=getLineage", {
    body: { urn, direction, maxHops: hops, count, ...(since ? { startTimeMillis: since } : {}) },
    signal,
  });
  const relationships = listAt(answer.value, "relationships");
  return {
    nodes: relationships.map((one) => ({
      urn: textAt(one, "entity") ?? "",
      degree: numberAt(one, "degree") ?? 1,
    })),
    edges: edgesOfPaths(
      relationships.flatMap((one) => listAt(one, "paths").map((path) => pathTexts(path))),
      direction,
    ),
    total: numberAt(answer.value, "total") ?? relationships.length,
    partial: (answer.value as { readonly partial?: boolean }).partial === true,
  };
}

/** The urns of a path, along the data. */
export type LineagePath = readonly string[];

/** The most that is walked for a path. */
const pathHopsMax = 100;

/** Shortest paths from one entity to another, or back if data does not flow that way. */
export async function readPaths(
  from: string,
  to: string,
  since: number | undefined,
): Promise<readonly LineagePath[]> {
  const forward = await pathsAlong(from, to, since);
  return forward.length > 0 ? forward : pathsAlong(to, from, since);
}

async function pathsAlong(
  urn: string,
  to: string,
  since: number | undefined,
): Promise<readonly LineagePath[]> {
  const answer = await read<unknown>("/entities?action=searchAcrossLineage", {
    body: {
      urn,
      direction: "DOWNSTREAM",
      maxHops: pathHopsMax,
      start: 0,
      count: 1,
      filter: { or: [{ and: [{ field: "urn", values: [to] }] }] },
      searchFlags: { skipAggregates: true, skipHighlighting: true, includeSoftDeleted: true },
      ...(since ? { startTimeMillis: since } : {}),
    },
  });
  const [hit] = listAt(answer, "value", "entities");
  return listAt(hit, "paths").map(pathTexts);
}

const pathTexts = (path: unknown): readonly string[] =>
  textsAt(Array.isArray(path) ? path : listAt(path, "path"));

/** The steps of all paths, each once. Paths lead away from the entity in both directions. */
export function edgesOfPaths(
  paths: readonly (readonly string[])[],
  direction: LineageDirection,
): readonly LineageEdge[] {
  const edges = new Map<string, LineageEdge>();
  for (const path of paths) {
    for (let n = 1; n < path.length; n++) {
      const [near = "", far = ""] = [path[n - 1], path[n]];
      const edge =
        direction === "UPSTREAM" ? { source: far, target: near } : { source: near, target: far };
      edges.set(`${edge.source}\n${edge.target}`, edge);
    }
  }
  return [...edges.values()];
}
