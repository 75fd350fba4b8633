/** Tools that find entities. */
import { z } from "zod";
import { count, entityTypes, start } from "../arguments.ts";
import { entityLines } from "../names.ts";
import { defineTool, type Tool } from "../tool.ts";

const criterion = z.object({
  field: z.string().max(500).describe('Field, such as "platform", "tags", "owners", "domains"'),
  values: z.array(z.string().max(8_192)).min(1).max(100).describe("Any of these, often urns"),
  condition: z
    .enum(["EQUAL", "IEQUAL", "CONTAIN", "START_WITH", "END_WITH", "EXISTS"])
    .default("EQUAL"),
  negated: z.boolean().default(false),
});

const search = defineTool({
  name: "search",
  title: "Search the catalog",
  description:
    'Finds entities by words, best match first. The query supports words, "phrases", prefix*, field:value, AND, OR, NOT and groups; * matches everything. Filters must all hold. Returns urn, type, name and description of each hit, and the total. With facets: true it also counts hits by type, platform, tag, owner and more.',
  input: {
    query: z.string().max(10_000).default("*"),
    types: entityTypes,
    filters: z.array(criterion).max(20).optional(),
    facets: z.boolean().default(false),
    start,
    count: count(10, 50),
  },
  async run({ query, types, filters, facets, start, count }, { catalog }) {
    const request = {
      entities: types,
      input: query,
      filter: filters && { or: [{ and: filters }] },
      flags: { skipAggregates: !facets },
    };
    const page = await catalog.search(request, { start, count });
    const lines = await entityLines(
      page.hits.map(({ urn }) => urn),
      catalog,
    );
    return {
      position: page.position,
      total: page.total,
      start,
      hits: lines.map((line, i) => ({
        ...line,
        matched: page.hits[i]?.matchedFields.map(({ name }) => name),
      })),
      facets: facets ? page.facets.map(facetLine) : undefined,
    };
  },
});

const facetLine = (facet: {
  readonly name: string;
  readonly values: readonly { readonly value: string; readonly count: number }[];
}) => ({
  field: facet.name,
  values: facet.values.map(({ value, count }) => ({ value, count })),
});

const summary = defineTool({
  name: "summarize_catalog",
  title: "Summarize the catalog",
  description: "Counts the entities by type, and names the position of the log.",
  input: {},
  async run(_, { catalog, entityTypes }) {
    const position = catalog.positionOf("entities");
    const counts = Object.entries(await catalog.countEntities(entityTypes));
    return { position, counts: Object.fromEntries(counts.filter(([, count]) => count > 0)) };
  },
});

export const searchTools: readonly Tool[] = [search, summary];
