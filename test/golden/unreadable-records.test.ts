/** Records of the log that cannot be read: who follows the changes is told which, and what to do. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const sick = "urn:li:tag:sick";
const topic = "topic=MetadataChangeLog_Versioned_v1";
/** Of the record that cannot be read. */
let at: number;

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  const first = await service.client.upsert(sick, "tagProperties", { name: "first" });
  expect(first.status).toBe(200);
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
    await log.append([{ stream: entityStream(sick), expected: "any", records }]);
    at = await log.head();
    await log.close();
  });
  await service.client.upsert("urn:li:tag:well", "tagProperties", { name: "second" });
});
afterAll(() => service?.[Symbol.asyncDispose]());

const refused = () => ({
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

test("a page ends before it, and the next one says why there is none", async () => {
  const { body } = await service.client.get("/changes?after=0");
  expect(body).toMatchObject({ position: at - 1, end: false });
  expect(body.changes).toHaveLength(2);
  expect(await service.client.get(`/changes?after=${at - 1}`)).toMatchObject(refused());
  const rest = await service.client.get(`/changes?after=${at}`);
  expect(rest.body).toMatchObject({ end: true, changes: [{ entityUrn: "urn:li:tag:well" }, {}] });
});

test("who asks for other entities alone is not held up by it", async () => {
  const { body } = await service.client.get("/changes?after=0&urn=urn:li:tag:well");
  expect(body).toMatchObject({ end: true, changes: [{}, {}] });
});

test.each(["versioned", "what changes mean"])("polling, too: %s", async (kind) => {
  const path = `/openapi/v1/events/poll?${kind === "versioned" ? topic : "topic=PlatformEvent_v1"}`;
  const { status, body } = await service.client.get(`${path}&offsetId=0`);
  expect([status, body.offsetId]).toEqual([200, String(at - 1)]);
  expect(body.count).toBeGreaterThan(0);
  expect(await service.client.get(`${path}&offsetId=${at - 1}`)).toMatchObject(refused());
  const rest = await service.client.get(`${path}&offsetId=${at}`);
  expect(rest.body.count).toBeGreaterThan(0);
});

test("polling for what is not before it says so, too", async () => {
  const path = "/openapi/v1/events/poll?topic=MetadataChangeLog_Timeseries_v1&offsetId=0";
  expect(await service.client.get(path)).toMatchObject(refused());
});

test.each([
  ["text/event-stream", /\nid: (\d+)\nevent: fault\ndata: (\{.*\})\n\n$/],
  ["application/x-ndjson", /\n\{"position":(\d+),("code":.*)\}\n$/],
])("a stream of %s ends with it, and does not begin there", async (accept, end) => {
  const stream = await service.client.call("GET", "/changes?after=0", undefined, { accept });
  expect(stream.status).toBe(200);
  const [, position, fault] = end.exec(stream.body) ?? [];
  expect(position, stream.body).toBe(String(at - 1));
  expect(fault).toContain('"code":"unreadable"');
  expect(fault).toContain(`continue after ${at}`);
  const again = { accept, "Last-Event-ID": String(position) };
  expect(await service.client.call("GET", "/changes", undefined, again)).toMatchObject(refused());
});
