/** Commands on a data directory without a service: print its log, copy it. */
import { resolve } from "node:path";
import type { LoggedRecord, LogQuery, ProcessOperations } from "../../cli/operations.ts";
import type { Config } from "../../config/config.ts";
import { embedded } from "../../config/kinds.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, type Revision, START } from "../../core/position.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { copyLog } from "../../log/copy-log.ts";
import { checkNamespace, writtenNamespace } from "../../log/written-namespace.ts";
import {
  lockData,
  openLog,
  openLogReader,
  repairIndexes,
  requireLog,
  requireWholeLog,
} from "../open-log.ts";
import { sharedLog } from "../store-locations.ts";

/** Records a page of `annals log` holds. */
const logPageMax = 500;

/** Operations.readLog. */
export async function* readLog(
  config: Config,
  query: LogQuery,
): AsyncIterable<readonly LoggedRecord[]> {
  requireLog(config);
  const log = await openLogReader(config);
  try {
    await requireBeforeEnd(query, log);
    let left = query.limit;
    /** Records without a change (those of jobs, for example): neither printed nor counted. */
    let skipped = 0;
    let place: number | "end" = startOf(query);
    while (left > 0) {
      const options = { limit: Math.min(left + skipped, logPageMax), backward: query.backward };
      const page =
        query.stream === undefined
          ? await log.readAll(place as Position | "end", options)
          : await log.readStream(query.stream, place as Revision | "end", options);
      const last = page.at(-1);
      if (last === undefined) return;
      const changes = page.flatMap((record) => {
        const change = readable(decodeRecord, record);
        return change === undefined ? [] : [{ ...record, change }];
      });
      yield changes.slice(0, left);
      left -= changes.length;
      skipped += page.length - changes.length;
      if (query.stream === undefined) place = last.position;
      else place = last.revision + (query.backward ? -1 : 1);
      if (place < 0) return;
    }
  } finally {
    await log.close();
  }
}

/** Throws `invalid` for a position after the last record, after which there is nothing to read. */
async function requireBeforeEnd(
  { from, stream, backward }: LogQuery,
  log: Pick<ChangeLog, "head">,
): Promise<void> {
  if (from === undefined || stream !== undefined || backward) return;
  const head = await log.head();
  if (from <= head) return;
  throw new CatalogError(
    "invalid",
    `position ${from} is after the end of the log, which is position ${head}`,
    { hint: "Name an earlier position with --from" },
  );
}

function startOf({ from, stream, backward }: LogQuery): number | "end" {
  if (from !== undefined) return from;
  if (backward) return "end";
  return stream === undefined ? START : 0;
}

/** Operations.repairIndexes. */
export const repairLogIndexes: ProcessOperations["repairIndexes"] = async (config) => {
  if (sharedLog(config)) {
    throw new CatalogError("invalid", "--repair-indexes applies only to the embedded log", {
      hint: "Leave out --repair-indexes",
    });
  }
  requireLog(config);
  const lock = lockData(config);
  try {
    requireWholeLog(config);
    return { records: repairIndexes(config) };
  } finally {
    lock.release();
  }
};

/** Operations.copyLog. */
export const copyLogTo: ProcessOperations["copyLog"] = async (config, { to, onProgress }) => {
  requireLog(config);
  const isUrl = /^[a-z+]+:\/\//.test(to);
  // A log in a server stores its index of stream names in the data directory of the node.
  const data = isUrl || to === embedded ? config.data : resolve(to);
  const target = { data, log: isUrl ? to : embedded };
  if (target.data === config.data && target.log === config.log) {
    throw new CatalogError("invalid", `"${to}" is the location of the log itself`, {
      hint: "Name another location with --to",
    });
  }
  await using opened = new AsyncDisposableStack();
  for (const data of new Set([config.data, target.data])) {
    const lock = lockData({ data });
    opened.defer(() => lock.release());
  }
  requireWholeLog(config);
  const from = opened.adopt(await openLogReader(config), (log) => log.close());
  const other = opened.adopt(await openLog(target), (log) => log.close());
  await other.checkIndexes?.();
  await checkNamespace(other, (await writtenNamespace(from)) ?? config.urnNamespace, to);
  return await copyLog(from, other, ({ position, head }) => onProgress(position, head));
};
