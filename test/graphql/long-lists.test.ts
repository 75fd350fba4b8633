/**
 * Lists of thousands of items are answered completely and do not block other work. Longer ones wait
 * for each other, and the longest are rejected: they would take gigabytes.
 */
import { buildSchema, execute, parse } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLongLists, inPieces } from "../../src/graphql/long-lists.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const entriesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ key: `k${n}`, value: `${n}` }));

/** Writes a dataset with so many properties, and returns the query for them. */
async function queryOf(count: number): Promise<string> {
  const dataset = `urn:li:dataset:(urn:li:dataPlatform:hive,wide_${count},PROD)`;
  const customProperties = Object.fromEntries(
    entriesOf(count).map(({ key, value }) => [key, value]),
  );
  await service.client.upsert(dataset, "datasetProperties", { customProperties });
  return `{ dataset(urn: "${dataset}") { properties { customProperties { key value } } } }`;
}

const answerOf = (count: number) => ({
  data: { dataset: { properties: { customProperties: entriesOf(count) } } },
  extensions: {},
});

test("other work runs between the pieces of a long list", async () => {
  const items = Array.from({ length: 12_500 }, (_, n) => ({ n }));
  let pieces = 0;
  const count = () => {
    pieces++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const result = await execute({
    schema: buildSchema("type Query { items: [Item!] } type Item { n: Int! }"),
    document: parse("{ items { n } }"),
    rootValue: { items: inPieces(items) },
  });
  clearImmediate(counting);
  expect(result).toEqual({ data: { items } });
  expect(pieces).toBeGreaterThanOrEqual(12);
});

test("thousands of properties of a dataset are answered in their order", async () => {
  const { body } = await ask(service.client, await queryOf(3_500));
  expect(body).toEqual(answerOf(3_500));
});

test("requests with longer lists are answered one after the other", async () => {
  const query = await queryOf(12_000);
  const answers = await Promise.all([1, 2, 3].map(() => ask(service.client, query)));
  for (const { body } of answers) expect(body).toEqual(answerOf(12_000));
});

test("a request with longer lists asks for a slot, and the lists of a request count together", async () => {
  let acquired = 0;
  const lists = createLongLists(async () => {
    acquired++;
  });
  await lists.admit(6_000);
  expect(acquired).toBe(0);
  await lists.admit(6_000);
  expect(acquired).toBe(1);
  await expect(lists.admit(90_000)).rejects.toThrow("have 102000 items");
});

test("a query for more items than a response may have is rejected", async () => {
  const { body } = await ask(service.client, await queryOf(100_001));
  expect(body).toMatchObject({
    data: { dataset: { properties: { customProperties: null } } },
    errors: [
      {
        message: expect.stringContaining(
          "the lists of the query have 100001 items; at most 100000 are allowed",
        ),
        extensions: { code: 400 },
      },
    ],
  });
  // A rejected request has released its slot.
  const next = await ask(service.client, await queryOf(12_000));
  expect(next.body).toEqual(answerOf(12_000));
});
