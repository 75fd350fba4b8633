/** Suggestions of searches without hits. */
import { expect, test } from "vitest";
import { tokensOf } from "../../../projections/search/words.ts";
import type { SearchFlags } from "../../../src/catalog/search/requests.ts";
import { planSuggestions } from "../../../src/catalog/search/suggest/suggestions.ts";
import { CatalogError } from "../../../src/core/errors.ts";
import { dataset, documentsOf, searchesOver } from "./search-corpus.ts";

const ORDERS = dataset("shop.orders");
const documents = documentsOf({
  [ORDERS]: { datasetProperties: { name: "daily_orders", description: "Orders of customers" } },
  [dataset("shop.returns")]: {
    datasetProperties: { name: "Returned orders", description: "dailyTotals by müller" },
  },
  [dataset("old.ordars")]: {
    datasetProperties: { name: "ordars" },
    status: { removed: true },
  },
  "urn:li:tag:ordurs": { tagProperties: { name: "ordurs" } },
});
const searches = searchesOver(documents);

const search = (input: string, flags: SearchFlags = { getSuggestions: true }) =>
  searches.search({ entities: ["dataset"], input, flags }, { start: 0, count: 10 });
const suggested = async (input: string, flags?: SearchFlags) =>
  (await search(input, flags)).suggestions;
const texts = async (input: string) => (await suggested(input))?.map(({ text }) => text);

test("a search without hits suggests a query that has hits", async () => {
  expect(await suggested("ordrs")).toEqual([{ text: "orders", score: 0.8, frequency: 2 }]);
});

test("a search has no suggestions without the flag, with hits, or where no word is near", async () => {
  expect(await suggested("ordrs", {})).toBeUndefined();
  expect(await suggested("ordrs", { getSuggestions: false })).toBeUndefined();
  expect(await suggested("orders")).toEqual([]);
  expect(await suggested("unheard")).toEqual([]);
  expect(await suggested("*")).toEqual([]);
  expect(await suggested("")).toEqual([]);
});

test("a suggestion keeps the rest of the query unchanged", async () => {
  expect(await texts("Daily_Ordrs")).toEqual(["Daily_orders"]);
  expect(await texts('"daily ordrs" AND (custmers OR x)')).toEqual([
    '"daily orders" AND (customers OR x)',
  ]);
  expect(await texts("name:daily_ordrs")).toEqual(["name:daily_orders"]);
  expect(await texts("dailyTotls")).toEqual(["dailytotals"]);
  expect(await texts("mullar ORDERS")).toEqual(["muller ORDERS"]);
  expect(await texts("custmers custmers")).toEqual(["customers customers"]);
});

test("a query without hits is not suggested", async () => {
  expect(await texts("custmers")).toEqual(["customers"]);
  expect(await texts("custmers returned")).toEqual([]);
});

test("near words are those of the entities that the search finds", async () => {
  expect(await texts("ordras")).toEqual([]);
  expect(await suggested("ordras", { getSuggestions: true, includeSoftDeleted: true })).toEqual([
    { text: "ordars", score: 1 - 1 / 6, frequency: 1 },
  ]);
});

test("a long query has no suggestions, and of many words the first five are looked up", async () => {
  expect(await texts(`ordrs${" ".repeat(95)}`)).toEqual([`orders${" ".repeat(95)}`]);
  expect(await texts(`ordrs${" ".repeat(96)}`)).toEqual([]);
  expect(await texts("daily orders of shop custmers")).toEqual(["daily orders of shop customers"]);
  expect(await texts("daily orders of shop postgres custmers")).toEqual([]);
  expect(await search("daily orders of shop postgres customers")).toMatchObject({ total: 1 });
});

test("a suggestion beyond a limit ends the suggestions, another error fails the search", async () => {
  const near = ["orders", "ordars", "ordurs"].map((word) => ({ word, distance: 1, documents: 1 }));
  const plan = planSuggestions("ordrs", { tokensOf });
  const read = (error: Error) =>
    plan.read([near], async (input) => {
      if (input === "ordars") throw error;
      return 1;
    });
  for (const code of ["too_large", "malformed"] as const) {
    const suggestions = await read(new CatalogError(code, "beyond a limit"));
    expect(suggestions.map(({ text }) => text)).toEqual(["orders"]);
  }
  await expect(read(new CatalogError("unavailable", "closed"))).rejects.toThrow("closed");
});
