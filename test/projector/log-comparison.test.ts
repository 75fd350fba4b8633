/** A replaced log stops the views that another log fed. */
import { cpSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { startProjector } from "../../src/projector/projector.ts";
import type { Projector, ProjectorParts } from "../../src/projector/projector-parts.ts";
import type { View } from "../../src/projector/sink.ts";
import { entry } from "../contract/change-log-driver.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";
import { createRecordingView, decode, type RecordingView } from "./array-log.ts";

let directory: TemporaryDirectory;
let file: string;
let backup: string;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  directory = temporaryDirectory("annals-compared");
  file = join(directory.path, "log.sqlite");
  backup = join(directory.path, "backup.sqlite");
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  directory[Symbol.dispose]();
});

/** Appends to the log in a file without another writer. */
async function append(path: string, ...texts: readonly string[]): Promise<void> {
  const log = await openSqliteChangeLog({ file: path });
  for (const text of texts) await log.append([entry("some", "any", text)]);
  await log.close();
}

/** A view that stores the names of records. */
function namingView(): RecordingView {
  const view = createRecordingView("named");
  const { apply } = view.sink;
  let name: string | undefined;
  return Object.assign(view, {
    sink: {
      ...view.sink,
      async apply(writes: readonly never[], upTo: never, record?: string) {
        await apply(writes, upTo);
        name = record;
      },
      lastRecord: async () => name,
    },
  });
}

async function start(
  view: RecordingView,
  options: Partial<ProjectorParts> & { readonly noticing?: boolean } = {},
) {
  // Like a log in a server, it does not notice that its file is replaced.
  const { replaced, ...log } = await openSqliteChangeLog({ file, readOnly: true });
  closing.push(() => log.close());
  const projector = await startProjector({
    ...{ log: options.noticing ? { ...log, replaced } : log, decode, onProgress: () => {} },
    views: [view as unknown as View],
    openLog: () => openSqliteChangeLog({ file, readOnly: true }),
    ...{ retryMs: { first: 1, max: 4 }, idleMs: 2, compareMs: 20 },
    ...options,
  });
  closing.push(() => projector.stop());
  return projector;
}

const soon = <T>(check: () => T) => vi.waitFor(check, { timeout: 60_000, interval: 5 });
const errorOf = (projector: Projector) => projector.progress().named?.error;

/** Replaces the log file with that of another log. */
const replaceLog = (by: string): void => {
  cpSync(by, `${by}.copy`);
  renameSync(`${by}.copy`, file);
};

const mismatch = /does not hold the record at position 3 of stream "some", which the view "named"/;
const recovery = /restore the newer log; or, if this log is the right one, run: .* rebuild/;

describe("a log that is replaced by an older copy", () => {
  test.each([
    { relation: "which ends before the view", more: [] },
    { relation: "with as many records as the view", more: ["other"] },
    { relation: "with more records than the view", more: ["other", "more", "and more"] },
  ])(
    "an older copy $relation stops the view while it runs, until the newer log is back",
    async ({ more }) => {
      await append(file, "one", "two");
      cpSync(file, backup);
      await append(backup, ...more);
      await append(file, "three");
      const newer = join(directory.path, "newer.sqlite");
      cpSync(file, newer);
      const view = namingView();
      const projector = await start(view);
      await soon(() => expect(projector.progress().named?.position).toBe(3));

      replaceLog(backup);
      await soon(() => expect(errorOf(projector)).toMatch(mismatch));
      expect(errorOf(projector)).toMatch(recovery);
      await expect(projector.restore(["urn:li:tag:a"])).rejects.toThrow(mismatch);

      replaceLog(newer);
      await soon(() => expect(errorOf(projector)).toBeUndefined());
    },
  );

  test("another file with the same records stops the view, until the file is back", async () => {
    await append(file, "one", "two");
    const projector = await start(namingView(), { noticing: true });
    await soon(() => expect(projector.progress().named?.position).toBe(2));
    cpSync(file, backup);
    const own = `${file}.own`;
    renameSync(file, own);
    renameSync(backup, file);
    await soon(() => expect(errorOf(projector)).toMatch(/was replaced or deleted/));
    renameSync(own, file);
    await soon(() => expect(errorOf(projector)).toBeUndefined());
  });

  test("an older copy with more records than the view prevents the start", async () => {
    await append(file, "one", "two");
    cpSync(file, backup);
    await append(backup, "other", "more");
    await append(file, "three");
    const view = namingView();
    const projector = await start(view);
    await soon(() => expect(projector.progress().named?.position).toBe(3));
    await projector.stop();
    expect(view.at).toBe(3);
    replaceLog(backup);
    await expect(start(view)).rejects.toThrow(mismatch);
  });
});

test("a view is compared with the log before it continues after a failure of the log", async () => {
  await append(file, "one", "two");
  cpSync(file, backup);
  await append(backup, "other", "more");
  await append(file, "three");
  const opened = await openSqliteChangeLog({ file, readOnly: true });
  closing.push(() => opened.close());
  let reading = opened;
  let failure: Error | undefined;
  const log = {
    ...opened,
    replaced: undefined,
    readAll: (...args: Parameters<typeof opened.readAll>) =>
      failure === undefined ? reading.readAll(...args) : Promise.reject(failure),
  };
  const view = namingView();
  const openLog = async () => {
    if (failure !== undefined) throw failure;
    return openSqliteChangeLog({ file, readOnly: true });
  };
  const projector = await start(view, { log, openLog, compareMs: 3_600_000 });
  await soon(() => expect(projector.progress().named?.position).toBe(3));

  failure = new Error("the connection is lost");
  await soon(() => expect(errorOf(projector)).toMatch(/connection is lost/));
  replaceLog(backup);
  reading = await openSqliteChangeLog({ file, readOnly: true });
  closing.push(() => reading.close());
  failure = undefined;
  await soon(() => expect(errorOf(projector)).toMatch(mismatch));
  // The view did not apply the fourth record of the copy after its own third record.
  expect(projector.progress().named?.position).toBe(3);
});
