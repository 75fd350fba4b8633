/**
 * A disk that is full, read-only or fails to sync: acknowledged writes stay, errors name the cause,
 * no answer is wrong, and the service resumes when the cause is gone.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, createClient, encoded } from "../support/client.ts";
import { failingFsync, filesCanBeLimited, limitFiles, smallDisk } from "../support/faults.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const urnOf = (n: number): string => `urn:li:tag:fault${n}`;
const bulk = "x".repeat(20_000);
/** Limits for the time until a full disk is noticed, and until the service resumes. */
const writesMax = 3_000;
const recoveryMsMax = 45_000;
const diskMegabytes = 96;
const ballastBytes = 70_000_000;
const quiet = { ANNALS_LOG_LEVEL: "fatal" };

/** The acknowledged writes: the number of each urn. */
type Acknowledged = Map<string, number>;

async function write(client: Client, n: number, acknowledged: Acknowledged) {
  const urn = urnOf(n % 200);
  const reply = await client.upsert(urn, "tagProperties", { name: `${n}`, description: bulk });
  if (reply.status === 200) acknowledged.set(urn, n);
  return reply;
}

async function writeUntilRejected(client: Client, acknowledged: Acknowledged) {
  for (let n = 0; n < writesMax; n++) {
    const reply = await write(client, n, acknowledged);
    if (reply.status !== 200) return reply;
  }
  throw new Error(`${writesMax} writes and no end`);
}

/** Expects every acknowledged value. With `busy`, a response may be 503 instead. */
async function findAll(client: Client, acknowledged: Acknowledged, busy = false): Promise<number> {
  let rejected = 0;
  for (const [urn, n] of acknowledged) {
    const { status, body } = await client.get(`/entitiesV2/${encoded(urn)}`);
    if (busy && status === 503) rejected++;
    else expect([urn, body.aspects?.tagProperties?.value.name]).toEqual([urn, `${n}`]);
  }
  return rejected;
}

const healthOf = (client: Client) => client.get("/health");

async function goesOn(client: Client, acknowledged: Acknowledged): Promise<void> {
  const status = async () => (await write(client, 5_000, acknowledged)).status;
  await expect.poll(status, { timeout: recoveryMsMax, interval: 200 }).toBe(200);
  const health = async () => (await healthOf(client)).body;
  await expect.poll(health, { timeout: recoveryMsMax, interval: 200 }).toEqual({});
  await findAll(client, acknowledged);
}

async function endsWell(service: ServiceProcess, directory: string): Promise<void> {
  await caughtUp({ client: createClient(service.address), directory });
  expect(await service.stop()).toBe(0);
  expect((await differencesFromRebuild(directory)).differences).toEqual([]);
}

/** Starts the service; returns the error output if it does not start. */
const startOrWords = (data: string): Promise<ServiceProcess | string> =>
  startService(data, { env: quiet }).catch((error: Error) => error.message);

describe("the service on a full disk", () => {
  test("a full disk rejects writes with the cause, and accepts them again when there is space", {
    timeout: 150_000,
  }, async ({ skip }) => {
    const made = smallDisk(diskMegabytes);
    if ("skipped" in made) return skip(made.skipped);
    using disk = made;
    disk.occupy(ballastBytes);
    const data = join(disk.path, "data");
    const acknowledged: Acknowledged = new Map();
    await using service = await startService(data, { env: quiet });
    const client = createClient(service.address);
    const rejected = await writeUntilRejected(client, acknowledged);
    expect(rejected).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(acknowledged.size).toBeGreaterThan(50);
    expect((await client.get("/health/live")).status).toBe(200);
    await expect.poll(async () => (await healthOf(client)).body.message).toMatch(/full/);
    await findAll(client, acknowledged);
    expect(await (await fetch(`${service.address}/status`)).text()).toContain("not healthy");
    disk.release();
    await goesOn(client, acknowledged);
    await endsWell(service, data);
  });

  test("after a crash the service starts read-only, and accepts writes when there is space", {
    timeout: 150_000,
  }, async ({ skip }) => {
    const made = smallDisk(diskMegabytes);
    if ("skipped" in made) return skip(made.skipped);
    using disk = made;
    disk.occupy(ballastBytes);
    const data = join(disk.path, "data");
    const acknowledged: Acknowledged = new Map();
    await using service = await startService(data, { env: quiet });
    await writeUntilRejected(createClient(service.address), acknowledged);
    await service.stop("SIGKILL");
    disk.fill();
    await using again = await startService(data, { env: { ANNALS_LOG_LEVEL: "error" } });
    const client = createClient(again.address);
    await findAll(client, acknowledged);
    expect(await write(client, 5_000, new Map())).toMatchObject({
      status: 503,
      body: { code: "unavailable", message: expect.stringContaining("full") },
    });
    expect(await healthOf(client)).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining("full") },
    });
    expect(again.stderr()).toContain("the service starts read-only");
    disk.release();
    await goesOn(client, acknowledged);
    await endsWell(again, data);
  });

  test("after a clean stop the service starts read-only, and accepts writes when there is space", {
    timeout: 150_000,
  }, async ({ skip }) => {
    const made = smallDisk(diskMegabytes);
    if ("skipped" in made) return skip(made.skipped);
    using disk = made;
    const data = join(disk.path, "data");
    const acknowledged: Acknowledged = new Map();
    await using service = await startService(data, { env: quiet });
    for (let n = 0; n < 50; n++) await write(createClient(service.address), n, acknowledged);
    expect(await service.stop()).toBe(0);
    disk.fill();
    await using again = await startService(data, { env: { ANNALS_LOG_LEVEL: "error" } });
    expect(again.stderr()).toContain("the service starts read-only");
    const client = createClient(again.address);
    expect(await healthOf(client)).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining("full") },
    });
    await findAll(client, acknowledged);
    expect(await write(client, 5_000, new Map())).toMatchObject({
      status: 503,
      body: { code: "unavailable", message: expect.stringContaining("full") },
    });
    expect(await healthOf(client)).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining("full") },
    });
    disk.release();
    await goesOn(client, acknowledged);
    await endsWell(again, data);
  });
});

/** A file size limit replaces the full disk where the test may not mount one. */
test("a file size limit rejects writes with the cause, and writes resume without the limit", async ({
  skip,
}) => {
  const limits = filesCanBeLimited();
  if (limits !== true) return skip(limits.skipped);
  using directory = temporaryDirectory("annals-limited");
  const acknowledged: Acknowledged = new Map();
  await using service = await startService(directory.path, { env: quiet });
  const client = createClient(service.address);
  for (let n = 0; n < 20; n++) await write(client, n, acknowledged);
  const { size } = statSync(join(directory.path, "log.sqlite-wal"));
  limitFiles(service.pid, size + 1_000_000);
  const rejected = await writeUntilRejected(client, acknowledged);
  expect(rejected).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect((await healthOf(client)).status).toBe(503);
  await findAll(client, acknowledged, true);
  limitFiles(service.pid, undefined);
  await goesOn(client, acknowledged);
  await endsWell(service, directory.path);
});

/** The root user can write to any directory, so that the test needs a read-only mount. */
test("a start on a read-only directory ends with one error message, and changes no file", async ({
  skip,
}) => {
  const made = smallDisk(diskMegabytes);
  if ("skipped" in made) return skip(made.skipped);
  using disk = made;
  const acknowledged: Acknowledged = new Map();
  const data = join(disk.path, "data");
  await using first = await startService(data);
  await write(createClient(first.address), 1, acknowledged);
  expect(await first.stop()).toBe(0);
  disk.setReadOnly(true);
  const words = await startOrWords(data);
  expect(words).toMatch(/ended with 2 .*cannot use the data directory.*may be written/s);
  disk.setReadOnly(false);
  await using again = await startService(data);
  await findAll(createClient(again.address), acknowledged);
  await endsWell(again, data);
});

test("a write whose fsync fails is not acknowledged, and acknowledged writes stay", async ({
  skip,
}) => {
  const made = failingFsync();
  if ("skipped" in made) return skip(made.skipped);
  using fsync = made;
  using directory = temporaryDirectory("annals-fsync");
  const acknowledged: Acknowledged = new Map();
  const env = { ...fsync.env, ...quiet };
  await using service = await startService(directory.path, { env });
  const client = createClient(service.address);
  for (let n = 0; n < 100; n++) expect((await write(client, n, acknowledged)).status).toBe(200);
  fsync.fail(true);
  for (let n = 100; n < 110; n++) {
    const rejected = await write(client, n, acknowledged);
    expect(rejected.status).toBe(503);
    expect(rejected.body.message).toContain("could not be written");
  }
  expect((await healthOf(client)).body.message).toMatch(/could not be written/);
  await findAll(client, acknowledged, true);
  fsync.fail(false);
  await goesOn(client, acknowledged);
  for (let n = 200; n < 300; n++) await write(client, n, acknowledged);
  // No view has a record that was not synced and that a crash would lose.
  fsync.fail(true);
  for (let n = 300; n < 305; n++) expect((await write(client, n, acknowledged)).status).toBe(503);
  await service.stop("SIGKILL");
  fsync.fail(false);
  await using again = await startService(directory.path, { env });
  const after = createClient(again.address);
  await findAll(after, acknowledged);
  // Rejected writes are not in the log either.
  for (let n = 100; n < 110; n++) {
    const { body } = await after.get(`/entitiesV2/${encoded(urnOf(n))}`);
    expect(body.aspects?.tagProperties).toBeUndefined();
  }
  await endsWell(again, directory.path);
});
