/** Searches over HTTP: wide tables, backslashes, alternatives and empty sets. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const COLUMNS = 12_000;

async function find(input: string, filter?: object): Promise<readonly string[]> {
  const body = { input, entity: "dataset", start: 0, count: 10, ...(filter && { filter }) };
  const { status, body: answer } = await service.client.call(
    "POST",
    "/entities?action=search",
    body,
  );
  expect(status).toBe(200);
  return answer.value.entities;
}

async function write(name: string, aspect: string, value: unknown): Promise<void> {
  const { status, position } = await service.client.upsert(dataset(name), aspect, value);
  expect(status).toBe(200);
  const shown = await service.client.call(
    "POST",
    "/entities?action=search",
    { input: "*", entity: "dataset", start: 0, count: 0 },
    { "X-Annals-Min-Position": String(position) },
  );
  expect(shown.status).toBe(200);
}

test("every one of 12,000 columns finds its table, by name and by description", async () => {
  await write("wide", "schemaMetadata", {
    ...{ schemaName: "t", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
    platformSchema: { "com.linkedin.schema.MySqlDDL": { tableSchema: "" } },
    fields: Array.from({ length: COLUMNS }, (_, n) => ({
      ...{ fieldPath: `gauge_${n}_height`, nativeDataType: "int", nullable: false },
      description: `height of the water at station${n}`,
      type: { type: { "com.linkedin.schema.NumberType": {} } },
    })),
  });
  for (const n of [1_000, COLUMNS - 1]) {
    for (const input of [`gauge_${n}_height`, `station${n}`, `fieldPaths:gauge_${n}_height`]) {
      expect(await find(input), input).toEqual([dataset("wide")]);
    }
    const criterion = { field: "fieldPaths", condition: "EQUAL", values: [`gauge_${n}_height`] };
    expect(await find("*", { or: [{ and: [criterion] }] })).toEqual([dataset("wide")]);
  }
});

test("a query with backslashes finds the name that contains them", async () => {
  const names = { mill: "MILL\\mara", bags: "C:\\flour\\bags" };
  for (const [id, name] of Object.entries(names)) {
    await write(id, "datasetProperties", { name, customProperties: {} });
  }
  for (const input of ["MILL\\mara", '"MILL\\mara"', "name:MILL\\mara", "mara"]) {
    expect(await find(input), input).toEqual([dataset("mill")]);
  }
  for (const input of ["C:\\flour\\bags", "name:C:\\flour\\bags", "C\\:\\\\flour\\\\bags"]) {
    expect(await find(input), input).toEqual([dataset("bags")]);
  }
});

test("a vertical bar joins alternatives, and IN without values matches nothing", async () => {
  const names = { a: "rye dark", b: "rye light", c: "rye", d: "oats light" };
  for (const [id, name] of Object.entries(names)) {
    await write(id, "datasetProperties", { name, customProperties: {} });
  }
  const sorted = async (input: string, filter?: object) => (await find(input, filter)).toSorted();
  const urns = (...ids: readonly string[]) => ids.map(dataset).toSorted();
  expect(await sorted("dark | light")).toEqual(urns("a", "b", "d"));
  expect(await sorted("rye + (-dark | light)")).toEqual(urns("b", "c"));
  const none = { or: [{ and: [{ field: "platform", condition: "IN", values: [] }] }] };
  expect(await sorted("rye", none)).toEqual([]);
});
