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
import { noteParking, readParking } from "../../src/projector/parking/parking.ts";
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
/** Called with each message that is logged. */
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
    note: (view, record) => noteParking(log, view, record),
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
  test("has caught up with the log when it is told to be there", async () => {
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

  test("may run before its configuration is known, and starts again as a thread of its own", async () => {
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

  test("follows each append that it is poked about, and tells so", async () => {
    const projector = await start();
    const told: number[] = [];
    projector.onProgress((positions) => told.push(positions.aspects ?? -1));
    for (let n = 1; n <= 20; n++) {
      const head = await append();
      projector.poke(head);
      await projector.reached("aspects", head, { timeoutMs: 5_000 });
    }
    expect(told.at(-1)).toBe(20);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });

  test("gets there though many pokes come at once", async () => {
    const projector = await start();
    let head = position(0);
    for (let n = 0; n < 200; n++) {
      head = await append();
      projector.poke(head);
    }
    await projector.reached("timeseries", head, { timeoutMs: 5_000 });
  });

  test("restores an entity from the log, and tells so", async () => {
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

  test("refuses to restore when it is closed", async () => {
    const projector = await start();
    await projector.close();
    await expect(projector.restore([urn])).rejects.toEqual(
      expect.objectContaining({ code: "unavailable" }),
    );
  });

  test("goes on where it was when it is started again", async () => {
    await (await start()).reached("aspects", await append(5), { timeoutMs: 5_000 });
    await client?.close();
    const projector = await start();
    expect(projector.positions().aspects).toBe(5);
    await projector.reached("aspects", await append(5), { timeoutMs: 5_000 });
  });

  test("cannot start with stores that cannot be opened, and says why", async () => {
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

describe("a wait", () => {
  test("ends after its time, and tells how far the view is", async () => {
    const projector = await start();
    await projector.reached("aspects", await append(3), { timeoutMs: 5_000 });
    await expect(projector.reached("aspects", position(9), { timeoutMs: 30 })).rejects.toEqual(
      expect.objectContaining({
        code: "unavailable",
        message: 'the view "aspects" is at position 3 and has not reached 9: waited 30 ms',
      }),
    );
  });

  test("for a view that fails tells why, and what it had comes when it is well", async () => {
    mark("sick");
    const head = await append(3);
    const projector = await start();
    await projector.reached("aspects", head, { timeoutMs: 5_000 });
    await vi.waitFor(() => expect(projector.errors().timeseries).toContain("feels sick"), {
      timeout: 5_000,
    });
    expect(Object.keys(projector.errors())).toEqual(["timeseries"]);
    await expect(projector.reached("timeseries", head, { timeoutMs: 30 })).rejects.toThrow(
      "feels sick",
    );
    unmark("sick");
    await projector.reached("timeseries", head, { timeoutMs: 5_000, patient: true });
    expect(projector.errors()).toEqual({});
    expect(logged).toEqual(["view does not follow the log", "view follows the log again"]);
  });

  test("for a view that goes on failing is refused, and so is the next at once", async () => {
    mark("sick");
    const head = await append(3);
    const projector = await start();
    await projector.reached("aspects", head, { timeoutMs: 5_000 });
    const endless = { timeoutMs: 600_000 };
    await expect(projector.reached("timeseries", head, endless)).rejects.toEqual(
      expect.objectContaining({
        code: "unavailable",
        message: 'the view "timeseries" is at position 0 and has not reached 3: feels sick',
      }),
    );
    await expect(projector.reached("timeseries", head, endless)).rejects.toThrow("feels sick");
    const patient = projector.reached("timeseries", head, { ...endless, patient: true });
    unmark("sick");
    await patient;
    await projector.reached("timeseries", head, endless);
    const next = await append();
    projector.poke(next);
    await projector.reached("timeseries", next, endless);
  });

  test("for a view that cannot take a record goes on; it is parked in the log, and retried", async () => {
    mark("poison");
    const projector = await start();
    const head = await append(3);
    projector.poke(head);
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
    unmark("poison");
    expect(await projector.restore([urn], "timeseries")).toEqual([]);
    await vi.waitFor(() => expect(projector.parked()).toEqual({}));
    await expect(projector.drop(urn, "timeseries")).rejects.toMatchObject({ code: "not_found" });
  });

  test("for a view that there is none of is refused", async () => {
    const projector = await start();
    await expect(projector.reached("graph", position(1), { timeoutMs: 5_000 })).rejects.toThrow(
      'the view "graph" is at position none',
    );
  });

  test("is over when the projector is closed", async () => {
    const projector = await start();
    const wait = projector.reached("aspects", position(9), { timeoutMs: 5_000 });
    const refused = expect(wait).rejects.toThrow("the projector is closed");
    await projector.close();
    await refused;
    await projector.close();
    await expect(projector.reached("aspects", position(9), { timeoutMs: 5_000 })).rejects.toThrow(
      "it is closed",
    );
    await projector.reached("aspects", position(0), { timeoutMs: 5_000 });
  });
});

describe("a thread that crashes", () => {
  test("is told of, and another goes on where it was", async () => {
    const projector = await start();
    await projector.reached("aspects", await append(3), { timeoutMs: 5_000 });
    mark("crash");
    const told: unknown[] = [];
    onLogged = (message) => {
      if (message !== "projector crashed") return;
      told.push(projector.errors());
      unmark("crash");
    };
    const head = await append(3);
    projector.poke(head);
    await projector.reached("aspects", head, { timeoutMs: 10_000 });
    const gone = expect.stringContaining("the thread is gone");
    expect(told).toEqual([{ aspects: gone, timeseries: gone }]);
    await projector.reached("timeseries", head, { timeoutMs: 5_000 });
    expect(projector.errors()).toEqual({});
    expect(logged[0]).toBe("projector crashed");
    expect(logged.at(-1)).toBe("projector runs again");
  });

  test("again and again is given up, and waits are refused", async () => {
    const projector = await start();
    mark("locked");
    mark("crash");
    const head = await append();
    projector.poke(head);
    await expect(projector.reached("aspects", head, { timeoutMs: 10_000 })).rejects.toThrow(
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
