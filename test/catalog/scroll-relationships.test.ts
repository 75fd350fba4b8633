/** Scrolls over edges: between ten thousands of named ends, and while others delete entities. */
import { expect, test } from "vitest";
import { createRelationshipScroll } from "../../src/catalog/graph/scroll-relationships.ts";
import type { NeighboursQuery } from "../../src/views/graph/graph.ts";
import type { Cursor } from "../../src/views/search/search.ts";
import { defaultModel } from "../model/default-model.ts";

const tag = (name: string) => `urn:li:tag:${name}`;

function scrolling(neighbours: readonly string[]) {
  let asked = 0;
  const { scrollRelationships } = createRelationshipScroll({
    model: defaultModel,
    namespace: "li",
    urnLimits: { bytesMax: 512, schemaFieldBytesMax: 2_048 },
    reader: {
      neighbours: async () => {
        asked++;
        const found = neighbours.map((urn) => ({ urn, type: "TaggedWith" }));
        return { neighbours: found, total: found.length };
      },
    },
    steps: { UPSTREAM: new Map(), DOWNSTREAM: new Map() },
    relationshipTypes: ["TaggedWith"],
    caughtUp: async () => {},
  } as unknown as Parameters<typeof createRelationshipScroll>[0]);
  return { scrollRelationships, asked: () => asked };
}

const many = (name: string) => Array.from({ length: 60_000 }, (_, i) => tag(`${name}${i}`));
const others = Array.from({ length: 200 }, (_, i) => tag(`other${i}`));

test("a scroll between many named sources and destinations returns the edges between them", async () => {
  const { scrollRelationships, asked } = scrolling([...others, tag("end59999")]);
  const page = await scrollRelationships({
    ...{ source: { urns: many("begin") }, destination: { urns: many("end") } },
    ...{ includeSoftDeleted: true, count: 1_000 },
  });
  expect(asked()).toBe(1_000);
  expect(page.relationships).toHaveLength(1_000);
  expect(page.relationships[0]).toMatchObject({
    ...{ source: tag("begin0"), destination: tag("end59999") },
  });
});

test("an edge between two of many entities is returned at its source", async () => {
  const { scrollRelationships } = scrolling([...others, tag("end59999")]);
  const page = await scrollRelationships({
    ...{ around: many("end"), includeSoftDeleted: true, count: 1_000 },
  });
  const first = page.relationships.slice(0, 401);
  expect(first.filter(({ source }) => source === tag("end0"))).toHaveLength(201);
  expect(first.filter(({ source }) => source === tag("end59999"))).toHaveLength(0);
});

test("an edge of an entity that stays is returned once while other entities are deleted", async () => {
  const entities = new Set(Array.from({ length: 500 }, (_, i) => tag(String(1_000 + i))));
  const stay = new Set(entities);
  const { scrollRelationships } = createRelationshipScroll({
    model: defaultModel,
    namespace: "li",
    urnLimits: { bytesMax: 512, schemaFieldBytesMax: 2_048 },
    reader: {
      async neighbours({ urn, start, count }: NeighboursQuery) {
        const all = [1, 2, 3].map((n) => ({ urn: `${urn}-${n}`, type: "TaggedWith" }));
        return { neighbours: all.slice(start, start + count), total: all.length };
      },
    },
    search: {
      async scroll(_: unknown, { after, count }: { after?: Cursor; count: number }) {
        const from = String(after?.[1] ?? "");
        const found = [...entities].sort().filter((urn) => urn > from);
        const hits = found.slice(0, count).map((urn) => ({ urn }));
        return { hits, ...(hits.length === count && { scrollId: "more" }) };
      },
    },
    steps: { UPSTREAM: new Map(), DOWNSTREAM: new Map() },
    relationshipTypes: ["TaggedWith"],
    caughtUp: async () => {},
  } as unknown as Parameters<typeof createRelationshipScroll>[0]);
  const remove = (urn: string | undefined) => {
    entities.delete(urn ?? "");
    stay.delete(urn ?? "");
  };
  const seen: string[] = [];
  let scrollId: string | undefined;
  for (let n = 0; n === 0 || scrollId !== undefined; n++) {
    const page = await scrollRelationships({ count: 7, includeSoftDeleted: true, scrollId });
    seen.push(...page.relationships.map(({ destination }) => destination));
    ({ scrollId } = page);
    // One that was returned; at times the one that the page ended in; and one that comes later.
    remove(page.relationships[0]?.source);
    if (n % 3 === 0) remove(page.relationships.at(-1)?.source);
    if (n % 5 === 0) remove([...entities].sort().findLast((urn) => stay.has(urn)));
    entities.add(`${page.relationships[0]?.source}a`);
  }
  expect(new Set(seen).size).toBe(seen.length);
  const edges = [...stay].flatMap((urn) => [1, 2, 3].map((n) => `${urn}-${n}`));
  expect(stay.size).toBeGreaterThan(100);
  expect(seen).toEqual(expect.arrayContaining(edges));
});
