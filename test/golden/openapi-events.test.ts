/** Events of timeseries at the OpenAPI doors: what clients that wait for a write look for. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const call = (method: string, path: string, body?: unknown) =>
  service.client.call(method, path, body);
const urn = "urn:li:dataset:(urn:li:dataPlatform:s3,events/told,PROD)";
const profile = (timestampMillis: number, rowCount: number) => ({
  urn,
  datasetProfile: { value: { timestampMillis, rowCount } },
});
const shown = {
  success: true,
  primaryStorage: { writeStatus: "ACTIVE_STATE" },
  searchStorage: { writeStatus: "ACTIVE_STATE" },
};
const traced = (traceparent: string | null, body: unknown, query = "?onlyIncludeErrors=false") =>
  call("POST", `/openapi/v1/trace/write/${traceparent?.split("-")[1]}${query}`, body);

test.each([
  "/openapi/v3/entity/dataset?async=true",
  "/openapi/v3/entity/dataset?async=true&systemMetadata=true",
])("the answer to a write names the events that were told: POST %s", async (path) => {
  const write = await call("POST", path, [
    profile(1_700_000_000_000, 1),
    profile(1_700_000_000_001, 2),
  ]);
  expect(write).toMatchObject({
    status: 202,
    body: [{ urn, datasetProfile: { value: { timestampMillis: 1_700_000_000_001, rowCount: 2 } } }],
  });
  expect(write.body).toHaveLength(1);
});

test("an event that was told is traced until searches show it", async () => {
  const write = await call("POST", "/openapi/v3/entity/dataset", [profile(1_700_000_000_002, 3)]);
  const id = write.headers.get("traceparent");
  await expect
    .poll(async () => (await traced(id, { [urn]: ["datasetProfile"] })).body, { timeout: 15_000 })
    .toEqual({ [urn]: { datasetProfile: shown } });
  const errors = await traced(id, { [urn]: ["datasetProfile", "operation"] }, "");
  expect(errors.body[urn]).toMatchObject({ operation: { success: false } });
  expect(errors.body[urn]).not.toHaveProperty("datasetProfile");
});

test("a urn without aspects is told, since clients wait for it", async () => {
  const write = await call("POST", "/openapi/v3/entity/dataset", [profile(1_700_000_000_003, 4)]);
  const id = write.headers.get("traceparent");
  expect((await traced(id, { [urn]: [] })).body).toEqual({ [urn]: {} });
  expect((await traced(id, { [urn]: [] }, "")).body).toEqual({});
});
