import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Position } from "../../src/core/position.ts";
import { position } from "../../src/core/position.ts";
import { entityStream } from "../../src/core/stream.ts";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { readParking, writeParking } from "../../src/projector/parking/parking.ts";
import {
  type ProjectorClient,
  type ProjectorThreadOptions,
  startProjectorThread,
} from "../../src/projector/thread/projector-client.ts";
import { startProjectorWorker } from "../../src/projector/thread/projector-worker.ts";
import { openSqliteAspectReader } from "../../src/views/aspects/sqlite/sqlite-aspect-reader.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const urn = "urn:li:tag:a";
let directory: TemporaryDirectory;
let log: ChangeLog;
let client: ProjectorClient | undefined;
let version: number;
const logged: string[] = [];
/** Called with each logged message. */
let onLogged: (message: string) => void;

beforeEach(async () => {
  directory = temporaryDirectory("annals-projector");
  log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  version = 0;
  logged.length = 0;
  onLogged = () => {};
});

afterEach(async () => {
  await client?.close();
  client = undefined;
  await log.close();
  directory[Symbol.dispose]();
});

async function start(options: Partial<ProjectorThreadOptions> = {}): Promise<ProjectorClient> {
  const keep = (_: unknown, message: string) => {
    logged.push(message);
    onLogged(message);
  };
  const logger = { info: keep, warn: keep, error: keep } as ProjectorThreadOptions["logger"];
  client = await startProjectorThread({
    stores: { directory: directory.path },
    module: new URL("thread-stores.ts", import.meta.url),
    writeParking: (view, record) => writeParking(log, view, record),
    logger,
    restart: { firstMs: 10, maxMs: 40, crashesMax: 3 },
    ...options,
  });
  return client;
}

async function append(count = 1): Promise<Position> {
  let last = position(0);
  for (let n = 0; n < count; n++) {
    version++;
    const record = encodeChange({
      urn,
      entityType: "tag",
      aspect: "status",
      changeType: "UPSERT",
      value: `{"n":${version}}`,
      created: { time: 1, actor: "urn:li:corpuser:ada" },
      system: { lastObserved: 1, runId: "r", version: `${version}` },
    });
    const [appended] = await log.append([
      { stream: entityStream(urn), expected: "any", records: [record] },
    ]);
    last = appended?.position ?? last;
  }
  return last;
}

const mark = (file: string) => writeFileSync(join(directory.path, file), "");
const unmark = (file: string) => rmSync(join(directory.path, file));

describe("the projector's thread", () => {
  test("a view has caught up with the log when its position is reached", async () => {
    const head = await append(20);
    const projector = await start();
    await projector.reached("aspects", head, { timeoutMs: 5_000 });
    await projector.reached("timeseries", head, { timeoutMs: 5_000 });
    expect(projector.positions()).toEqual({ aspects: 20, timeseries: 20 });
    expect(projector.errors()).toEqual({});
    const reader = openSqliteAspectReader(join(directory.path, "aspects.sqlite"));
    const [state] = await reader.getEntities([urn]);
    expect(state?.revision).toBe(19);
    await reader.close();
  });

  test("the worker may start before its configuration is known, and is replaced by a new thread after a crash", async () => {
    const module = new URL("thread-stores.ts", import.meta.url);
    const worker = startProjectorWorker(module);
    await once(worker, "online");
    const head = await append(20);
    const projector = await start({ module, worker });
    await projector.reached("aspects", head, { timeoutMs: 5_000 });
    const runsAgain = new Promise<void>((resolve) => {
      onLogged = (message) => {
        if (message === "projector runs again") resolve();
      };
    });
    await worker.terminate();
    await runsAgain;
    await projector.reached("aspects", await append(), { timeoutMs: 5_000 });
  });

  test("the projector applies each append that it is notified of, and reports progress", async () => {
    const projector = await start();
    const reported: number[] = [];
    projector.onProgress((positions) => reported.push(positions.aspects ?? -1));
    for (let n = 1; n <= 20; n++) {
      const head = await append();
      projector.notifyAppended(head);
      await projector.reached("aspects", head, { timeoutMs: 5_000 });
    }
    expect(reported.at(-1)).toBe(20);
    expect(reported).toEqual(reported.toSorted((a, b) => a - b));
  });

  test("many notifications at once are all respected", async () => {
    const projector = await start();
    let head = position(0);
    for (let n = 0; n < 200; n++) {
      head = await append();
      projector.notifyAppended(head);
    }
    await projector.reached("timeseries", head, { timeoutMs: 5_000 });
  });

  test("an entity is restored from the log, and listeners are notified", async () => {
    const projector = await start();
    await projector.reached("aspects", await append(5), { timeoutMs: 5_000 });
    const restored: string[][] = [];
    projector.onRestored((urns) => restored.push([...urns]));
    const file = new DatabaseSync(join(directory.path, "aspects.sqlite"), { timeout: 5_000 });
    file.exec("DELETE FROM aspect_value WHERE version > 2");
    expect(await projector.restore([urn])).toEqual([]);
    const count = file.prepare("SELECT count(*) AS count FROM aspect_value").get();
    file.close();
    expect(count).toEqual({ count: 5 });
    expect(restored).toEqual([[urn]]);
    expect(projector.restorations()).toBe(1);
  });

  test("a closed projector rejects a restore", async () => {
    const projector = await start();
    await projector.close();
    await expect(projector.restore([urn])).rejects.toEqual(
      expect.objectContaining({ code: "unavailable" }),
    );
  });

  test("a restarted projector continues at its checkpoints", async () => {
    await (await start()).reached("aspects", await append(5), { timeoutMs: 5_000 });
    await client?.close();
    const projector = await start();
    expect(projector.positions().aspects).toBe(5);
    await projector.reached("aspects", await append(5), { timeoutMs: 5_000 });
  });

  test("stores that cannot be opened prevent the start, with their error", async () => {
    mark("locked");
    await expect(start()).rejects.toEqual(
      expect.objectContaining({
        code: "unavailable",
        message: "the views are locked",
        hint: "Unlock them",
      }),
    );
    const module = new URL("no-such-stores.ts", import.meta.url);
    await expect(start({ module })).rejects.toThrow("no-such-stores");
  });
});

describe("waiting for a view", () => {
  test("a wait ends after its time with the position of the view", async () => {
    const projector = await start();
    await projector.reached("aspects", await append(3), { timeoutMs: 5_000 });
    await expect(projector.reached("aspects", position(9), { timeoutMs: 30 })).rejects.toEqual(
      expect.objectContaining({
        code: "unavailable",
        message: 'the view "aspects" is at position 3 and has not reached 9: waited 30 ms',
      }),
    );
  });

  test("a wait for a failing view has the error, and succeeds when the view recovers", async () => {
    mark("failing");
    const head = await append(3);
    const projector = await start();
    await projector.reached("aspects", head, { timeoutMs: 5_000 });
    await vi.waitFor(() => expect(projector.errors().timeseries).toContain("store fails"), {
      timeout: 5_000,
    });
    expect(Object.keys(projector.errors())).toEqual(["timeseries"]);
    await expect(projector.reached("timeseries", head, { timeoutMs: 30 })).rejects.toThrow(
      "store fails",
    );
    unmark("failing");
    await projector.reached("timeseries", head, { timeoutMs: 5_000, patient: true });
    expect(projector.errors()).toEqual({});
    expect(logged).toEqual(["view does not follow the log", "view follows the log again"]);
  });

  test("a wait for a view that keeps failing is rejected, and the next wait at once", async () => {
    mark("failing");
    const head = await append(3);
    const projector = await start();
    await projector.reached("aspects", head, { timeoutMs: 5_000 });
    const endless = { timeoutMs: 600_000 };
    await expect(projector.reached("timeseries", head, endless)).rejects.toEqual(
      expect.objectContaining({
        code: "unavailable",
        message: 'the view "timeseries" is at position 0 and has not reached 3: store fails',
      }),
    );
    await expect(projector.reached("timeseries", head, endless)).rejects.toThrow("store fails");
    const patient = projector.reached("timeseries", head, { ...endless, patient: true });
    unmark("failing");
    await patient;
    await projector.reached("timeseries", head, endless);
    const next = await append();
    projector.notifyAppended(next);
    await projector.reached("timeseries", next, endless);
  });

  test("a wait succeeds when the view parks a record, which can be retried", async () => {
    mark("unfit");
    const projector = await start();
    const head = await append(3);
    projector.notifyAppended(head);
    await projector.reached("timeseries", head, { timeoutMs: 5_000 });
    expect(projector.errors()).toEqual({});
    expect(projector.parked()).toEqual({ timeseries: 1 });
    expect(await readParking(log, "timeseries")).toEqual([
      expect.objectContaining({ kind: "parked", urn, position: 1, reason: expect.any(String) }),
    ]);
    expect(logged).toEqual(["a record is parked"]);
    expect(await projector.restore([urn], "timeseries")).toEqual([
      { urn, view: "timeseries", reason: "tastes odd" },
    ]);
    unmark("unfit");
    expect(await projector.restore([urn], "timeseries")).toEqual([]);
    await vi.waitFor(() => expect(projector.parked()).toEqual({}));
    await expect(projector.drop(urn, "timeseries")).rejects.toMatchObject({ code: "not_found" });
  });

  test("a wait for an unknown view is rejected", async () => {
    const projector = await start();
    await expect(projector.reached("graph", position(1), { timeoutMs: 5_000 })).rejects.toThrow(
      'the view "graph" is at position none',
    );
  });

  test("a wait is rejected when the projector is closed", async () => {
    const projector = await start();
    const wait = projector.reached("aspects", position(9), { timeoutMs: 5_000 });
    const rejected = expect(wait).rejects.toThrow("the projector is closed");
    await projector.close();
    await rejected;
    await projector.close();
    await expect(projector.reached("aspects", position(9), { timeoutMs: 5_000 })).rejects.toThrow(
      "it is closed",
    );
    await projector.reached("aspects", position(0), { timeoutMs: 5_000 });
  });
});

describe("a crashed thread", () => {
  test("a crash is reported, and a new thread continues", async () => {
    const projector = await start();
    await projector.reached("aspects", await append(3), { timeoutMs: 5_000 });
    mark("crash");
    const errors: unknown[] = [];
    onLogged = (message) => {
      if (message !== "projector crashed") return;
      errors.push(projector.errors());
      unmark("crash");
    };
    const head = await append(3);
    projector.notifyAppended(head);
    await projector.reached("aspects", head, { timeoutMs: 60_000, patient: true });
    const gone = expect.stringContaining("the thread is gone");
    expect(errors).toEqual([{ aspects: gone, timeseries: gone }]);
    await projector.reached("timeseries", head, { timeoutMs: 5_000 });
    expect(projector.errors()).toEqual({});
    expect(logged[0]).toBe("projector crashed");
    expect(logged.at(-1)).toBe("projector runs again");
  });

  test("a thread that crashes repeatedly is given up, and waits are rejected", async () => {
    const projector = await start();
    mark("locked");
    mark("crash");
    const head = await append();
    projector.notifyAppended(head);
    // A wait that is not patient is rejected earlier where threads start slowly.
    const patient = { timeoutMs: 60_000, patient: true };
    await expect(projector.reached("aspects", head, patient)).rejects.toThrow(
      "the views are locked",
    );
    expect(logged).toEqual([
      "projector crashed",
      "projector crashed",
      "projector crashed",
      "projector given up",
    ]);
    await expect(projector.reached("aspects", head, { timeoutMs: 10_000 })).rejects.toThrow(
      "the views are locked",
    );
    expect(projector.errors().aspects).toContain("the views are locked");
  });
});
