/**
 * A value that cannot be projected into a search document is parked: the document is built from the
 * other aspects, and the value is listed, retried and dropped. The service is killed before every
 * restart.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import type { Client } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";
import { logHead } from "../support/log-head.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { dataset } from "../support/random-history.ts";

const service = killableService("annals-parked-values");
const aspect = "editableDatasetProperties";
const broken = "{";
let client: Client;
let act: Operator;

async function start(): Promise<void> {
  client = (await service.start()).client;
  act = operatorOf({ client, directory: service.directory });
}

/** Kills the service, appends a value that is not valid JSON, and starts the service again. */
async function appendBroken(urn: string): Promise<void> {
  await service.stop("SIGKILL");
  const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
  const created = { time: 1_772_409_600_000, actor: "urn:li:corpuser:ada" };
  const system = { lastObserved: created.time, runId: "r", version: "1" };
  const change = {
    urn,
    entityType: "dataset",
    aspect,
    changeType: "UPSERT",
    value: broken,
  } as const;
  const stream = entityStream(urn);
  const records = [encodeChange({ ...change, created, system })];
  await log.append([{ stream, expected: "any", records }]);
  await log.close();
  await start();
}

const described = (urn: string, description: string) =>
  client.upsert(urn, "datasetProperties", { description, customProperties: {} });
const edited = (urn: string, description: string) => client.upsert(urn, aspect, { description });

/** Whether the search finds the entity, once the view covers the log. */
async function found(urn: string, input: string): Promise<boolean> {
  const asked = { entity: "dataset", input, start: 0, count: 50 };
  const headers = { "X-Annals-Min-Position": String(await logHead(client)) };
  for (;;) {
    const reply = await client.call("POST", "/entities?action=search", asked, headers);
    if (reply.status === 200) return reply.body.value.entities.includes(urn);
    expect(reply.status).toBe(503);
    await pause(20);
  }
}

const listed = async (): Promise<readonly { urn: string; view: string; reason: string }[]> =>
  (await act.value("listParked")).parked;

async function done(id: string): Promise<void> {
  await expect
    .poll(async () => (await act.value("getJob", { id })).state, { timeout: 120_000 })
    .not.toBe("running");
  expect(await act.value("getJob", { id })).toMatchObject({ state: "done" });
}
async function verified(): Promise<void> {
  await done(await act.value("verify", { full: true }));
  expect((await act.value("listDifferences")).differences).toEqual([]);
}
const rebuild = async () => done(await act.value("rebuildViews", { views: ["search"] }));

const causedBy = expect.stringMatching(
  /^the aspect "editableDatasetProperties" could not be projected: /,
);

test("an entity is found without a parked aspect until the aspect is dropped", async () => {
  const urn = dataset("values");
  const parked = { view: "search", urn };
  const reason = causedBy;
  await start();
  await described(urn, "sound");
  await appendBroken(urn);
  expect(await found(urn, "sound")).toBe(true);
  expect(await listed()).toMatchObject([{ ...parked, reason, waiting: 0 }]);
  const metrics = await client.get("/metrics");
  expect(metrics.body).toContain('annals_view_parked_entities{view="search"} 1');
  await described(urn, "later");
  expect(await found(urn, "later")).toBe(true);
  await verified();

  await service.stop("SIGKILL");
  await start();
  await rebuild();
  expect(await listed()).toMatchObject([{ ...parked, reason }]);
  const still = { parked: true, entity: { ...parked, reason } };
  expect(await act.value("retryParked", parked)).toMatchObject(still);
  expect(await found(urn, "later")).toBe(true);

  expect(await act.value("dropParked", parked)).toEqual({ parked: false });
  expect(await listed()).toEqual([]);
  await service.stop("SIGKILL");
  await start();
  await described(urn, "last");
  expect(await found(urn, "last")).toBe(true);
  await rebuild();
  expect(await listed()).toEqual([]);
  await verified();
}, 300_000);

test("a value that is overwritten or deleted is no longer listed", async () => {
  const [overwritten, removed] = [dataset("overwritten"), dataset("removed")];
  await start();
  for (const one of [overwritten, removed]) await described(one, "sound");
  for (const one of [overwritten, removed]) await appendBroken(one);
  await expect.poll(async () => (await listed()).length).toBe(2);
  await edited(overwritten, "quokka");
  await client.call("POST", "/entities?action=delete", { urn: removed });
  expect(await found(overwritten, "quokka")).toBe(true);
  expect(await found(removed, "sound")).toBe(false);
  expect(await listed()).toEqual([]);
  await verified();
}, 300_000);
