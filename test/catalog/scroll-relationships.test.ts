/** Edges between ten thousands of named ends: one query for each edge. */
import { expect, test } from "vitest";
import { createRelationshipScroll } from "../../src/catalog/graph/scroll-relationships.ts";

const tag = (name: string) => `urn:li:tag:${name}`;

function scrolling(neighbours: readonly string[]) {
  let asked = 0;
  const { scrollRelationships } = createRelationshipScroll({
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
