/** Poison in the log of a running service: parked, listed, retried, dropped, over HTTP. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded } from "../support/client.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const sick = "urn:li:tag:sick";
const well = "urn:li:tag:well";
const views = ["aspects", "timeseries", "graph", "search"];

let service: RunningService;
let operator: Operator;

const write = (urn: string, name: string) => service.client.upsert(urn, "tagProperties", { name });

const nameOf = async (urn: string) => {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  return body.aspects.tagProperties?.value.name;
};

/** Something that no release ever wrote, in the stream of an entity; then the service runs again. */
async function poison(urn: string): Promise<void> {
  const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
  const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
  await log.append([{ stream: entityStream(urn), expected: "any", records }]);
  await log.close();
}

beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  for (const urn of [sick, well]) expect((await write(urn, "first")).status).toBe(200);
});

afterAll(() => service[Symbol.asyncDispose]());

test("a record that no view can read stops nothing but its entity", async () => {
  operator = operatorOf(service);
  await service.restart(() => poison(sick));
  expect((await write(well, "second")).status).toBe(200);
  expect(await nameOf(well)).toBe("second");
  expect(await nameOf(sick)).toBe("first");
  await expect.poll(async () => (await operator.value("listParked")).total).toBe(views.length);
  const { parked } = await operator.value("listParked", { view: "graph" });
  expect(parked).toEqual([
    {
      ...{ view: "graph", urn: sick, position: expect.any(Number), time: expect.any(Number) },
      reason: expect.stringContaining(`position ${parked[0].position}`),
      waiting: 0,
    },
  ]);
  expect((await service.client.get("/health")).status).toBe(200);
  const metrics = await service.client.get("/metrics");
  expect(metrics.body).toContain('annals_view_parked_entities{view="search"} 1');
});

test("it does not stop restoring", async () => {
  for (const asked of [{ urn: sick }, { urnLike: "urn:li:tag:%", batchSize: 100 }]) {
    const restored = await operator.act("restoreIndices", asked);
    expect(restored).toMatchObject({ status: 200 });
  }
  expect(await nameOf(well)).toBe("second");
  expect((await operator.value("listParked")).total).toBe(views.length);
});

test("its entity is refused, with the way out, until it is dropped", async () => {
  const refused = await write(sick, "second");
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain("parked in the aspect view");
  // A urn of any namespace is one of the catalog's own.
  const foreign = sick.replace("urn:li:", "urn:other:");
  const still = await operator.value("retryParked", { view: "aspects", urn: foreign });
  expect(still).toEqual({ parked: true, entity: expect.objectContaining({ view: "aspects" }) });
  for (const view of views) {
    expect(await operator.value("dropParked", { view, urn: sick })).toEqual({ parked: false });
  }
  expect(await operator.value("listParked")).toMatchObject({ total: 0, parked: [] });
  expect((await write(sick, "third")).status).toBe(200);
  expect(await nameOf(sick)).toBe("third");
  await service.restart();
  expect(await nameOf(sick)).toBe("third");
  expect((await write(sick, "fourth")).status).toBe(200);
  expect(await nameOf(sick)).toBe("fourth");
});

test("what is not parked, or no view, is told so", async () => {
  operator = operatorOf(service);
  const unknown = await operator.act("retryParked", { view: "graph", urn: well });
  expect(unknown).toMatchObject({ status: 404, body: { message: expect.stringContaining(well) } });
  expect((await operator.act("listParked", { view: "cellar" })).status).toBe(422);
  expect((await operator.act("dropParked", { view: "graph" })).status).toBe(400);
  for (const action of ["retryParked", "dropParked"]) {
    for (const urn of ["nonsense", "", "urn:li:tag:\ud800", `urn:li:tag:${"x".repeat(600)}`]) {
      const reply = await operator.act(action, { view: "graph", urn });
      expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
    }
  }
});
