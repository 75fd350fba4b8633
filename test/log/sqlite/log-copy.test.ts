/** The temporary copy of a log, ordered by stream. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { revision } from "../../../src/core/position.ts";
import type { LogRecord } from "../../../src/log/change-log.ts";
import { copyByStream } from "../../../src/log/sqlite/log-copy.ts";
import { openSqliteChangeLog } from "../../../src/log/sqlite/sqlite-change-log.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const texts = (pages: readonly (readonly LogRecord[] | undefined)[] | undefined) =>
  pages?.map((page) =>
    page?.map((record) => ({ ...record, data: String(Buffer.from(record.data)) })),
  );

test("a copy returns the records of streams as the log does, including records appended later", async () => {
  using directory = temporaryDirectory("annals-log-copy");
  const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  const append = (stream: string, ...records: string[]) =>
    log.append([{ stream, expected: "any", records: records.map(bytes) }]);
  await append("entity-a", "a0", "a1");
  await append("entity-b", "b0");
  await append("entity-a", "a2");
  const readStream = vi.fn(log.readStream);
  const copy = copyByStream({ ...log, readStream }, directory.path);
  const streams = ["entity-a", "entity-b", "entity-unknown"];
  const expected = async (limit: number) =>
    Promise.all(streams.map((stream) => log.readStream(stream, revision(0), { limit })));
  for (const limit of [1, 2, 10]) {
    const pages = await copy.readBeginnings?.(streams, { limit });
    expect(texts(pages)).toEqual(texts(await expected(limit)));
  }
  await append("entity-b", "b1");
  const later = [await copy.readStream("entity-b", revision(1), { limit: 5 })];
  expect(texts(later)).toEqual(
    texts([await log.readStream("entity-b", revision(1), { limit: 5 })]),
  );
  expect(readStream).not.toHaveBeenCalled();
  await copy.close();
});

test("a read of a copy ends although others append during each read of the log", async () => {
  using directory = temporaryDirectory("annals-log-copy");
  const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  const append = () => log.append([{ stream: "entity-a", expected: "any", records: [bytes("a")] }]);
  await append();
  let reads = 0;
  const readAll: typeof log.readAll = async (...args) => {
    if (++reads > 100) throw new Error("the read does not end");
    await append();
    return log.readAll(...args);
  };
  const copy = copyByStream({ ...log, readAll }, directory.path);
  const page = await copy.readStream("entity-a", revision(0), { limit: 10 });
  expect(page.length).toBeGreaterThanOrEqual(1);
  await copy.close();
});

test("a copy leaves no file in the directory", async () => {
  using directory = temporaryDirectory("annals-log-copy");
  using copies = temporaryDirectory("annals-log-copy");
  const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  const copy = copyByStream(log, copies.path);
  await copy.readStream("entity-a", revision(0), { limit: 1 });
  expect(readdirSync(copies.path)).toEqual([]);
  await copy.close();
  expect(readdirSync(copies.path)).toEqual([]);
});

test("a page ends with the record that exceeds its bytes, and the error for a missing directory has a cause", async () => {
  using directory = temporaryDirectory("annals-log-copy");
  const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  const large = new Uint8Array(9_000_000);
  for (let n = 0; n < 3; n++) {
    await log.append([{ stream: "entity-a", expected: "any", records: [large] }]);
  }
  const missing = join(directory.path, "missing");
  expect(() => copyByStream(log, missing)).toThrow("the log cannot be copied");
  const copy = copyByStream(log, directory.path);
  const page = await copy.readStream("entity-a", revision(0), { limit: 10 });
  expect(page.map((record) => record.revision)).toEqual([0, 1]);
  const [first, second] =
    (await copy.readBeginnings?.(["entity-a", "entity-b"], { limit: 10 })) ?? [];
  expect(first).toHaveLength(2);
  expect(second).toBeUndefined();
  await copy.close();
});
