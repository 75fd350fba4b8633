/** Damaged indexes of the embedded log: bits are flipped in their pages, while the rows are intact. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EMPTY_STREAM, revision, START } from "../../../src/core/position.ts";
import type { ChangeLog } from "../../../src/log/change-log.ts";
import { findIndexDamage } from "../../../src/log/sqlite/indexes/index-check.ts";
import { createIndexState } from "../../../src/log/sqlite/indexes/index-state.ts";
import { repairIndexes } from "../../../src/log/sqlite/indexes/repair-indexes.ts";
import {
  openSqliteChangeLog,
  type SqliteChangeLogOptions,
} from "../../../src/log/sqlite/sqlite-change-log.ts";
import { breakPage, flipText, hideCells } from "../../support/flipped-bits.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary-directory.ts";

const streams = Array.from({ length: 40 }, (_, n) => `entity-urn:li:tag:t${n}x`);
const NAMES = "sqlite_autoindex_stream_1";
const idOf = (n: number): Uint8Array => Buffer.alloc(16, n + 1);

let directory: TemporaryDirectory;
let file: string;
let id: string | undefined;

beforeEach(async () => {
  directory = temporaryDirectory("annals-index-check");
  file = join(directory.path, "log.sqlite");
  await withLog({}, async (log) => {
    id = log.id;
    for (const [n, stream] of streams.entries()) await append(log, stream, n);
    for (const [n, stream] of streams.entries()) await append(log, stream, n + 100);
  });
});
afterEach(() => directory[Symbol.dispose]());

async function withLog<T>(
  options: Partial<SqliteChangeLogOptions>,
  use: (log: ChangeLog) => Promise<T>,
): Promise<T> {
  const log = await openSqliteChangeLog({ file, ...options });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

const append = (log: ChangeLog, stream: string, n: number) =>
  log.append([{ stream, expected: "any", records: [Buffer.from(`record ${n}`)], id: idOf(n) }]);

const readAll = (log: ChangeLog) => log.readAll(START, { limit: 1_000 });
const fix = /annals -- check --repair-indexes/;
const hidden = streams[7] ?? "";

describe("an index that lacks a stream of the table", () => {
  beforeEach(() => flipText(file, NAMES, hidden));

  test.each([
    ["forward", (log: ChangeLog) => log.readStream(hidden, revision(0), { limit: 5 })],
    ["backward", (log: ChangeLog) => log.readStream(hidden, "end", { limit: 5, backward: true })],
    ["with others", (log: ChangeLog) => beginnings(log, [streams[1] ?? "", hidden])],
    ["by an append's id", (log: ChangeLog) => log.findAppend(hidden, idOf(7))],
  ])("a read of the stream (%s) fails before the indexes are checked", async (_, read) => {
    for (const readOnly of [true, false]) {
      await withLog({ readOnly }, async (log) => {
        await expect(read(log)).rejects.toMatchObject({
          code: "unreadable",
          message: expect.stringContaining(`an index lacks stream "${hidden}"`),
          hint: expect.stringMatching(fix),
        });
      });
    }
  });

  test("an append creates no second stream with the same name", async () => {
    await withLog({}, async (log) => {
      await expect(
        log.append([{ stream: hidden, expected: EMPTY_STREAM, records: [Buffer.from("again")] }]),
      ).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining(hidden),
        hint: expect.stringMatching(fix),
      });
      expect(await readAll(log)).toHaveLength(80);
    });
  });

  test("a stream that no table has is read as empty", async () => {
    await withLog({}, async (log) => {
      expect(await log.readStream("entity-urn:li:tag:none", revision(0), { limit: 5 })).toEqual([]);
      await append(log, "entity-urn:li:tag:none", 50);
      expect(
        await log.readStream("entity-urn:li:tag:none", revision(0), { limit: 5 }),
      ).toHaveLength(1);
    });
  });
});

const beginnings = (log: ChangeLog, names: readonly string[]) =>
  log.readBeginnings?.(names, { limit: 5 }) ?? Promise.reject(new Error("it cannot do that"));

const damages = [
  ["a name", () => flipText(file, NAMES, hidden)],
  ["hidden names", () => hideCells(file, NAMES)],
  ["hidden revisions", () => hideCells(file, "log_revision")],
  ["hidden ids", () => hideCells(file, "log_id")],
  ["a page that cannot be read", () => breakPage(file, "log_revision")],
] as const;

describe.each(damages)("after a check that found damage (%s)", (_, damage) => {
  test.each([
    ["in the calling thread", {}],
    ["in a separate process", { directCheckBytesMax: 0 }],
  ])("the log does not use its indexes after a check made %s", async (_where, options) => {
    damage();
    await withLog(options, async (log) => {
      await expect(log.checkIndexes?.()).rejects.toMatchObject({
        code: "unreadable",
        message: expect.stringContaining("do not match its tables"),
        hint: expect.stringMatching(fix),
      });
      await expect(log.readStream(streams[0] ?? "", revision(0), { limit: 5 })).rejects.toThrow(
        "do not match",
      );
      await expect(log.listStreams("entity-", { limit: 5 })).rejects.toThrow("do not match");
      await expect(append(log, "entity-urn:li:tag:new", 90)).rejects.toMatchObject({
        code: "unavailable",
        hint: expect.stringMatching(fix),
      });
      expect(log.trouble?.()).toMatch(fix);
      await expect(log.checkIndexes?.({ maxAgeMs: 60_000 })).rejects.toThrow("do not match");
      // Reads in log order need no index.
      expect(await readAll(log)).toHaveLength(80);
    });
  });

  test("a repair restores all streams, and the log accepts appends", async () => {
    damage();
    expect(findIndexDamage(file)).toBeDefined();
    expect(repairIndexes(file)).toBe(80);
    expect(findIndexDamage(file)).toBeUndefined();
    expect(readdirSync(directory.path).join()).not.toContain("repaired");
    await withLog({}, async (log) => {
      expect(log.id).toBe(id);
      await log.checkIndexes?.();
      for (const [n, stream] of streams.entries()) {
        expect(await log.readStream(stream, revision(0), { limit: 5 })).toHaveLength(2);
        expect(await append(log, stream, n)).toMatchObject([{ repeated: true }]);
      }
      expect(await append(log, hidden, 91)).toMatchObject([{ revision: 2 }]);
      expect(log.trouble?.()).toBeUndefined();
    });
  });
});

test("readers in other threads share the state of the log that appends", async () => {
  await withLog({}, async (log) => {
    await withLog({ readOnly: true, indexState: log.indexState }, async (reader) => {
      await log.checkIndexes?.();
      expect(await reader.readStream(hidden, revision(0), { limit: 5 })).toHaveLength(2);
    });
  });
  hideCells(file, "log_revision");
  await withLog({}, async (log) => {
    await withLog({ readOnly: true, indexState: log.indexState }, async (reader) => {
      await expect(log.checkIndexes?.()).rejects.toThrow("do not match");
      await expect(reader.readStream(hidden, revision(0), { limit: 5 })).rejects.toMatchObject({
        code: "unreadable",
      });
    });
  });
});

describe("after a check of the names alone", () => {
  const withNamesChecked = <T>(use: (log: ChangeLog) => Promise<T>): Promise<T> => {
    const state = createIndexState(file);
    state.setSoundNames();
    return withLog({ indexState: state.shared }, use);
  };

  test("a stream whose revisions an index lacks is found in the table", async () => {
    // Hides those of the last streams.
    hideCells(file, "log_revision");
    const last = streams.at(-1) ?? "";
    await withNamesChecked(async (log) => {
      await expect(log.readStream(last, revision(0), { limit: 5 })).rejects.toMatchObject({
        code: "unreadable",
        message: expect.stringContaining(`an index lacks stream "${last}"`),
      });
    });
  });

  test("new streams are created, and the check of all indexes follows", async () => {
    await withNamesChecked(async (log) => {
      expect(await append(log, "entity-urn:li:tag:new", 90)).toMatchObject([{ revision: 0 }]);
      expect(await log.readStream("entity-urn:li:tag:none", revision(0), { limit: 5 })).toEqual([]);
      await log.checkIndexes?.();
    });
  });

  test("damage that was found before stays known", async () => {
    hideCells(file, "log_revision");
    const state = createIndexState(file);
    await withLog({ indexState: state.shared }, async (log) => {
      await expect(log.checkIndexes?.()).rejects.toThrow("do not match");
      state.setSoundNames();
      expect(state.hasSoundNames()).toBe(false);
      await expect(log.readStream(hidden, revision(0), { limit: 5 })).rejects.toThrow(
        "do not match",
      );
    });
  });
});

test("closing the log ends a check in a separate process", async () => {
  const log = await openSqliteChangeLog({ file, directCheckBytesMax: 0 });
  const checking = log.checkIndexes?.();
  const rejected = expect(checking).rejects.toMatchObject({ code: "unavailable" });
  await log.close();
  await rejected;
});

describe("a repair changes nothing", () => {
  test.each([
    ["where a row is damaged", () => flipText(file, "log", "record 139"), /position 80/],
    ["where the name of a stream is damaged", () => flipText(file, "stream", hidden), /position 8/],
    ["where the table lacks its last rows", () => hideCells(file, "log"), /the table lacks it/],
  ])("a repair changes nothing: %s", async (_, damage, why) => {
    damage();
    expect(() => repairIndexes(file)).toThrow(
      expect.objectContaining({
        code: "unreadable",
        message: expect.stringMatching(why),
        hint: expect.stringContaining("Restore the log from a backup"),
      }),
    );
  });
});

test("a log without checksums, as the first releases wrote it, passes a check", () => {
  const database = new DatabaseSync(file);
  database.exec("ALTER TABLE log DROP COLUMN crc");
  database.close();
  expect(findIndexDamage(file)).toBeUndefined();
});

test("a dropped index is reported as damage", () => {
  const database = new DatabaseSync(file);
  database.exec("DROP INDEX log_id");
  database.close();
  expect(findIndexDamage(file)).toMatch(/log_id/);
});
