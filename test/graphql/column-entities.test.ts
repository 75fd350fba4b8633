/** The entities of columns, in the schema of a dataset and in an earlier version of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";
import { schemaOf } from "./run-mutations.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const FIELDS = "fields { fieldPath schemaFieldEntity { urn parent { urn } } }";

test("the columns of an earlier version of a dataset are entities of that dataset", async () => {
  const urn = dataset("beds");
  await service.client.upsert(urn, "schemaMetadata", schemaOf("id"));
  await service.client.upsert(urn, "schemaMetadata", schemaOf("id", "size"));
  const query = `query($urn: String!) {
    versionedDataset(urn: $urn, versionStamp: "schemaMetadata:1") { schema { createdAt lastObserved ${FIELDS} } } }`;
  const { body } = await ask(service.client, query, { urn });
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  expect(body.data.versionedDataset.schema.createdAt).toBeTypeOf("number");
  expect(body.data.versionedDataset.schema.lastObserved).toBeTypeOf("number");
  const column = { urn: `urn:li:schemaField:(${urn},id)`, parent: { urn } };
  expect(body.data.versionedDataset.schema.fields).toEqual([
    { fieldPath: "id", schemaFieldEntity: column },
  ]);
});

test.each([
  ["a control character", "a\nb"],
  ["an unpaired surrogate", "\ud800"],
  ["more characters than a urn", "x".repeat(3_000)],
])("a column with %s in its path is no entity", async (_, path) => {
  const urn = dataset("rows");
  await service.client.upsert(urn, "schemaMetadata", schemaOf("id", path));
  const query = `query($urn: String!) { dataset(urn: $urn) { schema { ${FIELDS} } } }`;
  const { body } = await ask(service.client, query, { urn });
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  expect(body.data.dataset.schema.fields).toEqual([
    { fieldPath: "id", schemaFieldEntity: expect.objectContaining({ parent: { urn } }) },
    { fieldPath: path, schemaFieldEntity: null },
  ]);
});
