import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { backUpLog } from "../../../src/log/sqlite/back-up.ts";
import { openSqliteChangeLog } from "../../../src/log/sqlite/sqlite-change-log.ts";
import { entry } from "../../contract/change-log-driver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a copy is the log at a single position, also when records are appended between its steps", async () => {
  using directory = temporaryDirectory("annals-back-up");
  const file = join(directory.path, "log.sqlite");
  const copy = join(directory.path, "copy.sqlite");
  const log = await openSqliteChangeLog({ file });
  for (let n = 0; n < 30; n++) await log.append([entry("large", "any", "x".repeat(600_000))]);
  const appends: Promise<unknown>[] = [];
  const steps: number[] = [];
  const position = await backUpLog(file, copy, (done, total) => {
    steps.push(done / total);
    appends.push(log.append([entry("later", "any", `${done}`)]));
  });
  await Promise.all(appends);
  expect(steps.length).toBeGreaterThan(1);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(position).toBe(30);
  expect(await log.head()).toBe(30 + appends.length);

  const copied = await openSqliteChangeLog({ file: copy, readOnly: true });
  expect(copied.id).toBe(log.id);
  expect(await copied.readAll(position, { limit: 1 })).toEqual([]);
  expect(await copied.readAll(29 as typeof position, { limit: 9 })).toMatchObject([{ position }]);
  await copied.checkIndexes?.();
  await copied.close();
  await log.close();
});

test("a target that cannot be written is an error with the path of the log", async () => {
  using directory = temporaryDirectory("annals-back-up");
  const file = join(directory.path, "log.sqlite");
  const log = await openSqliteChangeLog({ file });
  await log.append([entry("one", "any", "x")]);
  writeFileSync(join(directory.path, "taken"), "");
  const target = join(directory.path, "taken", "copy.sqlite");
  await expect(backUpLog(file, target, () => {})).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining(file),
  });
  await log.close();
});
