/** What a health check is told of a log: its last failure, for as long as that means something. */
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

test("is in trouble from a failed append to the next one that succeeds", async () => {
  expect(log.trouble()).toBeUndefined();
  await appendWith(full);
  expect(log.trouble()).toBe("disk full");
  await appendWith(undefined);
  expect(log.trouble()).toBeUndefined();
});

test("forgets a failure that nobody has met again for long", async () => {
  await appendWith(full);
  time += troubleMsMax - 1;
  expect(log.trouble()).toBe("disk full");
  time += 1;
  expect(log.trouble()).toBeUndefined();
});

test.each([
  new CatalogError("too_large", "a record has 18 bytes of at most 17"),
  new WrongRevision("entity-urn:li:tag:a", revision(1), revision(2)),
])("is not in trouble by what is the caller's own: $message", async (error) => {
  await appendWith(error);
  expect(log.trouble()).toBeUndefined();
});

test("passes everything else on", async () => {
  expect(await log.head()).toBe(7);
});
