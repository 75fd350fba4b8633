/**
 * The writer thread of the log ends unexpectedly: the errors of its callers, and how the log
 * continues.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { entry, readEverything, text } from "../contract/change-log-driver.ts";

let directory: string;
let file: string;
let log: ChangeLog;
let logged: string[];
/** The last thread that this process has started. */
let writer: Worker;
const remember = (worker: Worker): void => {
  writer = worker;
};

const logger = {
  info: (_: unknown, message?: string) => void logged.push(`info: ${message}`),
  warn: (_: unknown, message?: string) => void logged.push(`warn: ${message}`),
  error: (_: unknown, message?: string) => void logged.push(`error: ${message}`),
};

async function open(firstMs: number, endsMax = 3): Promise<void> {
  const restart = { firstMs, maxMs: 10_000, endsMax };
  log = await openSqliteChangeLog({ file, logger, restart });
  await log.append([entry("a", -1, "a0")]);
}

beforeEach(() => {
  process.on("worker", remember);
  directory = mkdtempSync(join(tmpdir(), "annals-log-"));
  file = join(directory, "log.sqlite");
  logged = [];
});

afterEach(async () => {
  process.off("worker", remember);
  await log.close();
  rmSync(directory, { recursive: true });
});

/** Prevents the writer from beginning a transaction. */
function hold(): DatabaseSync {
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  return other;
}

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const unavailable = (hint: RegExp) =>
  expect.objectContaining({
    code: "unavailable",
    message: expect.stringMatching(/could not be written: its writer ended/),
    hint: expect.stringMatching(hint),
  });
const unknown = unavailable(/The write may be in the log or not/);
const nothing = unavailable(/^Nothing was written/);

test("running appends fail with an unknown result, and queued ones with an error that says nothing was written", async () => {
  await open(10_000);
  const other = hold();
  const sent = log.append([entry("a", 0, "sent")]);
  await yieldToEventLoop();
  const gathered = log.append([entry("a", 1, "gathered")]);
  const outcomes = Promise.allSettled([sent, gathered]);
  const end = writer.terminate();
  other.close();
  await end;
  expect(await outcomes).toEqual([
    { status: "rejected", reason: unknown },
    { status: "rejected", reason: nothing },
  ]);
  expect(log.trouble?.()).toMatch(/cannot be written: its writer ended/);
  await expect(log.append([entry("a", 0, "between")])).rejects.toEqual(nothing);
});

test("another thread continues at the end of the log, and the pause is logged", async () => {
  await open(20);
  await writer.terminate();
  expect(log.trouble?.()).toMatch(/exit code 1/);
  await expect.poll(() => log.trouble?.()).toBeUndefined();
  const [answer] = await log.append([entry("a", 0, "a1")]);
  expect(answer).toEqual({ position: 2, revision: 1, repeated: false });
  expect((await readEverything(log)).map(text)).toEqual(["a0", "a1"]);
  expect(logged).toEqual(["error: the log's writer ended", "info: the log's writer runs again"]);
});

test("an append that the ended thread committed is found by its id, and written once", async () => {
  await open(20);
  const append = { ...entry("a", 0, "a1"), id: Buffer.alloc(16, 7) };
  await log.append([append]);
  await writer.terminate();
  await expect.poll(() => log.trouble?.()).toBeUndefined();
  const [again] = await log.append([append]);
  expect(again).toEqual({ position: 2, revision: 1, repeated: true });
});

describe("a thread that ends repeatedly", () => {
  test("the thread is started after pauses that double, and finally not again", async () => {
    await open(20, 2);
    const starts: number[] = [];
    const note = (): void => void starts.push(performance.now());
    process.on("worker", note);
    try {
      const first = performance.now();
      for (let end = 1; end <= 3; end++) {
        await writer.terminate();
        if (end < 3) await expect.poll(() => starts.length, { interval: 2 }).toBe(end);
      }
      expect((starts[0] ?? 0) - first).toBeGreaterThan(18);
      expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(38);
      await pause(200);
      expect(starts).toHaveLength(2);
    } finally {
      process.off("worker", note);
    }
    expect(log.trouble?.()).toMatch(/is not restarted/);
    await expect(log.append([entry("a", 0, "late")])).rejects.toEqual(nothing);
    expect((await readEverything(log)).map(text)).toEqual(["a0"]);
  });

  test("no thread is started if the log closes during the pause", async () => {
    await open(50);
    await writer.terminate();
    const last = writer;
    await log.close();
    await pause(100);
    expect(writer).toBe(last);
  });
});

test("the log closes while a thread starts that cannot open the file", async () => {
  await open(20);
  const last = writer;
  await writer.terminate();
  for (const part of ["-wal", "-shm"]) rmSync(`${file}${part}`, { force: true });
  writeFileSync(file, "no database ".repeat(1_000));
  await expect.poll(() => writer, { interval: 2 }).not.toBe(last);
  await log.close();
});

test("a full disk is logged once, and its end is logged once", async () => {
  await open(20);
  const other = new DatabaseSync(file, { timeout: 5_000 });
  other.exec(`CREATE TRIGGER full BEFORE INSERT ON log WHEN NEW.count = 3
    BEGIN SELECT RAISE(ABORT, 'disk is full'); END`);
  const large = () => log.append([entry("b", "any", "1", "2", "3")]);
  await expect(large()).rejects.toMatchObject({ hint: expect.stringMatching(/^Nothing/) });
  await expect(large()).rejects.toMatchObject({ code: "unavailable" });
  await log.append([entry("b", "any", "1")]);
  other.close();
  expect(logged).toEqual(["error: the log cannot be written", "info: the log is written again"]);
});
