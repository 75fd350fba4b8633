/** The log state that a health check reports: the last failure, until an append succeeds or time passes. */
import { beforeEach, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position, revision } from "../../src/core/position.ts";
import { type Append, type ChangeLog, WrongRevision } from "../../src/log/change-log.ts";
import { troubleMsMax, type WatchedLog, watchLog } from "../../src/log/log-health.ts";

const appends = [{} as Append];
const full = new CatalogError("unavailable", "disk full", { hint: "Make room" });

let outcome: Error | undefined;
let time: number;
let log: WatchedLog;

beforeEach(() => {
  outcome = undefined;
  time = 1_000;
  const inner: Pick<ChangeLog, "append" | "head"> = {
    append: async () => {
      if (outcome !== undefined) throw outcome;
      return [{ position: position(1), revision: revision(0), repeated: false }];
    },
    head: async () => position(7),
  };
  log = watchLog(inner as ChangeLog, () => time);
});

async function appendWith(error: Error | undefined): Promise<void> {
  outcome = error;
  const appending = log.append(appends);
  if (error === undefined) await appending;
  else await expect(appending).rejects.toBe(error);
}

test("a log is in trouble from a failed append to the next successful one", async () => {
  expect(log.trouble()).toBeUndefined();
  await appendWith(full);
  expect(log.trouble()).toBe("disk full");
  await appendWith(undefined);
  expect(log.trouble()).toBeUndefined();
});

test("a failure is dropped if it does not occur again for a while", async () => {
  await appendWith(full);
  time += troubleMsMax - 1;
  expect(log.trouble()).toBe("disk full");
  time += 1;
  expect(log.trouble()).toBeUndefined();
});

test.each([
  new CatalogError("too_large", "a record has 18 bytes; at most 17 are allowed"),
  new WrongRevision("entity-urn:li:tag:a", revision(1), revision(2)),
])("a log is not in trouble after an error of the caller: $message", async (error) => {
  await appendWith(error);
  expect(log.trouble()).toBeUndefined();
});

test("other calls are passed through", async () => {
  expect(await log.head()).toBe(7);
});
