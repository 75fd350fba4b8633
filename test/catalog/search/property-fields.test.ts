/**
 * Fields of structured properties: days compare with any value as times, and a definition that the
 * caller may not read is not revealed.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldText, tokensOf } from "../../../projections/search/words.ts";
import { createSearches } from "../../../src/catalog/search/create-search.ts";
import type { PropertyDefinitions } from "../../../src/catalog/search/filter/property-definitions.ts";
import type { SearchRequest } from "../../../src/catalog/search/requests.ts";
import type { FieldValue } from "../../../src/views/search/search.ts";
import { rules } from "../../projections/search-state.ts";
import { dataset, readerOf } from "./search-corpus.ts";

const FIELD = "structuredProperties.io.p";
const page = { start: 0, count: 1_000 };

function documentOf(value: FieldValue, i: number) {
  const urn = dataset(`d${i}`);
  const values = { urn: [urn], _entityType: ["dataset"], [FIELD]: [value] };
  return { urn, entityType: "dataset", values, texts: [] };
}

interface Asking {
  readonly type: string;
  readonly values: readonly FieldValue[];
  readonly seen?: boolean;
  /** Urns that were looked up. */
  readonly asked?: string[];
}

function searchesOn({ type, values, seen = true, asked = [] }: Asking) {
  const definitions: PropertyDefinitions = async (urns) => {
    asked.push(...urns);
    return urns.map((urn) =>
      urn.endsWith(":io.p") ? { type, version: undefined, visible: seen } : undefined,
    );
  };
  const searches = createSearches({
    reader: readerOf(values.map(documentOf)),
    rules,
    words: { tokensOf, foldText },
    walk: async () => ({ reached: [], partial: false }),
    namespace: "li",
    linkedUrn: async (urn) => urn,
    caughtUp: async () => undefined,
    definitions,
  });
  return async (request: SearchRequest): Promise<readonly (FieldValue | undefined)[]> => {
    const { hits } = await searches.search({ entities: ["dataset"], ...request }, page);
    return hits.map(({ urn }) => values[values.findIndex((_, i) => dataset(`d${i}`) === urn)]);
  };
}

const filtered = (condition: string, value: string): SearchRequest => ({
  filter: { or: [{ and: [{ field: FIELD, condition, value }] }] },
});

const dayMs = 24 * 60 * 60 * 1000;
const day = fc
  .integer({ min: Date.UTC(1000, 0, 1) / dayMs, max: Date.UTC(9999, 11, 31) / dayMs })
  .map((number) => new Date(number * dayMs).toISOString().slice(0, 10));

test("a day compares with a time as its midnight", async () => {
  const time = fc.tuple(day, fc.constantFrom(0, 1, dayMs / 2, dayMs - 1));
  await fc.assert(
    fc.asyncProperty(fc.array(day, { minLength: 1 }), time, async (days, [near, later]) => {
      const find = searchesOn({ type: "date", values: days });
      const millis = Date.parse(near) + later;
      const holds: Readonly<Record<string, (one: number) => boolean>> = {
        EQUAL: (one) => one === millis,
        GREATER_THAN: (one) => one > millis,
        GREATER_THAN_OR_EQUAL_TO: (one) => one >= millis,
        LESS_THAN: (one) => one < millis,
        LESS_THAN_OR_EQUAL_TO: (one) => one <= millis,
      };
      for (const [condition, test] of Object.entries(holds)) {
        const expected = days.filter((one) => test(Date.parse(one))).sort();
        const asTime = new Date(millis).toISOString();
        for (const value of [String(millis), asTime]) {
          const found = await find(filtered(condition, value));
          expect([...found].sort(), `${condition} ${value}`).toEqual(expected);
        }
      }
    }),
    { numRuns: 50 },
  );
});

describe("a definition that the caller may not read", () => {
  const unseen = { type: "number", values: [3, 20], seen: false };

  test("a hidden definition still determines how values compare", async () => {
    expect(await searchesOn(unseen)(filtered("GREATER_THAN", "9"))).toEqual([20]);
    const days = searchesOn({ ...unseen, type: "date", values: ["2026-03-01", "2026-03-02"] });
    const first = String(Date.UTC(2026, 2, 1));
    expect(await days(filtered("GREATER_THAN", first))).toEqual(["2026-03-02"]);
  });

  test("a hidden definition is not revealed by an error or by the parsing of a query", async () => {
    const find = searchesOn(unseen);
    const seen = searchesOn({ ...unseen, seen: true });
    for (const condition of ["EQUAL", "GREATER_THAN", "IEQUAL"]) {
      expect(await find(filtered(condition, "many"))).toEqual([]);
      await expect(seen(filtered(condition, "many"))).rejects.toMatchObject({ code: "malformed" });
    }
    expect(await find({ input: `${FIELD}:many` })).toEqual([]);
  });
});

test("definitions are looked up only for requests that name their properties", async () => {
  const asked: string[] = [];
  const find = searchesOn({ type: "number", values: [1], asked });
  await find({ input: "name:p tags:x", sort: [{ field: "urn", order: "ASCENDING" }] });
  await find({ filter: { or: [{ and: [{ field: "structuredProperties", value: "io.p" }] }] } });
  expect(asked).toEqual([]);
  await find({ input: `${FIELD}:1 OR ${FIELD}:2`, sort: [{ field: FIELD, order: "ASCENDING" }] });
  expect(asked).toEqual(["urn:li:structuredProperty:io.p"]);
});

test("a malformed filter is rejected", async () => {
  const find = searchesOn({ type: "number", values: [1] });
  for (const filter of ["x", { or: [null] }, { or: [{ and: [7] }] }, { and: [{ field: FIELD }] }]) {
    const request = { input: `${FIELD}:1`, filter } as SearchRequest;
    await expect(find(request)).rejects.toMatchObject({ code: "malformed" });
  }
});
