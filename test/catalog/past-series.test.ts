/** Timeseries events as of a point in time: truncations, deletes of the entity, times, limits. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPastSeries } from "../../src/catalog/read/past-series.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import type { TimeseriesWrite } from "../../src/views/timeseries/timeseries-table.ts";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,series.past,PROD)";
const DAY = 86_400_000;
const path = "/aspects?action=getTimeseriesAspectValues";

async function rows(moment: string, more: object = {}): Promise<readonly number[]> {
  const { status, body } = await service.client.call("POST", `${path}${moment}`, {
    ...{ urn, entity: "dataset", aspect: "datasetProfile", ...more },
  });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.value.values.map(
    ({ aspect }: { aspect: { value: string } }) => JSON.parse(aspect.value).rowCount,
  );
}

const writeProfile = async (day: number, rowCount: number): Promise<number> => {
  const value = { timestampMillis: day * DAY, rowCount };
  return (await service.client.upsert(urn, "datasetProfile", value)).position ?? 0;
};

test("an as-of read returns events that were truncated or deleted later, in the requested order and range", async () => {
  for (const day of [1, 2, 3]) await writeProfile(day, day);
  const rewritten = await writeProfile(2, 20);
  const operator = operatorOf(service);
  const job = await operator.value("truncateTimeseriesAspect", {
    ...{ entityType: "dataset", aspect: "datasetProfile", dryRun: false },
    endTimeMillis: 2.5 * DAY,
  });
  expect(job).toMatch(/:\d+$/);
  await expect.poll(() => rows("")).toEqual([3]);
  const truncated = await writeProfile(1, 10);
  const gone = await service.client.call("POST", "/entities?action=delete", { urn });
  expect(await rows("")).toEqual([]);
  expect(await rows(`&asOfPosition=${gone.position}`)).toEqual([]);
  expect(await rows(`&asOfPosition=${truncated}`)).toEqual([3, 10]);
  const then = `&asOfPosition=${rewritten}`;
  expect(await rows(then)).toEqual([3, 20, 1]);
  expect(await rows(then, { limit: 2 })).toEqual([3, 20]);
  expect(await rows(then, { limit: 0 })).toEqual([]);
  expect(await rows(then, { latestValue: true })).toEqual([3]);
  expect(await rows(then, { startTimeMillis: DAY, endTimeMillis: 2 * DAY })).toEqual([20, 1]);
  const sort = { field: "timestampMillis", order: "ASCENDING" };
  expect(await rows(then, { sort, limit: 2 })).toEqual([1, 20]);
  const filter = { or: [{ and: [{ field: "rowCount", condition: "EQUAL", values: ["20"] }] }] };
  expect(await rows(then, { filter })).toEqual([20]);
  expect(await rows(`&asOfPosition=${rewritten - 1}`, { filter })).toEqual([]);
  expect(await rows(`&asOfTime=${Date.now()}`)).toEqual([]);
  expect(await rows("&asOfTime=0")).toEqual([]);
});

test("an as-of range of more events than the limit is rejected", async () => {
  const changes = [1, 2, 3, 4].map(
    (n): PlacedChange => ({
      ...{ urn, entityType: "dataset", aspect: "datasetProfile", changeType: "UPSERT" },
      ...{ value: "{}", created: { time: n, actor: "urn:li:corpuser:mira" }, timeseries: true },
      ...{ system: { lastObserved: n, runId: "r" }, position: position(n) },
      revision: revision(n - 1),
    }),
  );
  const series = createPastSeries({
    log: {
      readStream: async (stream, from) =>
        changes
          .filter((one) => stream.startsWith("timeseries") && one.revision >= Number(from))
          .map(({ position, revision }) => ({
            position,
            revision,
            stream,
            data: new Uint8Array(),
          })),
    },
    decode: (record) => changes[record.revision],
    project: ({ position, created, system, aspect, value = "" }): readonly TimeseriesWrite[] => [
      {
        ...{ op: "event", urn, aspect, entityType: "dataset", position, time: created.time },
        ...{ key: "k", value, system: JSON.stringify(system) },
      },
    ],
    withSlot: (work) => work(),
    endIn: async () => position(4),
    isHidden: async () => false,
    foldedMax: 3,
  });
  const range = { urn, aspect: "datasetProfile" };
  await expect(series.list(range, { limit: 1 })).rejects.toMatchObject({ code: "too_large" });
  expect(await series.list({ ...range, from: 2 }, { limit: 1 })).toMatchObject([{ time: 4 }]);
});
