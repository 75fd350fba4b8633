/**
 * Unreadable records of the log: readers of the changes get the position of the record, and the
 * action to take.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const broken = "urn:li:tag:sick";
const topic = "topic=MetadataChangeLog_Versioned_v1";
/** The position of the unreadable record. */
let at: number;

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  const first = await service.client.upsert(broken, "tagProperties", { name: "first" });
  expect(first.status).toBe(200);
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
    await log.append([{ stream: entityStream(broken), expected: "any", records }]);
    at = await log.head();
    await log.close();
  });
  await service.client.upsert("urn:li:tag:well", "tagProperties", { name: "second" });
});
afterAll(() => service?.[Symbol.asyncDispose]());

const rejected = () => ({
  status: 500,
  body: {
    ...{ status: 500, code: "unreadable", exceptionClass: expect.any(String) },
    message: expect.stringMatching(
      new RegExp(
        `^record at position ${at} has an unknown schema, fingerprint (?:09)+\\. A later release wrote it: .*\\. To skip it, continue after ${at}$`,
      ),
    ),
  },
});

test("a page ends before the record, and the next page answers the error", async () => {
  const { body } = await service.client.get("/changes?after=0");
  expect(body).toMatchObject({ position: at - 1, end: false });
  expect(body.changes).toHaveLength(2);
  expect(await service.client.get(`/changes?after=${at - 1}`)).toMatchObject(rejected());
  const rest = await service.client.get(`/changes?after=${at}`);
  expect(rest.body).toMatchObject({ end: true, changes: [{ entityUrn: "urn:li:tag:well" }, {}] });
});

test("a page of other entities skips the record", async () => {
  const { body } = await service.client.get("/changes?after=0&urn=urn:li:tag:well");
  expect(body).toMatchObject({ end: true, changes: [{}, {}] });
});

test.each(["versioned", "platform events"])("polling %s answers the same error", async (kind) => {
  const path = `/openapi/v1/events/poll?${kind === "versioned" ? topic : "topic=PlatformEvent_v1"}`;
  const { status, body } = await service.client.get(`${path}&offsetId=0`);
  expect([status, body.offsetId]).toEqual([200, String(at - 1)]);
  expect(body.count).toBeGreaterThan(0);
  expect(await service.client.get(`${path}&offsetId=${at - 1}`)).toMatchObject(rejected());
  const rest = await service.client.get(`${path}&offsetId=${at}`);
  expect(rest.body.count).toBeGreaterThan(0);
});

test("polling timeseries changes from before the record answers the error", async () => {
  const path = "/openapi/v1/events/poll?topic=MetadataChangeLog_Timeseries_v1&offsetId=0";
  expect(await service.client.get(path)).toMatchObject(rejected());
});

test.each([
  ["text/event-stream", /\nid: (\d+)\nevent: fault\ndata: (\{.*\})\n\n$/],
  ["application/x-ndjson", /\n\{"position":(\d+),("code":.*)\}\n$/],
])("a stream of %s ends with the error, and cannot start at the record", async (accept, end) => {
  const stream = await service.client.call("GET", "/changes?after=0", undefined, { accept });
  expect(stream.status).toBe(200);
  const [, position, fault] = end.exec(stream.body) ?? [];
  expect(position, stream.body).toBe(String(at - 1));
  expect(fault).toContain('"code":"unreadable"');
  expect(fault).toContain(`continue after ${at}`);
  const again = { accept, "Last-Event-ID": String(position) };
  expect(await service.client.call("GET", "/changes", undefined, again)).toMatchObject(rejected());
});
