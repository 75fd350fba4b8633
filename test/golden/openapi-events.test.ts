/**
 * Timeseries events at the OpenAPI endpoints, with the members that clients read when they wait for
 * a write.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
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
])("the response to a write names the written events: POST %s", async (path) => {
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

test("a written event is traced until searches show it", async () => {
  const write = await call("POST", "/openapi/v3/entity/dataset", [profile(1_700_000_000_002, 3)]);
  const id = write.headers.get("traceparent");
  await expect
    .poll(async () => (await traced(id, { [urn]: ["datasetProfile"] })).body)
    .toEqual({ [urn]: { datasetProfile: shown } });
  const errors = await traced(id, { [urn]: ["datasetProfile", "operation"] }, "");
  expect(errors.body[urn]).toMatchObject({ operation: { success: false } });
  expect(errors.body[urn]).not.toHaveProperty("datasetProfile");
});

test("a urn without aspects is in the trace, because clients wait for it", async () => {
  const write = await call("POST", "/openapi/v3/entity/dataset", [profile(1_700_000_000_003, 4)]);
  const id = write.headers.get("traceparent");
  expect((await traced(id, { [urn]: [] })).body).toEqual({ [urn]: {} });
  expect((await traced(id, { [urn]: [] }, "")).body).toEqual({});
});

describe("events of all entities of a type", () => {
  const path = "/openapi/v2/timeseries/dataset/operation";
  const named = (i: number) => `urn:li:dataset:(urn:li:dataPlatform:s3,events/${i},PROD)`;
  const at = (i: number) => 1_700_000_000_000 + i;
  const operation = (i: number, time: number, type = "INSERT") => ({
    urn: named(i),
    operation: {
      value: { timestampMillis: time, lastUpdatedTimestamp: time, operationType: type },
    },
  });
  interface Event {
    readonly urn: string;
    readonly timestampMillis: number;
    readonly event: { readonly operationType: string };
    readonly systemMetadata?: { readonly runId: string };
  }
  const summary = ({ urn, timestampMillis, event }: Event) => [
    urn,
    timestampMillis,
    event.operationType,
  ];

  async function pages(query: string, between: () => Promise<unknown> = async () => {}) {
    const all: Event[] = [];
    for (let more = "", i = 0; i < 100; i++) {
      const { status, body } = await call("GET", `${path}?${query}${more}`);
      expect(status, JSON.stringify(body)).toBe(200);
      all.push(...body.results);
      if (body.scrollId === undefined) return all.map(summary);
      await between();
      more = `&scrollId=${encodeURIComponent(body.scrollId)}`;
    }
    throw new Error("there is no end");
  }

  /**
   * The latest first, entity by entity. The third entity has no events, the fourth has two of one
   * time.
   */
  const expected = [
    ...[0, 1].flatMap((i) => [2, 1, 0].map((time) => [named(i), at(time), "INSERT"])),
    ...[
      [named(3), at(7), "INSERT"],
      [named(3), at(7), "UPDATE"],
    ],
  ];

  beforeAll(async () => {
    const events = [0, 1].flatMap((i) => [0, 1, 2].map((time) => operation(i, at(time))));
    const silent = { urn: named(2), status: { value: { removed: false } } };
    // Two events of one time differ by partition or message.
    const update = operation(3, at(7), "UPDATE");
    const other = {
      ...update,
      operation: { value: { ...update.operation.value, messageId: "other" } },
    };
    const members = [...events, silent, operation(3, at(7)), other];
    const write = await call("POST", "/openapi/v3/entity/dataset?async=false", members);
    expect(write.status, JSON.stringify(write.body)).toBe(200);
  });

  test.each([1, 2, 3, 4, 100])("are returned once each, in pages of %d", async (count) => {
    expect(await pages(`count=${count}`)).toEqual(expected);
  });

  test("are filtered by time, and have their system metadata on request", async () => {
    const range = `startTimeMillis=${at(1)}&endTimeMillis=${at(1)}`;
    const { body } = await call("GET", `${path}?${range}&systemMetadata=true`);
    expect(body.results.map(summary)).toEqual(expected.filter(([, time]) => time === at(1)));
    expect(body.results[0].systemMetadata.runId).toBe("no-run-id-provided");
    const { body: plain } = await call("GET", `${path}?count=1`);
    expect(plain.results[0]).not.toHaveProperty("systemMetadata");
  });

  test("continue without repeats while other clients write", async () => {
    let serial = 0;
    const more = async () => {
      serial++;
      const before = named(0).replace("events/0", `events/-${serial}`);
      await call("POST", "/openapi/v3/entity/dataset?async=false", [
        { urn: before, status: { value: { removed: false } } },
        operation(0, at(1_000 + serial)),
      ]);
    };
    expect(await pages("count=1", more)).toEqual(expected);
  });

  test("count=0 returns no events and no scroll id", async () => {
    expect((await call("GET", `${path}?count=0`)).body).toEqual({ results: [] });
  });

  test("more events of one time than a page can hold are returned completely", async () => {
    const urn = named(9);
    const [count, time] = [6_000, at(3)];
    const proposals = Array.from({ length: count }, (_, n) =>
      proposal(urn, "datasetProfile", { timestampMillis: time, rowCount: n, messageId: `m${n}` }),
    );
    await call("POST", "/aspects?action=ingestProposalBatch", { proposals });
    const profiles = `/openapi/v2/timeseries/dataset/datasetProfile?startTimeMillis=${time}&endTimeMillis=${time}&count=5000`;
    const first = await call("GET", profiles);
    expect(first.body.results).toHaveLength(5_000);
    const rest = await call("GET", `${profiles}&scrollId=${first.body.scrollId}`);
    expect(rest.status, JSON.stringify(rest.body)).toBe(200);
    expect(rest.body.scrollId).toBeUndefined();
    const counts = [...first.body.results, ...rest.body.results].map(({ event }) => event.rowCount);
    expect(new Set(counts).size).toBe(count);
  });

  test.each([
    ["a versioned aspect", "/openapi/v2/timeseries/dataset/status", 400],
    ["an unknown entity type", "/openapi/v2/timeseries/starship/operation", 400],
    ["a negative count", `${path}?count=-1`, 400],
    ["another scroll id", `${path}?scrollId=x`, 400],
    ["an odd scroll id", `${path}?scrollId=${Buffer.from("null").toString("base64url")}`, 400],
  ])("%s is rejected", async (_, asked, status) => {
    expect((await call("GET", asked)).status).toBe(status);
  });
});
