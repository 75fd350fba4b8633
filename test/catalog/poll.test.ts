/** Polling for events of DataHub's topics, at a real service. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPoll } from "../../src/catalog/changes/poll.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const urn = "urn:li:tag:polled";
const MXE = "com.linkedin.pegasus2avro.mxe";

async function poll(query: string) {
  const { status, body } = await service.client.get(`/openapi/v1/events/poll?${query}`);
  expect(status).toBe(200);
  expect(body.count).toBe(body.events.length);
  return {
    offsetId: body.offsetId as string,
    events: body.events.map(({ value }: { value: string }) => JSON.parse(value)),
  };
}

const named = (name: string) => service.client.upsert(urn, "tagProperties", { name });

test("a poll from an offset continues after the previous response, with previous values", async () => {
  await named("eins");
  await named("zwölf");
  const { events, offsetId } = await poll(
    "topic=MetadataChangeLog_Versioned_v1&offsetId=0&pollTimeoutSeconds=0",
  );
  expect(events.map((one: { aspectName: { string: string } }) => one.aspectName.string)).toEqual([
    ...["tagKey", "tagProperties", "tagProperties"],
  ]);
  expect(events[2]).toMatchObject({
    ...{ entityType: "tag", entityUrn: { string: urn }, changeType: "UPSERT", auditHeader: null },
    aspect: { [`${MXE}.GenericAspect`]: { contentType: "application/json" } },
    systemMetadata: { [`${MXE}.SystemMetadata`]: { version: { string: "2" } } },
  });
  const { value } = events[2].aspect[`${MXE}.GenericAspect`];
  expect(value).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(value)).toMatchObject({ name: "zwölf" });
  const before = events[2].previousAspectValue[`${MXE}.GenericAspect`];
  expect(JSON.parse(before.value)).toMatchObject({ name: "eins" });

  const rest = `topic=MetadataChangeLog_Versioned_v1&offsetId=${offsetId}&pollTimeoutSeconds=0`;
  expect(await poll(rest)).toEqual({ offsetId, events: [] });
  const first = await poll("topic=MetadataChangeLog_Versioned_v1&offsetId=0&limit=1");
  expect(first.events).toHaveLength(1);
});

test("a waiting poll returns new events as soon as they occur, and no older ones", async () => {
  const { offsetId } = await poll("topic=PlatformEvent_v1&pollTimeoutSeconds=0");
  const waiting = poll(`topic=PlatformEvent_v1&offsetId=${offsetId}`);
  await service.client.upsert("urn:li:tag:other", "status", { removed: true });
  const { events } = await waiting;
  expect(events[0]).toMatchObject({
    ...{ header: { timestampMillis: expect.any(Number) }, name: "entityChangeEvent" },
    payload: { contentType: "application/json" },
  });
  const payloads = events.map((one: { payload: { value: string } }) =>
    JSON.parse(one.payload.value),
  );
  expect(payloads).toMatchObject([
    {
      ...{ entityType: "tag", entityUrn: "urn:li:tag:other", version: 0 },
      ...{ category: "LIFECYCLE", operation: "CREATE", auditStamp: { time: expect.any(Number) } },
    },
    { category: "LIFECYCLE", operation: "SOFT_DELETE" },
  ]);
});

test("timeseries events have their own topic", async () => {
  const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,polled,PROD)";
  await service.client.upsert(dataset, "datasetProfile", { timestampMillis: 5, rowCount: 6 });
  const { events } = await poll("topic=MetadataChangeLog_Timeseries_v1&offsetId=0");
  expect(events).toMatchObject([
    { aspectName: { string: "datasetProfile" }, previousAspectValue: null },
  ]);
});

test("a window of days starts that many days before now", async () => {
  const all = await poll("topic=MetadataChangeLog_Versioned_v1&lookbackWindowDays=1");
  expect(all.events.length).toBeGreaterThan(3);
  const none = await poll("topic=PlatformEvent_v1&lookbackWindowDays=0&pollTimeoutSeconds=0");
  expect(none.events).toEqual([]);
});

test("a window longer than the log does not read the whole log", async () => {
  const read: unknown[] = [];
  const poll = createPoll({
    log: {
      readAll: async (from: unknown, { limit }: { limit: number }) => {
        read.push(from);
        return Array.from({ length: limit }, (_, i) => ({ position: i + 1 }));
      },
    },
    decode: () => ({ created: { time: 1_000 } }),
    changes: {
      readChanges: async ({ after }: { after: unknown }) => ({
        ...{ changes: [], position: after, end: true },
      }),
    },
  } as unknown as Parameters<typeof createPoll>[0]);
  const { position } = await poll({ kind: "versioned", since: 999, waitMs: 0 }, {});
  expect([position, read]).toEqual([0, [0]]);
});

test.each([
  ["topic=Nothing", 400, "malformed"],
  ["topic=constructor", 400, "malformed"],
  ["limit=1", 400, "malformed"],
  ["topic=PlatformEvent_v1&limit=0", 400, "malformed"],
  ["topic=PlatformEvent_v1&offsetId=x", 400, "malformed"],
  ["topic=PlatformEvent_v1&offsetId=999999", 400, "invalid"],
])("the query %s is rejected", async (query, status, code) => {
  const { status: answered, body } = await service.client.get(`/openapi/v1/events/poll?${query}`);
  expect([answered, body.code]).toEqual([status, code]);
});
