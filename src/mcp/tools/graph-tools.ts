/** Tools that follow lineage and other relationships. */
import { z } from "zod";
import type { Catalog } from "../../catalog/catalog.ts";
import { count, start, urn } from "../arguments.ts";
import { entityLines } from "../names.ts";
import { defineTool, type Tool } from "../tool.ts";

const direction = z.enum(["UPSTREAM", "DOWNSTREAM"]);
const maxHops = z.int().min(1).max(20);

const getLineage = defineTool({
  name: "get_lineage",
  title: "Get lineage",
  description:
    "Lists the entities that an entity comes from (UPSTREAM) or that depend on it (DOWNSTREAM), nearest first, with the number of hops and one path to each. Shows the present.",
  input: { urn, direction, max_hops: maxHops.default(1), start, count: count(30, 100) },
  async run({ urn, direction, max_hops, start, count }, { catalog }) {
    const at = catalog.positionOf("relationships");
    const page = await catalog.getLineage({ urn, direction, maxHops: max_hops, start, count });
    const lines = await entityLines(
      page.relationships.map(({ entity }) => entity),
      catalog,
    );
    return {
      position: at,
      total: page.total,
      partial: page.partial || undefined,
      start,
      entities: lines.map((line, i) => {
        const found = page.relationships[i];
        return { ...line, hops: found?.degree, path: found?.paths[0] };
      }),
    };
  },
});

const pathsMax = 10;

const findPaths = defineTool({
  name: "find_lineage_paths",
  title: "Find lineage paths",
  description:
    "Finds how data flows between two entities: shortest paths from the first to the second, or the other way if there is none.",
  input: { from: urn, to: urn, max_hops: maxHops.default(10) },
  async run({ from, to, max_hops }, { catalog }) {
    const at = catalog.positionOf("relationships");
    const forward = await pathsBetween(from, to, max_hops, catalog);
    if (forward.length > 0) return { position: at, direction: "DOWNSTREAM", paths: forward };
    const backward = await pathsBetween(to, from, max_hops, catalog);
    const direction = backward.length > 0 ? "UPSTREAM" : undefined;
    return { position: at, direction, paths: backward };
  },
});

async function pathsBetween(
  from: string,
  to: string,
  maxHops: number,
  catalog: Catalog,
): Promise<readonly (readonly string[])[]> {
  const { hits } = await catalog.searchLineage(
    {
      urn: from,
      direction: "DOWNSTREAM",
      maxHops,
      filter: { or: [{ and: [{ field: "urn", values: [to] }] }] },
      flags: { skipAggregates: true, skipHighlighting: true },
    },
    { start: 0, count: 1 },
  );
  return hits[0]?.paths.slice(0, pathsMax) ?? [];
}

const getRelationships = defineTool({
  name: "get_relationships",
  title: "Get relationships",
  description:
    "Lists the edges of an entity by type: OwnedBy, TaggedWith, TermedWith, IsPartOf, DownstreamOf, Contains and others. OUTGOING edges are stated by the entity itself. Shows the present.",
  input: {
    urn,
    direction: z.enum(["INCOMING", "OUTGOING"]),
    types: z
      .array(z.string().max(200))
      .max(100)
      .optional()
      .describe("Types of edges; all if absent"),
    count: count(50, 500),
    scroll_id: z.string().max(20_000).optional().describe("From the previous page"),
  },
  async run({ urn, direction, types, count, scroll_id }, { catalog }) {
    const at = catalog.positionOf("relationships");
    const end = { urns: [urn] };
    const page = await catalog.scrollRelationships({
      types,
      ...(direction === "OUTGOING" ? { source: end } : { destination: end }),
      count,
      scrollId: scroll_id,
    });
    return {
      position: at,
      relationships: page.relationships.map(({ type, source, destination }) => ({
        type,
        urn: direction === "OUTGOING" ? destination : source,
      })),
      scroll_id: page.scrollId,
    };
  },
});

export const graphTools: readonly Tool[] = [getLineage, findPaths, getRelationships];
