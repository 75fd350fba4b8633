/** Documents joined to those of the view: results are the same as if the view had all of them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { joinedSearch } from "../../../src/catalog/search/overlay-search.ts";
import {
  hitsMax,
  type SearchDocument,
  type SearchQuery,
} from "../../../src/views/search/search.ts";
import { corpora, entityTypes, searchQueries } from "../../contract/search-model.ts";
import { readerOf } from "./search-corpus.ts";

const asked = searchQueries.map(
  (query): SearchQuery => ({
    ...query,
    ...{ entityTypes, expression: { kind: "all" }, condition: undefined },
    facets: query.facets.map((facet) => ("named" in facet ? facet : { ...facet, limit: 1_000 })),
  }),
);

test("a joined search returns the results of a view that has all documents", async () => {
  await fc.assert(
    fc.asyncProperty(
      corpora(40),
      fc.constantFrom(0, 1, 20, 39, 40),
      fc.array(asked, { minLength: 1, maxLength: 5 }),
      async (documents, own, queries) => {
        const whole = readerOf(documents);
        const joined = joinedSearch(readerOf(documents.slice(0, own)), documents.slice(own));
        for (const query of queries) {
          const expected = await whole.search(query);
          const atOwn = { ...expected, position: own };
          expect(await joined.search(query)).toEqual(atOwn);
          const { hits } = await whole.search({ ...query, start: 0, count: 40 });
          for (const after of [hits[0]?.cursor, hits[25]?.cursor]) {
            const rest = { ...query, after };
            const { hits: next } = await whole.search(rest);
            expect((await joined.search(rest)).hits).toEqual(next);
          }
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("pages beyond the hit limit of one query are complete and in order", async () => {
  const documents = Array.from({ length: hitsMax + 20 }, (_, n): SearchDocument => {
    const urn = `urn:li:tag:${String(n * 7_919).padStart(9, "0")}`;
    return { urn, entityType: "tag", values: { urn: [urn] }, texts: [] };
  });
  const reader = readerOf(documents.filter((_, n) => n % 1_000 !== 0));
  const limited: typeof reader = {
    ...reader,
    search: (query) => reader.search({ ...query, count: Math.min(query.count, hitsMax) }),
  };
  const joined = joinedSearch(
    limited,
    documents.filter((_, n) => n % 1_000 === 0),
  );
  const query: SearchQuery = {
    ...{ entityTypes: ["tag"], expression: { kind: "all" }, sort: [], facets: [] },
    ...{ start: 0, count: hitsMax },
  };
  for (const start of [0, 5, 20, hitsMax, hitsMax + 15]) {
    const { hits, total } = await joined.search({ ...query, start });
    expect(total).toBe(documents.length);
    expect(hits.map(({ document }) => document.urn)).toEqual(
      documents.slice(start, start + hitsMax).map(({ urn }) => urn),
    );
  }
});
