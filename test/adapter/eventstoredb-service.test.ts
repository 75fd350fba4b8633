/** Clients and commands of the service on EventStoreDB (its protocol double). */
import { EventStoreDBClient } from "@eventstore/db-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyLogTo } from "../../src/app/offline/offline.ts";
import { readConfig } from "../../src/config/config.ts";
import { entityStream } from "../../src/core/stream.ts";
import { openEventStoreChangeLog } from "../../src/log/eventstoredb/eventstore-change-log.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { readEverything } from "../contract/change-log-driver.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let server: EventStoreServer;
let service: RunningService;

const tag = (name: string) => `urn:li:tag:${name}`;

beforeEach(async () => {
  server = await startEventStoreServer();
  service = await runningService({ log: server.address });
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await server.stop();
});

describe("a position between two records", () => {
  test.each(["/changes", "/changes?previous=true", `/changes?urn=${tag("one")}`])(
    "a position between two records is invalid for GET %s, with a hint",
    async (path) => {
      const first = await service.client.upsert(tag("one"), "tagProperties", { name: "one" });
      await service.client.upsert(tag("two"), "tagProperties", { name: "two" });
      const after = (first.position ?? 0) + 1;
      const answer = await service.client.get(
        `${path}${path.includes("?") ? "&" : "?"}after=${after}`,
      );
      expect(answer).toMatchObject({
        status: 422,
        body: {
          code: "invalid",
          message: `position ${after} is not the position of a record of this log. Continue with a position that the service returned`,
        },
      });
    },
  );

  test("a position between two records is invalid for a change feed", async () => {
    const first = await service.client.upsert(tag("one"), "tagProperties", { name: "one" });
    await service.client.upsert(tag("two"), "tagProperties", { name: "two" });
    const after = (first.position ?? 0) + 1;
    const answer = await service.client.call("GET", `/changes?after=${after}`, undefined, {
      accept: "text/event-stream",
    });
    expect(answer).toMatchObject({ status: 422, body: { code: "invalid" } });
  });
});

test("the changes of an entity equal those that a scan of the log finds", async () => {
  for (let n = 0; n < 12; n++) {
    await service.client.upsert(tag(`t${n % 3}`), "tagProperties", { name: `tag ${n}` });
  }
  const all = (await service.client.get("/changes?limit=1000")).body;
  const isOf = ({ entityUrn }: { entityUrn: string }) => entityUrn === tag("t1");
  const expected = all.changes.filter(isOf);
  const own = (await service.client.get(`/changes?urn=${tag("t1")}`)).body;
  expect(own).toEqual({ changes: expected, position: all.position, end: true });
  expect(expected.length).toBeGreaterThanOrEqual(4);
  const after = expected[2].position;
  const rest = (await service.client.get(`/changes?urn=${tag("t1")}&after=${after}`)).body;
  expect(rest.changes).toEqual(expected.slice(3));
});

test("a write to a tombstoned stream is answered with 410, and the service stays healthy", async () => {
  await service.client.upsert(tag("one"), "tagProperties", { name: "one" });
  const operator = EventStoreDBClient.connectionString(server.address);
  await operator.tombstoneStream(entityStream(tag("one")));
  await operator.dispose();
  const answer = await service.client.upsert(tag("one"), "tagProperties", { name: "changed" });
  expect(answer).toMatchObject({ status: 410, body: { code: "gone" } });
  expect(answer.headers.get("retry-after")).toBeNull();
  const key = { entityType: "tag", entityUrn: tag("one"), changeType: "DELETE" };
  for (const [path, body] of [
    ["/entities?action=delete", { urn: tag("one") }],
    ["/aspects?action=ingestProposal", { proposal: { ...key, aspectName: "tagKey" } }],
  ] as const) {
    const deleted = await service.client.call("POST", path, body);
    expect(deleted, path).toMatchObject({ status: 410, body: { code: "gone" } });
  }
  expect((await service.client.get("/health")).status).toBe(200);
  const other = await service.client.upsert(tag("two"), "tagProperties", { name: "two" });
  expect(other.status).toBe(200);
});

test("a rebuild counts records, not bytes of the log, and its views become live", async () => {
  const proposals = Array.from({ length: 60 }, (_, n) => ({
    ...{ entityType: "tag", entityUrn: tag(`t${n}`), changeType: "UPSERT" },
    aspectName: "tagProperties",
    aspect: { contentType: "application/json", value: JSON.stringify({ name: `tag ${n}` }) },
  }));
  const written = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(written.status, JSON.stringify(written.body)).toBe(200);
  const operator = operatorOf(service);
  const id = await operator.value("rebuildViews", {});
  const jobOf = () => operator.value("getJob", { id });
  await expect.poll(async () => (await jobOf()).state).toBe("done");
  const log = await openEventStoreChangeLog({ connection: server.address, readOnly: true });
  const records = (await readEverything(log)).length;
  await log.close();
  const { counts } = await jobOf();
  expect(counts.updated).toBe(counts.total);
  expect(counts.updated).toBeGreaterThanOrEqual(60);
  // Views that are built from other views read the log a second time.
  expect(counts.updated).toBeLessThanOrEqual(2 * records);
  const { views, log: ends } = await operator.value("getStatus", {});
  expect(ends.position).toBeGreaterThan(10 * records);
  for (const view of ["aspects", "graph", "timeseries", "search"]) {
    expect(views[view]).toMatchObject({ generation: 2 });
  }
  const query = { entity: "tag", input: "*", start: 0, count: 1 };
  const found = await service.client.call("POST", "/entities?action=search", query);
  expect(found.body, JSON.stringify(found.body)).toMatchObject({ value: { numEntities: 60 } });
  const word = { ...query, input: "tag 59" };
  const one = await service.client.call("POST", "/entities?action=search", word);
  expect(one.body.value.entities).toEqual([tag("t59")]);
});

test("a verification counts records, not bytes of the log", async () => {
  for (let n = 0; n < 5; n++) {
    await service.client.upsert(tag(`t${n}`), "tagProperties", { name: `t${n}` });
  }
  const operator = operatorOf(service);
  const id = await operator.value("verify", { full: true });
  const jobOf = () => operator.value("getJob", { id });
  await expect.poll(async () => (await jobOf()).state).toBe("done");
  const { counts } = await jobOf();
  expect(counts.total).toBe(counts.noops);
  expect(counts.total).toBeLessThan(200);
});

test("audit events up to a time in the past are listed", async () => {
  await service.client.upsert(tag("one"), "tagProperties", { name: "one" });
  for (let n = 0; n < 5; n++) {
    await service.client.upsert(tag(`t${n}`), "tagProperties", { name: "x".repeat(500) });
  }
  const operator = operatorOf(service);
  const asked = {
    urn: tag("one"),
    startTimeMillis: Date.now() - 60_000,
    endTimeMillis: Date.now(),
  };
  const { events } = await operator.value("listAuditEvents", asked);
  expect(events).toContainEqual(expect.objectContaining({ aspect: "tagProperties" }));
  const before = await operator.value("listAuditEvents", { urn: tag("one"), endTimeMillis: 1_000 });
  expect(before).toMatchObject({ events: [], end: true });
});

test("copy-log --to embedded copies the log into --data", async () => {
  await service.client.upsert(tag("one"), "tagProperties", { name: "one" });
  const config = readConfig({ log: server.address, data: service.directory }, {});
  await service.restart(async () => {
    const { copied } = await copyLogTo(config, { to: "embedded", onProgress: () => {} });
    expect(copied).toBeGreaterThan(0);
    const log = openSqliteChangeLog({ file: `${service.directory}/log.sqlite`, readOnly: true });
    const streams = (await readEverything(await log)).map(({ stream }) => stream);
    expect(streams).toContain(entityStream(tag("one")));
    await (await log).close();
  });
});

test("an older copy of the log stops the views while the service runs, and the newer one starts them", async () => {
  const backup = server.store.copy();
  const newer = server.store;
  for (let n = 0; n < 5; n++) {
    await service.client.upsert(tag(`t${n}`), "tagProperties", { name: `t${n}` });
  }
  // The response comes when the view has applied every write.
  const listing = { entity: "tag", start: 0, count: 1 };
  await service.client.call("POST", "/entities?action=listUrns", listing);

  await server.stop();
  server.serve(backup);
  await server.start();
  await expect
    .poll(async () => (await service.client.get("/health")).body.message)
    .toMatch(/the log does not hold the record at position \d+ of stream "entity-urn:li:tag:t4"/);
  const unhealthy = await service.client.get("/health");
  expect(unhealthy).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(unhealthy.body.message).toMatch(/restore the newer log; or, .* run: .* rebuild/);

  await server.stop();
  server.serve(newer);
  await server.start();
  await expect.poll(async () => (await service.client.get("/health")).status).toBe(200);
});
