import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position, revision, START } from "../../src/core/position.ts";
import { type ChangeLog, type LogRecord, recordBytesMax } from "../../src/log/change-log.ts";
import { openForWriting } from "../../src/log/sqlite/schema.ts";
import {
  openSqliteChangeLog,
  type SqliteChangeLogOptions,
} from "../../src/log/sqlite/sqlite-change-log.ts";
import { changeLogContract } from "../contract/change-log.contract.ts";
import { entry, readEverything, text } from "../contract/change-log-driver.ts";

const createDirectory = (): string => mkdtempSync(join(tmpdir(), "annals-log-"));

changeLogContract("sqlite", {
  async createPlace() {
    const directory = createDirectory();
    const file = join(directory, "log.sqlite");
    return {
      open: () => openSqliteChangeLog({ file }),
      remove: () => rm(directory, { recursive: true }),
    };
  },
  recordBytesMax,
  supports: {
    atomicAcrossStreams: true,
    gaplessPositions: true,
    idsUnderAnyExpectation: true,
    orderAcrossStreams: true,
  },
});

let directory: string;
let file: string;
let opened: ChangeLog[];

beforeEach(() => {
  directory = createDirectory();
  file = join(directory, "log.sqlite");
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((log) => log.close()));
  rmSync(directory, { recursive: true });
});

async function open(options: Partial<SqliteChangeLogOptions> = {}): Promise<ChangeLog> {
  const log = await openSqliteChangeLog({ file, ...options });
  opened.push(log);
  return log;
}

/** Changes the file without the log. */
function change(sql: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}

const unavailable = (message: RegExp) =>
  expect.objectContaining({ code: "unavailable", message: expect.stringMatching(message) });

describe("the first records of several streams", () => {
  test("first records are read in the order of the stream names, up to the limit", async () => {
    const log = await open();
    await log.append([entry("b", -1, "1", "2", "3"), entry("a", -1, "4"), entry("c", -1, "5")]);
    await log.append([entry("a", 0, "6"), entry("b", 2, "7", "8")]);
    const names = ["c", "nobody", "b", "a", "b"];
    const read = await log.readBeginnings?.(names, { limit: 4 });
    expect(read?.map((some) => some?.map(text))).toEqual([
      ["5"],
      [],
      ["1", "2", "3", "7"],
      ["4", "6"],
      ["1", "2", "3", "7"],
    ]);
    for (const [n, name] of names.entries()) {
      expect(read?.[n]).toEqual(await log.readStream(name, revision(0), { limit: 4 }));
    }
    expect(await log.readBeginnings?.([], { limit: 4 })).toEqual([]);
  });

  test("a page ends after the first record that exceeds its size", async () => {
    const log = await open({ pageBytesMax: 10 });
    await log.append([
      entry("a", -1, "small"),
      entry("b", -1, "x".repeat(30)),
      entry("c", -1, "y"),
    ]);
    const read = await log.readBeginnings?.(["a", "b", "c"], { limit: 9 });
    expect(read?.map((some) => some?.length)).toEqual([1, 1, undefined]);
  });

  test("a damaged row is an error", async () => {
    const log = await open();
    await log.append([entry("a", -1, "1"), entry("b", -1, "2")]);
    change("UPDATE log SET data = zeroblob(length(data)) WHERE position = 2");
    expect((await log.readBeginnings?.(["a"], { limit: 9 }))?.[0]).toHaveLength(1);
    await expect(log.readBeginnings?.(["a", "b"], { limit: 9 })).rejects.toMatchObject({
      ...{ code: "unavailable", message: expect.stringContaining("position 2") },
    });
  });
});

describe("the file of the log", () => {
  test("a file of a later release is rejected, and stays unchanged", async () => {
    await (await open()).close();
    change("PRAGMA user_version = 2");
    await expect(open()).rejects.toEqual(unavailable(/has format 2; .* up to 1/));
    await expect(open({ readOnly: true })).rejects.toEqual(unavailable(/has format 2/));
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    database.close();
  });

  test("a file of another format is rejected", async () => {
    change("CREATE TABLE recipes (name TEXT)");
    await expect(open()).rejects.toEqual(unavailable(/is not a log/));
    rmSync(file);
    writeFileSync(file, "Once upon a time there was a file that was no database. ".repeat(100));
    await expect(open()).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/the log ".*" is damaged: file is not a database/),
    });
  });

  test("a reader does not create the file, and no log is created without its directory", async () => {
    await expect(open({ readOnly: true })).rejects.toEqual(unavailable(/there is no log/));
    expect(existsSync(file)).toBe(false);
    const missing = join(directory, "missing", "log.sqlite");
    await expect(open({ file: missing })).rejects.toEqual(unavailable(/cannot open log/));
  });

  test("the file has an id that never changes, also for readers", async () => {
    const log = await open();
    const other = await open({ file: join(directory, "other.sqlite") });
    expect(log.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(other.id).not.toBe(log.id);
    await log.close();
    expect((await open()).id).toBe(log.id);
    expect((await open({ readOnly: true })).id).toBe(log.id);
  });

  test("a file without an id gets one when it is opened for writing", async () => {
    await (await open()).close();
    change("DROP TABLE identity");
    expect((await open({ readOnly: true })).id).toBeUndefined();
    const { id } = await open();
    expect(id).toBeDefined();
    expect((await open()).id).toBe(id);
  });

  test("a file without checksums is read, and its new rows get checksums", async () => {
    const first = await open();
    await first.append([entry("a", "any", "a0", "a1")]);
    await first.close();
    change("ALTER TABLE log DROP COLUMN crc");
    const reader = await open({ readOnly: true });
    expect((await readEverything(reader)).map(text)).toEqual(["a0", "a1"]);
    await reader.close();
    const log = await open();
    await log.append([entry("a", "any", "a2")]);
    expect((await readEverything(log)).map(text)).toEqual(["a0", "a1", "a2"]);
    const database = new DatabaseSync(file, { readOnly: true });
    const crcs = database.prepare("SELECT crc FROM log ORDER BY position").all();
    database.close();
    expect(crcs).toEqual([{ crc: null }, { crc: expect.any(Number) }]);
  });

  test("a closed log has all records in its file, and an empty write-ahead log", async () => {
    const log = await open();
    await log.append([entry("a", "any", "a0")]);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    await log.close();
    expect(statSync(`${file}-wal`).size).toBe(0);
    // A full disk could not take this transaction again.
    expect(existsSync(`${file}-shm`)).toBe(true);
    rmSync(`${file}-wal`);
    rmSync(`${file}-shm`);
    expect((await readEverything(await open())).map(text)).toEqual(["a0"]);
  });

  test("a commit is on the disk when it returns", async () => {
    await (await open()).close();
    const database = openForWriting(file);
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    database.close();
  });

  test("the write-ahead log stays short under many writes", async () => {
    const log = await open();
    const records = [new Uint8Array(1_000_000)];
    for (let i = 0; i < 60; i++) await log.append([{ stream: "a", expected: "any", records }]);
    expect(statSync(`${file}-wal`).size).toBeLessThan(30_000_000);
  });
});

describe("a reader with a long transaction", () => {
  test("the reader blocks no append, and the write-ahead log is truncated after its end", async () => {
    const log = await open();
    const records = [new Uint8Array(1_000_000)];
    const write = async (calls: number): Promise<void> => {
      for (let i = 0; i < calls; i++) await log.append([{ stream: "a", expected: "any", records }]);
    };
    await write(1);
    const other = new DatabaseSync(file, { readOnly: true });
    other.exec("BEGIN; SELECT count(*) FROM log");
    const begin = performance.now();
    await write(75);
    expect(performance.now() - begin).toBeLessThan(60_000);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(75_000_000);
    other.close();
    await write(20);
    expect(statSync(`${file}-wal`).size).toBeLessThan(70_000_000);
  });
});

describe("a log that is opened read-only", () => {
  test("reads succeed, and appends are rejected", async () => {
    const log = await open();
    await log.append([entry("a", "any", "a0")]);
    const reader = await open({ readOnly: true });
    expect((await readEverything(reader)).map(text)).toEqual(["a0"]);
    const append = reader.append([entry("a", "any", "a1")]);
    await expect(append).rejects.toEqual(unavailable(/reading only/));
  });

  test("appends of the same process notify the reader, which does not poll", async () => {
    const log = await open();
    const reader = await open({ readOnly: true, pollIntervalMs: 3_600_000 });
    const stop = new AbortController();
    const seen: string[] = [];
    setTimeout(() => void log.append([entry("a", "any", "a0")]), 30);
    for await (const page of reader.tail(START, stop.signal)) {
      seen.push(...page.map(text));
      if (seen.length === 1) setTimeout(() => void log.append([entry("a", "any", "a1")]), 30);
      else stop.abort();
    }
    expect(seen).toEqual(["a0", "a1"]);
  });
});

describe("a row with several records", () => {
  test("a read may begin in the middle of a row", async () => {
    const log = await open();
    await log.append([entry("a", "any", "0", "1", "2", "3", "4")]);
    const forward = await log.readAll(position(2), { limit: 2 });
    expect(forward.map(text)).toEqual(["2", "3"]);
    const backward = await log.readAll(position(5), { limit: 2, backward: true });
    expect(backward.map(text)).toEqual(["3", "2"]);
    const stream = await log.readStream("a", revision(3), { limit: 9 });
    expect(stream.map((record) => [record.position, text(record)])).toEqual([
      [4, "3"],
      [5, "4"],
    ]);
  });
});

describe("a page of records", () => {
  test("a page ends at its size limit, and the next one continues after it", async () => {
    const log = await open({ pageBytesMax: 250 });
    for (let i = 0; i < 4; i++) {
      await log.append([
        entry(`s${i % 2}`, "any", `${2 * i}`.padEnd(100), `${2 * i + 1}`.padEnd(100)),
      ]);
    }
    const numbers = (records: readonly LogRecord[]): number[] =>
      records.map((record) => Number(text(record)));
    expect(numbers(await log.readAll(START, { limit: 100 }))).toEqual([0, 1, 2]);
    expect(numbers(await log.readAll(position(3), { limit: 100 }))).toEqual([3, 4, 5]);
    expect(numbers(await log.readAll("end", { limit: 100, backward: true }))).toEqual([7, 6, 5]);
    expect(numbers(await readEverything(log))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const page of log.tail(START, stop.signal)) {
      seen.push(...numbers(page));
      if (seen.length === 8) stop.abort();
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("a page has at least one record, however large", async () => {
    const log = await open({ pageBytesMax: 1 });
    await log.append([entry("a", "any", "a large one", "another")]);
    expect((await readEverything(log)).map(text)).toEqual(["a large one", "another"]);
  });
});

describe("a damaged log", () => {
  const damaged = (at: number) =>
    expect.objectContaining({
      code: "unavailable",
      message: expect.stringContaining(`log is damaged at position ${at}`),
    });

  beforeEach(async () => {
    const log = await open();
    await log.append([entry("a", "any", "a0", "a1")]);
    await log.append([entry("a", "any", "a2", "a3")]);
    await log.append([entry("a", "any", "a4")]);
  });

  test.each([
    ["cut short", "substr(data, 1, 4)"],
    ["drawn out", "data || x'00'"],
    ["emptied", "x''"],
    ["undecodable", "x'ffffffffffffffffffffff'"],
  ])("a row that is %s is an error that names its position", async (_, data) => {
    change(`UPDATE log SET data = CAST(${data} AS BLOB) WHERE position = 3`);
    const log = await open();
    await expect(log.readAll(START, { limit: 10 })).rejects.toEqual(damaged(3));
    await expect(log.readStream("a", revision(3), { limit: 1 })).rejects.toEqual(damaged(3));
    const backward = log.readAll("end", { limit: 2, backward: true });
    await expect(backward).rejects.toEqual(damaged(3));
    // The other records can still be read.
    expect((await log.readAll(START, { limit: 2 })).map(text)).toEqual(["a0", "a1"]);
    expect((await log.readAll(position(4), { limit: 2 })).map(text)).toEqual(["a4"]);
  });

  test.each([
    ["bytes", "data = CAST(substr(data, 1, 3) || x'41' || substr(data, 5) AS BLOB)"],
    ["revision", "revision = 12"],
    ["stream", "stream = 2"],
    ["id", "id = x'00'"],
    ["checksum", "crc = crc + 1"],
  ])("a row with changed %s is an error that names its position", async (_, set) => {
    change("INSERT INTO stream (name) VALUES ('b')");
    change(`UPDATE log SET ${set} WHERE position = 3`);
    const log = await open();
    await expect(log.readAll(START, { limit: 10 })).rejects.toEqual(damaged(3));
    expect((await log.readAll(START, { limit: 2 })).map(text)).toEqual(["a0", "a1"]);
    expect((await log.readAll(position(4), { limit: 2 })).map(text)).toEqual(["a4"]);
  });

  test("a missing row is an error that names the position before it", async () => {
    change("DELETE FROM log WHERE position = 3");
    const log = await open();
    await expect(log.readAll(START, { limit: 10 })).rejects.toEqual(damaged(5));
    await expect(log.readAll(position(2), { limit: 10 })).rejects.toEqual(damaged(5));
    await expect(log.readAll("end", { limit: 10, backward: true })).rejects.toEqual(damaged(1));
    await expect(log.readStream("a", revision(0), { limit: 10 })).rejects.toEqual(damaged(5));
  });
});

describe("a failed transaction", () => {
  test("all calls of the group fail and write nothing, and later calls succeed", async () => {
    const log = await open();
    await log.append([entry("a", -1, "a0")]);
    change(`
      CREATE TRIGGER full BEFORE INSERT ON log WHEN NEW.count = 3
      BEGIN SELECT RAISE(ABORT, 'disk is full'); END`);
    // 1. The second call fails after the first one is inserted.
    const outcomes = await Promise.allSettled([
      log.append([entry("b", -1, "lost")]),
      log.append([entry("c", -1, "lost", "lost", "lost")]),
      log.append([entry("a", 0, "lost")]),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: unavailable(/disk is full/) });
    }
    expect((await readEverything(log)).map(text)).toEqual(["a0"]);
    // 2. The log's cache of streams equals the file.
    const answers = await log.append([
      entry("c", -1, "c0"),
      entry("b", -1, "b0"),
      entry("a", 0, "a1"),
    ]);
    expect(answers.map((answer) => [answer.position, answer.revision])).toEqual([
      [2, 0],
      [3, 0],
      [4, 1],
    ]);
    expect((await readEverything(log)).map((record) => record.stream)).toEqual([
      "a",
      "c",
      "b",
      "a",
    ]);
  });
});

describe("a large group of appends", () => {
  test("the group is split into several transactions, and appended completely and in order", async () => {
    const log = await open();
    const calls = Array.from({ length: 9_000 }, (_, i) =>
      log.append([entry(`s${i % 100}`, Math.floor(i / 100) - 1, String(i))]),
    );
    const answers = await Promise.all(calls);
    expect(answers.map(([answer]) => answer?.position)).toEqual(
      Array.from({ length: 9_000 }, (_, i) => i + 1),
    );
  });

  test("one call may have more streams than the writer caches", async () => {
    const log = await open();
    const streams = Array.from({ length: 35_000 }, (_, i) => `s${i}`);
    await log.append([
      ...streams.map((stream) => entry(stream, -1, "first")),
      ...streams.map((stream) => entry(stream, 0, "second")),
    ]);
    expect(await log.head()).toBe(70_000);
    await expect(log.append([entry("s0", 0, "late")])).rejects.toMatchObject({ actual: 1 });
  });

  test("an append that fits into no row is rejected", async () => {
    const log = await open();
    const record = new Uint8Array(16_000_000);
    const append = log.append([{ stream: "a", expected: "any", records: Array(9).fill(record) }]);
    await expect(append).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("several processes", () => {
  const script = fileURLToPath(new URL("appending-process.ts", import.meta.url));

  const start = (name: string, calls: number): ChildProcess =>
    spawn(process.execPath, [script, file, name, String(calls)], {
      stdio: ["ignore", "pipe", "inherit"],
    });

  /** Reports acknowledged calls by their numbers with their last positions, as they arrive. */
  function listen(child: ChildProcess, onCall: (number: number, position: number) => void): void {
    if (child.stdout === null) throw new Error("the process has no output");
    createInterface(child.stdout).on("line", (line) => {
      const [number, last] = line.split(" ").map(Number);
      // A line that the kill cut off is ignored.
      if (number !== undefined && last !== undefined && line.includes(" ")) onCall(number, last);
    });
  }

  /** Every call has three records; the last one is at the acknowledged position. */
  function checkWhole(records: readonly LogRecord[]): void {
    expect(records.map((record) => record.position)).toEqual(records.map((_, i) => i + 1));
    const byCall = Map.groupBy(records, (record) => text(record).slice(0, -2));
    for (const [call, own] of byCall) {
      expect(own.map(text)).toEqual([`${call} a`, `${call} b`, `${call} c`]);
      expect((own[2]?.position ?? 0) - (own[0]?.position ?? 0)).toBe(2);
    }
  }

  test("a process that is killed while it appends loses no acknowledged record", async () => {
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 5; round++) {
      const child = start(`round ${round}`, 1_000_000);
      let calls = 0;
      listen(child, (number, last) => {
        acknowledged.set(`round ${round} ${number} c`, last);
        if (++calls === 100 + 77 * round) child.kill("SIGKILL");
      });
      await once(child, "close");
      expect(child.signalCode).toBe("SIGKILL");
    }
    const log = await open();
    const records = await readEverything(log);
    checkWhole(records);
    expect(acknowledged.size).toBeGreaterThan(5 * 100);
    for (const [call, last] of acknowledged) {
      const record = records[last - 1];
      expect(record === undefined ? undefined : text(record)).toBe(call);
    }
    // The log continues at its end.
    const [answer] = await log.append([entry("a", "any", "after")]);
    expect(answer?.position).toBe(records.length + 1);
  });

  test("two processes append to one log, and each reads the records of the other", async () => {
    const log = await open();
    const calls = 200;
    const stop = new AbortController();
    const seen: LogRecord[] = [];
    const follow = async (): Promise<void> => {
      for await (const page of log.tail(START, stop.signal)) {
        seen.push(...page);
        if (seen.length === 6 * calls) stop.abort();
      }
    };
    const appendOwn = async (): Promise<void> => {
      for (let i = 0; i < calls; i++) {
        await log.append([
          entry("own", 2 * i - 1, `own ${i} a`, `own ${i} b`),
          entry("shared", "any", `own ${i} c`),
        ]);
      }
    };
    const appendAnother = async (): Promise<void> => {
      expect(await once(start("child", calls), "close")).toEqual([0, null]);
    };
    await Promise.all([follow(), appendOwn(), appendAnother()]);
    checkWhole(seen);
    expect(seen).toEqual(await readEverything(log));
  });
});
