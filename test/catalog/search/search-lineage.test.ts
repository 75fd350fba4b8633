/** Searches among the results of a lineage walk: order, degrees, pages, facets. */
import { describe, expect, test } from "vitest";
import type { Reached, WalkLineage, WalkQuery } from "../../../src/catalog/graph/lineage.ts";
import type { LineageSearchRequest } from "../../../src/catalog/search/requests.ts";
import { writeScrollId } from "../../../src/catalog/search/scroll-id.ts";
import type { Filter } from "../../../src/core/query/filter.ts";
import { dataset, documentsOf, searchesOver } from "./search-corpus.ts";

/** `d<degree>-<n>`: three at each of four degrees; every second one is named "red". */
const nodes = [1, 2, 3, 4].flatMap((degree) =>
  [0, 1, 2].map((n) => ({ degree, name: `d${degree}-${n}`, urn: dataset(`d${degree}-${n}`) })),
);
const START = dataset("start");
const CHART = "urn:li:chart:(looker,c)";
const GHOST = dataset("ghost");

const documents = documentsOf({
  ...Object.fromEntries(
    nodes.map(({ urn }, i) => [
      urn,
      { datasetProperties: { name: i % 2 === 0 ? "blue" : "red", customProperties: {}, tags: [] } },
    ]),
  ),
  [CHART]: {},
  [dataset("elsewhere")]: {},
  "urn:li:dataPlatform:postgres": {},
});

const asked: WalkQuery[] = [];
let partial = false;

/** An entity that an edge from `before` leads to; undefined: from the start. */
function reachedFrom(before: Reached | undefined, urn: string, degree: number): Reached {
  const edge = { from: before?.urn ?? START, to: urn, type: "DownstreamOf" } as Reached["edge"];
  const flags = { between: false, ignoredAsHop: false, explored: true, truncatedChildren: false };
  return { urn, degree, edge, before, ...flags };
}

/** Chains n → n → n; one urn of the first degree does not exist, and a chart has the fourth degree. */
const walk: WalkLineage = async (query) => {
  asked.push(query);
  const reached: Reached[] = [];
  const add = (urn: string, degree: number, before?: Reached) => {
    if (degree <= query.hops) reached.push(reachedFrom(before, urn, degree));
  };
  for (const { urn, degree } of nodes) {
    const chain = reached.find(
      (one) => one.degree === degree - 1 && one.urn.includes(urn.slice(-9)),
    );
    add(urn, degree, chain);
  }
  add(GHOST, 1);
  add(CHART, 4);
  reached.sort((a, b) => a.degree - b.degree);
  return { reached, partial };
};
const searches = searchesOver(documents, walk);

const request = (more: Partial<LineageSearchRequest> = {}): LineageSearchRequest => ({
  urn: START,
  direction: "UPSTREAM",
  input: "*",
  ...more,
});
const search = (more: Partial<LineageSearchRequest> = {}, page = { start: 0, count: 100 }) =>
  searches.searchLineage(request(more), page);
const degree = (...values: string[]): Filter => ({ or: [{ and: [{ field: "degree", values }] }] });
const names = (hits: readonly { urn: string }[]) =>
  hits.map(({ urn }) => /d\d-\d|looker/.exec(urn)?.[0]);

describe("a lineage search", () => {
  test("results are the existing entities, nearest first", async () => {
    const { hits, total, position } = await search();
    expect(names(hits)).toEqual([...nodes.map(({ name }) => name), "looker"]);
    expect(total).toBe(13);
    expect(position).toBe(documents.length);
    expect(hits[0]).toMatchObject({ degree: 1, paths: [[START, hits[0]?.urn]], explored: true });
    expect(asked.at(-1)).toEqual({
      ...{ urn: START, direction: "UPSTREAM", hops: Infinity },
      times: undefined,
    });
  });

  test("pages and scrolls return the same results", async () => {
    const pages = await Promise.all([0, 5, 10].map((start) => search({}, { start, count: 5 })));
    const all = (await search()).hits;
    expect(pages.flatMap(({ hits }) => hits)).toEqual(all);
    for (const more of [
      {},
      { input: "red OR blue" },
      { sort: [{ field: "name", order: "ASCENDING" as const }] },
    ]) {
      const whole = await search(more);
      const seen: (string | undefined)[] = [];
      let scrollId: string | undefined;
      do {
        const page = await searches.scrollLineage(request(more), { scrollId, count: 4 });
        expect(page.total).toBe(whole.total);
        seen.push(...names(page.hits));
        scrollId = page.scrollId;
      } while (scrollId !== undefined);
      expect(seen).toEqual(names(whole.hits));
    }
    const { scrollId = "" } = await searches.scrollLineage(request(), { count: 4 });
    const other = request({ direction: "DOWNSTREAM" });
    await expect(searches.scrollLineage(other, { scrollId, count: 4 })).rejects.toThrow(
      "does not belong to this request",
    );
  });

  test("a query with words sorts the best matches first", async () => {
    const { hits, total } = await search({ input: "red" });
    expect(total).toBe(6);
    expect(hits[0]?.matchedFields).toEqual([{ name: "name", value: "red" }]);
    expect(names(hits)).toEqual(["d1-1", "d2-0", "d2-2", "d3-1", "d4-0", "d4-2"]);
  });

  test("a search filters by entity type", async () => {
    const { hits, facets } = await search({ entities: ["chart"] });
    expect(names(hits)).toEqual(["looker"]);
    expect(facets.map(({ name }) => name)).toContain("_entityType");
  });

  test.each<[string[], number, number]>([
    [["1"], 3, 1],
    [["2"], 3, 2],
    [["1", "2"], 6, 2],
    [["3+"], 7, Infinity],
    [["2", "3+"], 10, Infinity],
    [["4"], 4, 4],
  ])("a search filters by degree %j", async (values, total, hops) => {
    expect((await search({ filter: degree(...values) })).total).toBe(total);
    expect(asked.at(-1)?.hops).toBe(hops);
  });

  test("a degree combines with other criteria, and can be negated", async () => {
    const name = { field: "name", value: "red" };
    const filter = { or: [{ and: [{ field: "degree", values: ["1"] }, name] }] };
    expect(names((await search({ filter })).hits)).toEqual(["d1-1"]);
    const not = { or: [{ and: [{ field: "degree", values: ["1"], negated: true }] }] };
    expect((await search({ filter: not })).total).toBe(10);
    expect(asked.at(-1)?.hops).toBe(Infinity);
    expect((await search({ filter, maxHops: 3 })).total).toBe(1);
    expect(asked.at(-1)?.hops).toBe(1);
    await search({ maxHops: 3 });
    expect(asked.at(-1)?.hops).toBe(3);
  });

  test("a search has the degrees as a facet", async () => {
    const degrees = async (more: Partial<LineageSearchRequest>) => {
      const { facets } = await search(more);
      const [first, ...others] = facets;
      expect(others.map(({ name }) => name)).not.toContain("degree");
      return [
        first?.name,
        first?.displayName,
        first?.values.map(({ value, count }) => [value, count]),
      ];
    };
    expect(await degrees({})).toEqual([
      "degree",
      "Degree of Dependencies",
      [
        ["1", 3],
        ["2", 3],
        ["3+", 7],
      ],
    ]);
    const filter = degree("2");
    expect((await degrees({ filter }))[2]).toEqual([
      ["1", 0],
      ["2", 3],
      ["3+", 0],
    ]);
    expect((await search({ flags: { skipAggregates: true } })).facets).toEqual([]);
  });

  test("facets have DataHub's order for lineage", async () => {
    const corpus = documentsOf({
      [nodes[0]?.urn ?? ""]: {
        domains: { domains: ["urn:li:domain:d"] },
        globalTags: { tags: [{ tag: "urn:li:tag:t" }] },
        glossaryTerms: {
          terms: [{ urn: "urn:li:glossaryTerm:g" }],
          auditStamp: { time: 0, actor: "urn:li:corpuser:a" },
        },
        ownership: { owners: [{ owner: "urn:li:corpuser:a", type: "DATAOWNER" }] },
        container: { container: "urn:li:container:c" },
      },
    });
    const { facets } = await searchesOver(corpus, walk).searchLineage(request(), {
      start: 0,
      count: 1,
    });
    expect(facets.map(({ name }) => name)).toEqual([
      ...["degree", "_entityType", "platform", "domains", "tags", "glossaryTerms", "owners"],
      ...["origin", "container", "_entityType␞typeNames"],
    ]);
  });

  test("at most four searches walk lineage at the same time", async () => {
    let underWay = 0;
    let most = 0;
    const slow = searchesOver(documents, async () => {
      most = Math.max(most, ++underWay);
      await new Promise((done) => setTimeout(done, 1));
      underWay--;
      return { reached: [], partial: false };
    });
    const page = { start: 0, count: 1 };
    const many = Array.from({ length: 10 }, () => slow.searchLineage(request(), page));
    const scrolls = Array.from({ length: 10 }, () => slow.scrollLineage(request(), { count: 1 }));
    await Promise.all([...many, ...scrolls]);
    expect(most).toBe(4);
  });

  test.each([[-5], ["2"], [1.5], [null], [Number.MAX_VALUE], []])(
    "a scroll from a made-up cursor returns the results after it: %j",
    async (...cursor) => {
      const scrollId = writeScrollId(cursor, request());
      const { hits, total } = await searches.scrollLineage(request(), { scrollId, count: 100 });
      expect(total).toBe(13);
      expect(names(hits)).toEqual(names((await search()).hits).slice(total - hits.length));
    },
  );

  test("a search is partial if the walk is", async () => {
    expect((await search()).partial).toBe(false);
    partial = true;
    expect((await search()).partial).toBe(true);
    partial = false;
  });

  test("a search is partial if paths exceed the size of a response", async () => {
    const chain = Array.from({ length: 1_000 }, (_, i) => dataset(`chain-${i}`));
    const chained = documentsOf(Object.fromEntries(chain.map((urn) => [urn, {}])));
    const longest: WalkLineage = async () => {
      const reached: Reached[] = [];
      for (const [i, urn] of chain.slice(1).entries()) {
        const before = reached.at(-1);
        reached.push(reachedFrom(before, urn, i + 1));
      }
      return { reached, partial: false };
    };
    const { searchLineage, scrollLineage } = searchesOver(chained, longest);
    const all = await searchLineage(request(), { start: 0, count: 1_000 });
    expect([all.total, all.partial]).toEqual([999, true]);
    expect(all.hits.some(({ paths }) => paths.length === 0)).toBe(true);
    expect((await searchLineage(request(), { start: 0, count: 100 })).partial).toBe(false);
    expect((await scrollLineage(request(), { count: 1_000 })).partial).toBe(true);
  });

  test("a search walks lineage within a time window", async () => {
    await search({ startTimeMillis: 5, endTimeMillis: 9 });
    expect(asked.at(-1)).toEqual({
      ...{ urn: START, direction: "UPSTREAM", hops: Infinity },
      times: { from: 5, to: 9 },
    });
  });

  test("results are grouped under their parents, each at the degree of its nearest member", async () => {
    const platform = "urn:li:dataPlatform:postgres";
    const flags = (groupingEntityType: string, baseEntityType?: string) => ({
      flags: { groupingSpec: { groupingCriteria: [{ groupingEntityType, baseEntityType }] } },
    });
    const all = await search({ entities: [] });
    const found = await search(flags("dataPlatform", "DATASET"));
    expect(found.hits.map(({ urn, degree }) => [urn, degree])).toEqual([
      [platform, 1],
      [CHART, 4],
    ]);
    expect(found.total).toBe(2);
    // The paths of a group end at its members.
    const members = all.hits.filter(({ urn }) => urn.startsWith("urn:li:dataset:"));
    const paths = members.flatMap((one) => one.paths);
    expect(found.hits[0]?.paths).toEqual(expect.arrayContaining(paths));
    expect((await search({ ...flags("dataPlatform"), entities: ["dataPlatform"] })).total).toBe(1);
    for (const nothing of [flags("dataset", "schemaField"), flags("dashboard"), flags("dataset")]) {
      expect(names((await search(nothing)).hits)).toEqual(names(all.hits));
    }
  });

  test.each<[Partial<LineageSearchRequest>, string]>([
    [{ direction: "SIDEWAYS" }, "malformed"],
    [{ urn: "nonsense" }, "malformed"],
    [{ maxHops: 0 }, "malformed"],
    [{ filter: degree("near") }, "malformed"],
    [
      { filter: { or: [{ and: [{ field: "degree", condition: "CONTAIN", value: "1" }] }] } },
      "malformed",
    ],
    [{ startTimeMillis: 2, endTimeMillis: 1 }, "malformed"],
    [
      { flags: { groupingSpec: { groupingCriteria: [{ groupingEntityType: "ship" }] } } },
      "invalid",
    ],
    [{ entities: ["starship"] }, "invalid"],
  ])("the request %j is rejected", async (more, code) => {
    await expect(search(more)).rejects.toMatchObject({ code });
  });
});
