/**
 * Values that follow from a large current value, or from a large patch, are computed by another thread.
 * Their results equal those of small values.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({});
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const urnOf = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const manyProperties = Object.fromEntries(
  Array.from({ length: 40_000 }, (_, n) => [`property_${n}`, `value ${n}`]),
);
const write = (name: string) =>
  service.client.upsert(urnOf(name), "datasetProperties", {
    name,
    customProperties: manyProperties,
  });
const patchOf = (name: string, patch: readonly object[]) => ({
  ...proposal(urnOf(name), "datasetProperties", patch),
  changeType: "PATCH",
});
const patch = (name: string, ...operations: readonly object[]) =>
  service.client.call("POST", "/aspects?action=ingestProposal", {
    proposal: patchOf(name, operations),
  });
async function stored(name: string) {
  const { body } = await service.client.get(
    `/aspects/${encoded(urnOf(name))}?aspect=datasetProperties`,
  );
  return body.aspect["com.linkedin.dataset.DatasetProperties"];
}
const add = (path: string, value: unknown) => ({ op: "add", path, value });

describe("a patch of a large value", () => {
  beforeAll(() => write("wide"));

  test("changes the patched members and keeps the rest", async () => {
    const answered = await patch(
      "wide",
      add("/customProperties/added", "yes"),
      add("/description", "described"),
    );
    expect([answered.status, answered.body]).toEqual([200, { value: "success" }]);
    expect(await stored("wide")).toEqual({
      name: "wide",
      description: "described",
      customProperties: { ...manyProperties, added: "yes" },
      tags: [],
    });
  });

  test.each([
    [add("/name", { not: "a text" }), 422, "Failed to validate record"],
    [add("/nope", 1), 422, 'has no field "nope"'],
    [{ op: "test", path: "/name", value: "another" }, undefined, undefined],
  ])(
    "that cannot be applied is rejected and changes nothing: %j",
    async (operation, status, says) => {
      const before = await stored("wide");
      const rejected = await patch("wide", operation);
      const small = await patch("small", operation);
      expect(rejected.status).toBe(status ?? small.status);
      if (says !== undefined) expect(rejected.body.message).toContain(says);
      expect(await stored("wide")).toEqual(before);
    },
  );

  test("that fails is named by its index in the batch", async () => {
    const rejected = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: [
        proposal(urnOf("wide"), "status", { removed: false }),
        patchOf("wide", [add("/name", { not: "a text" })]),
      ],
    });
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toMatch(/^proposals\[1\]: Failed to validate record/);
  });

  test("each patch of a batch applies to the result of the one before it", async () => {
    const answered = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: [
        patchOf("wide", [add("/customProperties/first", "1")]),
        patchOf("wide", [
          { op: "remove", path: "/customProperties/first" },
          add("/customProperties/second", "2"),
        ]),
      ],
    });
    expect(answered.status).toBe(200);
    const { customProperties } = await stored("wide");
    expect([customProperties.first, customProperties.second]).toEqual([undefined, "2"]);
  });

  test("concurrent patches are all in the result", async () => {
    const names = Array.from({ length: 8 }, (_, n) => `concurrent_${n}`);
    const answered = await Promise.all(
      names.map((name) => patch("wide", add(`/customProperties/${name}`, name))),
    );
    expect(answered.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { customProperties } = await stored("wide");
    expect(names.map((name) => customProperties[name])).toEqual(names);
  });

  test("and a concurrent write of another value are both applied, in either order", async () => {
    await write("replaced");
    const [patched, replaced] = await Promise.all([
      patch("replaced", add("/customProperties/added", "yes")),
      service.client.upsert(urnOf("replaced"), "datasetProperties", { name: "replaced" }),
    ]);
    expect([patched.status, replaced.status]).toEqual([200, 200]);
    const { customProperties } = await stored("replaced");
    const either = [{}, { added: "yes" }, undefined];
    expect(either).toContainEqual(customProperties);
  });
});

describe("a patch over 1 MiB", () => {
  const manyOperations = Array.from({ length: 15_000 }, (_, n) =>
    add(`/customProperties/property_with_a_long_name_${n}`, `value with a long text ${n}`),
  );

  test("is applied completely", async () => {
    const answered = await patch("patched", add("/name", "patched"), ...manyOperations);
    expect([answered.status, answered.body]).toEqual([200, { value: "success" }]);
    const { name, customProperties } = await stored("patched");
    expect([name, Object.keys(customProperties).length]).toEqual(["patched", 15_000]);
    expect(customProperties.property_with_a_long_name_14999).toBe("value with a long text 14999");
  });

  test("that fails at its last operation changes nothing", async () => {
    await service.client.upsert(urnOf("kept"), "datasetProperties", { name: "kept" });
    const before = await stored("kept");
    const rejected = await patch("kept", ...manyOperations, add("/name", { not: "a text" }));
    expect(rejected.status).toBe(422);
    expect(await stored("kept")).toEqual(before);
  });
});

test("a read of several entities whose values are too large for a response is rejected", async () => {
  const description = "x".repeat(15_000_000);
  const names = Array.from({ length: 9 }, (_, n) => `large${n}`);
  for (const name of names) {
    const { status } = await service.client.upsert(urnOf(name), "datasetProperties", {
      description,
    });
    expect(status).toBe(200);
  }
  const urns = names.map((name) => encoded(urnOf(name)));
  for (const path of [
    `/entitiesV2?ids=List(${urns.join(",")})`,
    `/entities?ids=List(${urns.join(",")})`,
  ]) {
    expect(await service.client.get(path)).toMatchObject({
      status: 413,
      body: { code: "too_large", message: expect.stringContaining("the aspects of 9 entities") },
    });
  }
  expect((await service.client.get(`/entitiesV2?ids=List(${urns[0]})`)).status).toBe(200);
});
