/** Lists of thousands of items are answered completely, and do not block other work. */
import { buildSchema, execute, parse } from "graphql";
import { expect, test } from "vitest";
import { resolveField } from "../../src/graphql/long-lists.ts";
import { runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

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
    rootValue: { items },
    fieldResolver: resolveField,
  });
  clearImmediate(counting);
  expect(result).toEqual({ data: { items } });
  expect(pieces).toBeGreaterThanOrEqual(12);
});

test("thousands of properties of a dataset are answered in their order", async () => {
  await using service = await runningService();
  const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,wide,PROD)";
  const expected = Array.from({ length: 3_500 }, (_, n) => ({ key: `k${n}`, value: `${n}` }));
  const customProperties = Object.fromEntries(expected.map(({ key, value }) => [key, value]));
  await service.client.upsert(dataset, "datasetProperties", { customProperties });
  const query = `{ dataset(urn: "${dataset}") { properties { customProperties { key value } } } }`;
  const { body } = await ask(service.client, query);
  expect(body).toEqual({
    data: { dataset: { properties: { customProperties: expected } } },
    extensions: {},
  });
});
