import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position, revision, START } from "../../../src/core/position.ts";
import type { ChangeLog, LogRecord } from "../../../src/log/change-log.ts";
import { openSqliteChangeLog } from "../../../src/log/sqlite/sqlite-change-log.ts";
import { entry, idOf, readEverything, text } from "../../contract/change-log-driver.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary-directory.ts";

let directory: TemporaryDirectory;
let file: string;
let log: ChangeLog;
beforeEach(async () => {
  directory = temporaryDirectory("annals-scavenging");
  file = join(directory.path, "log.sqlite");
  log = await openSqliteChangeLog({ file });
});
afterEach(async () => {
  await log.close();
  directory[Symbol.dispose]();
});

const scavenge = async (records: readonly LogRecord[]) => {
  if (log.scavenge === undefined) throw new Error("it cannot be scavenged");
  return log.scavenge(records);
};
const emptied = (records: readonly LogRecord[]) =>
  records.map((record) => ({ ...record, data: Buffer.from("-") }));
const large = (n: number) => `secret ${n} `.repeat(300);

function pragma(name: "freelist_count" | "page_count"): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  } finally {
    database.close();
  }
}

describe("scavenged records", () => {
  test("scavenged records keep their positions, order, streams and ids, and others are unchanged", async () => {
    const id = idOf(7);
    await log.append([{ ...entry("a", "any", "a0", large(1), "a2"), id }, entry("b", "any", "b0")]);
    await log.append([entry("a", "any", large(3))]);
    const before = await readEverything(log);
    const gone = before.filter((record) => text(record).startsWith("secret"));
    expect(await scavenge(emptied(gone))).toEqual({
      records: 2,
      bytes: expect.closeTo(text(gone[0] as LogRecord).length * 2 - 2, -1),
    });
    const after = before.map((record) => (gone.includes(record) ? emptied([record])[0] : record));
    expect(await readEverything(log)).toEqual(after);
    expect(await log.readStream("a", revision(1), { limit: 1 })).toEqual([after[1]]);
    const backward = await log.readAll("end", { limit: 9, backward: true });
    expect(backward).toEqual(after.toReversed());
    expect(await log.append([{ ...entry("a", "any", "again"), id }])).toMatchObject([
      { position: 3, revision: 2, repeated: true },
    ]);
    expect(await log.append([entry("a", 3, "a4")])).toMatchObject([{ position: 6, revision: 4 }]);
  });

  test("scavenging records again changes nothing", async () => {
    await log.append([entry("a", "any", large(0))]);
    const records = emptied(await readEverything(log));
    expect(await scavenge(records)).toMatchObject({ records: 1 });
    expect(await scavenge(records)).toEqual({ records: 0, bytes: 0 });
    expect(await scavenge([])).toEqual({ records: 0, bytes: 0 });
  });

  test("scavenging frees pages for the next appends, and removes the values from the file", async () => {
    const append = async () => {
      for (let n = 0; n < 400; n += 100) {
        await log.append(
          Array.from({ length: 100 }, (_, i) => entry(`s${n + i}`, "any", large(n + i))),
        );
      }
    };
    await append();
    await scavenge(emptied(await readEverything(log)));
    const [pages, free] = [pragma("page_count"), pragma("freelist_count")];
    expect(free).toBeGreaterThan(pages * 0.8);
    await append();
    expect(pragma("page_count")).toBeLessThan(pages * 1.2);
    await log.close();
    expect(readFileSync(file, "latin1")).toContain("secret 7 secret 7 ");
    log = await openSqliteChangeLog({ file });
    expect(await log.head()).toBe(800);
    const before = emptied(await readEverything(log));
    await scavenge(before);
    await log.close();
    expect(readFileSync(file, "latin1")).not.toContain("secret 7 secret 7 ");
    const database = new DatabaseSync(file);
    database.exec("VACUUM");
    database.close();
    log = await openSqliteChangeLog({ file });
    expect(pragma("page_count")).toBeLessThan(pages * 0.2);
    expect(await readEverything(log)).toEqual(before);
  });

  test("scavenging a record of an append checks the other records of the append for damage", async () => {
    await log.append([entry("a", "any", large(0), large(1))]);
    await log.append([entry("b", "any", large(2))]);
    const [first, , third] = await readEverything(log);
    const records = emptied([first, third] as LogRecord[]);
    await log.close();
    const database = new DatabaseSync(file);
    database.exec("UPDATE log SET data = CAST(replace(data, 'secret 1', 'sacred 1') AS BLOB)");
    database.close();
    log = await openSqliteChangeLog({ file });
    await expect(scavenge(records)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("damaged at position 1"),
    });
    // The damaged record is still damaged, and the other record is unchanged.
    await expect(log.readAll(START, { limit: 2 })).rejects.toMatchObject({
      message: expect.stringContaining("damaged at position 1"),
    });
    expect(await log.readAll(position(2), { limit: 9 })).toEqual([third]);
    await log.append([entry("c", "any", "it goes on")]);
  });

  test("open readers and tails see scavenged records", async () => {
    await log.append([entry("a", "any", large(0)), entry("a", "any", large(1))]);
    const other = await openSqliteChangeLog({ file, readOnly: true });
    try {
      expect(await readEverything(other)).toHaveLength(2);
      await scavenge(emptied(await readEverything(log)));
      expect((await readEverything(other)).map(text)).toEqual(["-", "-"]);
      await expect(other.scavenge?.([])).rejects.toMatchObject({ code: "unavailable" });
    } finally {
      await other.close();
    }
  });
});

describe("scavenging in progress", () => {
  test("appends of all kinds continue in order during scavenging", async () => {
    for (let n = 0; n < 10; n++) {
      await log.append(
        Array.from({ length: 300 }, (_, i) => entry(`s${i % 7}`, "any", large(n * 300 + i))),
      );
    }
    const records = emptied(await readEverything(log));
    let ended = false;
    const scavenged = scavenge(records).finally(() => {
      ended = true;
    });
    let appended = 0;
    while (!ended) {
      const [one] = await log.append([entry("busy", appended - 1, `busy ${appended}`)]);
      expect(one).toMatchObject({ position: 3_001 + appended, revision: appended });
      appended++;
    }
    expect(await scavenged).toMatchObject({ records: 3_000 });
    expect(appended).toBeGreaterThan(0);
    const after = await readEverything(log);
    expect(after.slice(0, 3_000)).toEqual(records);
    expect(after.slice(3_000).map(text)).toEqual(
      Array.from({ length: appended }, (_, n) => `busy ${n}`),
    );
  });

  test("closing the log during scavenging keeps the finished part and leaves the rest unchanged", async () => {
    for (let n = 0; n < 5; n++) {
      await log.append(
        Array.from({ length: 400 }, (_, i) => entry(`s${i}`, "any", large(n * 400 + i))),
      );
    }
    const before = await readEverything(log);
    const scavenged = scavenge(emptied(before));
    const rejected = expect(scavenged).rejects.toMatchObject({ code: "unavailable" });
    await log.close();
    await rejected;
    log = await openSqliteChangeLog({ file });
    const after = await readEverything(log);
    const done = after.filter((record) => text(record) === "-").length;
    expect(done).toBeLessThan(2_000);
    expect(after.slice(done)).toEqual(before.slice(done));
    expect(await scavenge(emptied(before))).toMatchObject({ records: 2_000 - done });
  });
});

test("a log of an early release without checksums can be scavenged", async () => {
  await log.append([entry("a", "any", large(0)), entry("b", "any", "b")]);
  await log.close();
  const database = new DatabaseSync(file);
  database.exec("ALTER TABLE log DROP COLUMN crc");
  database.close();
  log = await openSqliteChangeLog({ file });
  const [first, second] = await readEverything(log);
  await scavenge(emptied([first as LogRecord]));
  expect(await readEverything(log)).toEqual([...emptied([first as LogRecord]), second]);
});
