/**
 * Questions that count nothing, over documents of which many fulfil them: their best hits are found
 * without going through all, and are those of a question that goes through all.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type {
  Condition,
  DocumentText,
  SearchDocument,
  SearchQuery,
  SearchReader,
  SearchSink,
  SearchWrite,
} from "../../src/search/search.ts";
import { openSqliteSearchReader } from "../../src/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/search/sqlite/sqlite-search-sink.ts";
import { completing } from "../support/completing.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteSearchSink,
  openReader: openSqliteSearchReader,
});
const size = 12_000;
const names = [
  "cart",
  "customer",
  "c",
  "order",
  "cu",
  "account cart",
  "ledger",
  "w c order",
  "customer x",
];

let place: Awaited<ReturnType<typeof createPlace>>;
let sink: SearchSink;
let reader: SearchReader;
let last = 0;

/** The same for the same number and turn; urns are in no order of the numbers. */
function documentOf(n: number, turn = 0): SearchDocument {
  const mixed = (Math.imul(n + 1, 2_654_435_761) >>> 0) % 100_003;
  const name = `${names[(mixed + turn) % names.length]} ${mixed % 40 === 0 ? "rare" : mixed % 60}`;
  const entityType = n % 5 === 0 ? "chart" : "dataset";
  const text = (field: string, value: string, boost: number, suggested: boolean): DocumentText => ({
    ...{ field, value, folded: value, words: value.split(" "), boost, suggested },
  });
  return {
    urn: `urn:li:${entityType}:${mixed}-${n}`,
    entityType,
    values: { name: [name], removed: [mixed % 11 === 0], part: [mixed % 3] },
    texts: [
      text("name", name, n % 9 === 0 ? 12 : 10, true),
      text("title", mixed % 4 === 0 ? "cousin" : "other", 10, true),
      text("description", "c customer", 1, false),
    ],
  };
}

async function write(writes: readonly (SearchDocument | string)[]): Promise<void> {
  const placed = writes.map((one): SearchWrite => {
    last++;
    return typeof one === "string"
      ? { op: "remove", position: position(last), urn: one }
      : { op: "put", position: position(last), urn: one.urn, document: one };
  });
  await sink.apply(placed, position(last));
}

beforeAll(async () => {
  place = await createPlace();
  sink = await place.openSink();
  for (let from = 0; from < size; from += 4_000) {
    await write(Array.from({ length: 4_000 }, (_, n) => documentOf(from + n)));
  }
  reader = await place.openReader();
});
afterAll(async () => {
  await reader.close();
  await sink.close();
  await place.remove();
});

const notRemoved: Condition = {
  kind: "not",
  not: { kind: "equal", field: "removed", values: [true] },
};
const conditions: readonly (Condition | undefined)[] = [
  undefined,
  notRemoved,
  { kind: "every", every: [notRemoved, { kind: "equal", field: "part", values: [1] }] },
  { kind: "equal", field: "part", values: [9] },
];

async function expectSame(): Promise<void> {
  for (const typed of [
    "c",
    "cu",
    "o",
    "a",
    "car",
    "cart",
    "cust",
    "custo",
    "customer 1",
    "rare",
    "cart c",
    "w c o",
    "c r",
    "x",
    "l 3",
  ]) {
    for (const [n, condition] of conditions.entries()) {
      for (const entityTypes of [["dataset"], ["chart", "dataset"], ["chart"], ["unheard"]]) {
        const expression = completing(typed);
        const [start, count] = [n === 1 ? 7 : 0, n === 2 ? 150 : 20];
        const asked: SearchQuery = {
          ...{ entityTypes, expression, condition, sort: [], start, count, facets: [] },
        };
        const expected = await reader.search(asked);
        const found = await reader.search({ ...asked, uncounted: true });
        expect(found.hits.map(({ document, score }) => [document.urn, score])).toEqual(
          expected.hits.map(({ document, score }) => [document.urn, score]),
        );
        expect(found.hits).toEqual(expected.hits);
        expect(found.position).toBe(last);
      }
    }
  }
}

describe("the best hits of a question that counts nothing", () => {
  test("are those of one that counts", async () => {
    await expectSame();
  });

  test.each([
    ["c", 5_000],
    ["cust", 2_000],
  ])("are told without going through all that fulfil it: %s", async (typed, least) => {
    const asked: SearchQuery = {
      ...{ entityTypes: ["chart", "dataset"], expression: completing(typed), sort: [] },
      ...{ start: 0, count: 10, facets: [] },
    };
    expect((await reader.search(asked)).total).toBeGreaterThan(least);
    expect((await reader.search({ ...asked, uncounted: true })).total).toBe(10);
  });

  test("follow what is written", async () => {
    const some = Array.from({ length: 3_000 }, (_, n) => n * 4);
    await write(some.map((n) => (n % 3 === 0 ? documentOf(n).urn : documentOf(n, 3))));
    await write(Array.from({ length: 500 }, (_, n) => documentOf(size + n)));
    await expectSame();
  });
});
