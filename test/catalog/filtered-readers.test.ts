/** Readers behind an access filter return only visible documents, also for documents read by urn. */
import { expect, test } from "vitest";
import type { AccessFilter } from "../../src/catalog/access/access-filter.ts";
import {
  filteredReaders,
  perhapsMax,
  type ReadPorts,
} from "../../src/catalog/access/filtered-readers.ts";
import { unknownEntity } from "../../src/core/entity-state.ts";
import { START } from "../../src/core/position.ts";
import { batching } from "../../src/storage/batching.ts";
import type { NeighboursQuery } from "../../src/views/graph/graph.ts";
import type { SearchQuery } from "../../src/views/search/search.ts";
import { documentOf } from "../projections/search-state.ts";
import { readerOf } from "./search/search-corpus.ts";

const [open, perhaps, hidden] = ["open", "perhaps", "hidden"].map((id) => `urn:li:tag:${id}`) as [
  string,
  string,
  string,
];
const of = (urn: string) => ({ kind: "equal", field: "urn", values: [urn] }) as const;
const unused = (): never => {
  throw new Error("nothing else is asked");
};
const filter: AccessFilter = {
  everything: false,
  condition: of(open),
  toCheck: { kind: "any", any: [of(perhaps), of(hidden)] },
  isVisible: ({ urn }) => urn !== hidden,
  alwaysVisible: () => false,
};
const ports: ReadPorts = {
  states: {
    read: async (urns) => urns.map(unknownEntity),
    peek: unused,
    positionOf: unused,
  },
  aspects: {
    ...{ findValue: unused, listUrns: unused, urnsAfter: unused },
    ...{ countEntities: unused, countAspect: unused },
  },
  timeseries: { list: unused },
  graph: { neighbours: unused, follow: unused, stamps: unused },
  search: readerOf([open, perhaps, hidden].map((urn) => documentOf(urn))),
};

test("documents and counts respect the condition and the per-entity check of the access filter", async () => {
  const { search, aspects } = filteredReaders(ports, async () => filter);
  const found = await search.documents([hidden, perhaps, open, "urn:li:tag:none"]);
  expect(found.map((document) => document?.urn)).toEqual([undefined, perhaps, open, undefined]);
  const listed = await aspects.listUrns("tag", { start: 0, count: 10 });
  expect(listed).toEqual({ urns: [open, perhaps], total: 2 });
  expect(await aspects.urnsAfter("tag", "", 10)).toEqual([open, perhaps]);
  expect(await aspects.urnsAfter("tag", "", 1)).toEqual([open]);
  expect(await aspects.urnsAfter("tag", open, 1)).toEqual([perhaps]);
  expect(await aspects.urnsAfter("tag", perhaps, 1)).toEqual([]);
});

test("a caller who sees everything is not checked further", async () => {
  const everything = filteredReaders(ports, async () => ({ ...filter, everything: true }));
  const found = await everything.search.documents([hidden]);
  expect(found.map((document) => document?.urn)).toEqual([hidden]);
});

test("near words come from visible documents, and are omitted if entities are checked one by one", async () => {
  const named = (urn: string, name: string) => ({
    ...documentOf(urn),
    texts: [{ field: "name", value: name, folded: name, words: [name], boost: 1, suggested: true }],
  });
  const reader = readerOf([
    named(open, "orders"),
    named(perhaps, "ordirs"),
    named(hidden, "ordars"),
  ]);
  const query: SearchQuery = {
    entityTypes: ["tag"],
    expression: { kind: "word", any: [{ word: "ordrs", prefix: false, weight: 1 }] },
    nearWordsOf: ["ordrs"],
    ...{ sort: [], start: 0, count: 0, facets: [] },
  };
  const nearFor = async (look: AccessFilter) =>
    (await filteredReaders({ ...ports, search: reader }, () => look).search.search(query))
      .nearWords;
  expect(await nearFor({ ...filter, toCheck: undefined })).toEqual([
    [{ word: "orders", distance: 1, documents: 1 }],
  ]);
  expect(await nearFor({ ...filter, toCheck: undefined, condition: of(hidden) })).toEqual([
    [{ word: "ordars", distance: 1, documents: 1 }],
  ]);
  expect(await nearFor(filter)).toBeUndefined();
  expect(await nearFor({ ...filter, toCheck: undefined, everything: true })).toHaveLength(1);
});

test("a per-entity check covers every entity of a long list", async () => {
  const urns = Array.from({ length: 2_500 }, (_, number) => `urn:li:tag:t${number}`);
  const sees = (urn: string) => Number(urn.slice("urn:li:tag:t".length)) % 2 === 0;
  const halved: AccessFilter = {
    ...filter,
    toCheck: { kind: "exists", field: "urn" },
    isVisible: ({ urn }) => sees(urn),
  };
  const reader = readerOf(urns.map((urn) => documentOf(urn)));
  const { aspects, search } = filteredReaders({ ...ports, search: reader }, () => halved);
  const listed = await aspects.listUrns("tag", { start: 0, count: 10_000 });
  expect(listed.urns).toEqual(urns.filter(sees).sort());
  expect(listed.total).toBe(1_250);
  const found = await search.documents(urns);
  expect(found.filter((one) => one !== undefined)).toHaveLength(1_250);
});

test("a search that would check too many entities is rejected, not truncated", async () => {
  const document = documentOf("urn:li:tag:t");
  let asked = 0;
  const endless: ReadPorts["search"] = {
    ...readerOf([]),
    async search({ count }) {
      asked += count;
      const hit = { document, score: 1, cursor: [asked] };
      return { hits: Array(count).fill(hit), total: count, facets: [], position: START };
    },
  };
  const { aspects } = filteredReaders({ ...ports, search: endless }, () => filter);
  const listing = aspects.listUrns("tag", { start: 0, count: 10 });
  await expect(listing).rejects.toThrow("the visibility of more than 100000 entities");
  expect(asked).toBe(perhapsMax);
});

test("neighbours of many entities show what single reads show, also of hubs", async () => {
  const COUNT = 200;
  const HUB = 2_500;
  const dataset = (n: number) => `urn:li:dataset:${n}`;
  const tag = (n: number) => `urn:li:tag:${n}`;
  const queries: number[] = [];
  /** Dataset 0 is a hub, the others have three tags each. */
  const read = async ({ urn, start, count }: NeighboursQuery) => {
    const total = urn === dataset(0) ? HUB : 3;
    const all = Array.from({ length: total }, (_, n) => ({ type: "TaggedWith", urn: tag(n) }));
    return { neighbours: all.slice(start, start + count), total };
  };
  const neighbours = batching(async (asked: readonly NeighboursQuery[]) => {
    queries.push(asked.length);
    return Promise.all(asked.map(read));
  });
  /** Every second dataset and every third tag are hidden. */
  const isVisible = ({ urn }: { readonly urn: string }) => {
    const n = Number(urn.split(":").at(-1));
    return urn.includes("dataset") ? n % 2 === 0 : n % 3 !== 0;
  };
  const graphOf = (graph: ReadPorts["graph"]) =>
    filteredReaders({ ...ports, graph }, async () => ({ ...filter, isVisible })).graph;
  const asked = Array.from(
    { length: COUNT },
    (_, n): NeighboursQuery => ({
      ...{ urn: dataset(n), direction: "OUTGOING", types: ["TaggedWith"], start: 1, count: 2_000 },
    }),
  );
  const together = graphOf({ ...ports.graph, neighbours });
  const found = await Promise.all(asked.map((query) => together.neighbours(query)));
  // One request for all, and one for the rest of the hub.
  expect(queries).toEqual([COUNT / 2, 1]);
  const alone = graphOf({ ...ports.graph, neighbours: read });
  const expected = [];
  for (const query of asked) expected.push(await alone.neighbours(query));
  expect(found).toEqual(expected);
  expect(found.map(({ total }) => total).slice(0, 3)).toEqual([1_666, 0, 2]);
  expect(found[0]?.neighbours).toHaveLength(1_665);
});
