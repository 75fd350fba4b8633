/** How long a search after a write waits for the search view, on logs with both kinds of positions. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { soonReached } from "../../../src/catalog/search/soon-found.ts";
import { CatalogError } from "../../../src/core/errors.ts";
import { type Position, START } from "../../../src/core/position.ts";
import type { ChangeLog } from "../../../src/log/change-log.ts";
import { openEventStoreChangeLog } from "../../../src/log/eventstoredb/eventstore-change-log.ts";
import { openSqliteChangeLog } from "../../../src/log/sqlite/sqlite-change-log.ts";
import { startEventStoreServer } from "../../support/eventstoredb-server/server.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const logs: Readonly<Record<string, () => Promise<readonly [ChangeLog, () => Promise<void>]>>> = {
  async embedded() {
    const directory = temporaryDirectory();
    const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
    return [log, async () => directory[Symbol.dispose]()];
  },
  async eventstoredb() {
    const server = await startEventStoreServer();
    const log = await openEventStoreChangeLog({ connection: server.address });
    return [log, () => server.stop()];
  },
};

describe.each(Object.keys(logs))("on the %s log", (kind) => {
  let log: ChangeLog;
  let stop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const open = logs[kind];
    if (open !== undefined) [log, stop] = await open();
  });
  afterAll(async () => {
    await log?.close();
    await stop?.();
  });

  async function append(records: number): Promise<Position> {
    const record = new Uint8Array(100);
    for (let left = records; left > 0; left -= 100) {
      const some = Array.from({ length: Math.min(left, 100) }, () => record);
      await log.append([{ stream: "entity-urn:li:tag:a", expected: "any", records: some }]);
    }
    return log.head();
  }

  /** Whether a search waits while the search view is at a position. */
  async function waits(at: Position, wanted: Position): Promise<boolean> {
    const asked: Position[] = [];
    const progress = {
      positions: () => ({ search: at }),
      async reached(_: string, upTo: Position) {
        asked.push(upTo);
        throw new CatalogError("unavailable", "the view does not come so far in time");
      },
    };
    await soonReached("search", wanted, { log, progress });
    return asked.includes(wanted);
  }

  test("a search waits for a view that is a few records behind, and not for one further behind", async () => {
    const before = await append(100);
    const after = await append(20);
    expect(await waits(before, after)).toBe(true);
    expect(await waits(after, after)).toBe(false);
    expect(await waits(START, after)).toBe(true);
    const last = await append(800);
    expect(await waits(after, last)).toBe(false);
  });
});
