/** /entitiesVersionedV2: each aspect in the requested version. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
const urn = "urn:li:dataset:(urn:li:dataPlatform:s3,versioned (odd , name),PROD)";
const described = (description: string) => ({ description });

beforeAll(async () => {
  service = await runningService();
  for (const text of ["one", "two", "three"]) {
    await service.client.upsert(urn, "editableDatasetProperties", described(text));
  }
  await service.client.upsert(urn, "status", { removed: false });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const read = (ids: readonly string[], more = "&entityType=dataset", headers = {}) =>
  service.client.call(
    "GET",
    `/entitiesVersionedV2?ids=List(${ids.map(encoded).join(",")})${more}`,
    undefined,
    { "X-RestLi-Protocol-Version": "2.0.0", ...headers },
  );
const idOf = (stamp: string) => `(${urn} , ${stamp})`;

test.each([
  ["editableDatasetProperties:1", 1, "one"],
  ["status:1;editableDatasetProperties:2", 2, "two"],
  ["editableDatasetProperties:0", 0, "three"],
  ["", 0, "three"],
])("the stamp %j returns version %d", async (stamp, version, description) => {
  const { status, body } = await read([idOf(stamp)]);
  expect(status, JSON.stringify(body)).toBe(200);
  const entity = body.results[idOf(stamp)];
  expect(entity).toMatchObject({ urn, entityName: "dataset" });
  expect(entity.aspects.editableDatasetProperties).toMatchObject({
    ...{ name: "editableDatasetProperties", type: "VERSIONED", version },
    value: { description },
    created: { actor: expect.any(String), time: expect.any(Number) },
  });
  expect(entity.aspects.status.value).toEqual({ removed: false });
  expect(entity.aspects.datasetKey.value.name).toBe("versioned (odd , name)");
});

test("one entity is read in several versions, with a selection of its aspects", async () => {
  const ids = [idOf("editableDatasetProperties:1"), idOf("editableDatasetProperties:2")];
  const { body } = await read(ids, "&entityType=dataset&aspects=List(editableDatasetProperties)");
  expect(Object.keys(body.results)).toEqual(ids);
  for (const [i, id] of ids.entries()) {
    const { aspects } = body.results[id];
    expect(Object.keys(aspects).sort()).toEqual(["datasetKey", "editableDatasetProperties"]);
    expect(aspects.editableDatasetProperties.version).toBe(i + 1);
  }
  const without = await read([ids[0] ?? ""], "&entityType=dataset&aspects=List(status)");
  expect(Object.keys(without.body.results[ids[0] ?? ""].aspects).sort()).toEqual([
    "datasetKey",
    "status",
  ]);
});

test("an unknown version is omitted", async () => {
  const id = idOf("editableDatasetProperties:9");
  const { status, body } = await read([id]);
  expect(status).toBe(200);
  expect(body.results[id].aspects).not.toHaveProperty("editableDatasetProperties");
});

test.each([
  ["no id", [urn], "&entityType=dataset", 400],
  ["an invalid stamp", [idOf("status")], "&entityType=dataset", 400],
  ["another entity type", [idOf("")], "&entityType=tag", 400],
  ["no entity type", [idOf("")], "", 400],
  ["an unknown type", ["(urn:li:starship:x , )"], "&entityType=starship", 404],
])("a request with %s is rejected", async (_, ids, more, status) => {
  expect((await read(ids, more)).status).toBe(status);
});
