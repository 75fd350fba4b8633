/**
 * The rows of an entity: its aspects with the time of their last change, from the log. A deleted
 * aspect has a row, too, which is not current.
 */
import { entityStream, timeseriesStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { changesOf } from "../../log/whole-reads.ts";

export interface RestoredRow {
  readonly aspect: string;
  readonly entityType: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly current: boolean;
}

/**
 * By aspect, in byte order. Of timeseries aspects only those in `timeseries` have a row, when they
 * have an event.
 */
export async function entityRows(
  log: Pick<ChangeLog, "readStream">,
  urn: string,
  options: {
    readonly timeseries: readonly string[];
    readonly keyAspectOf: (entityType: string) => string | undefined;
  },
): Promise<readonly RestoredRow[]> {
  const rows = new Map<string, RestoredRow>();
  for await (const change of changesOf(log, decodeRecord, entityStream(urn))) {
    if (change.changeType === "RESTATE") continue;
    const { aspect, entityType, created } = change;
    const current = change.changeType === "UPSERT";
    const ends = !current && options.keyAspectOf(entityType) === aspect;
    for (const row of ends ? [...rows.values()] : []) {
      if (row.current) rows.set(row.aspect, { ...row, time: created.time, current });
    }
    rows.set(aspect, { aspect, entityType, time: created.time, current });
  }
  for (const aspect of options.timeseries) {
    const stream = timeseriesStream(urn, aspect);
    const [record] = await log.readStream(stream, "end", { limit: 1, backward: true });
    const change = record && readable(decodeRecord, record);
    if (change === undefined) continue;
    rows.set(aspect, {
      aspect,
      entityType: change.entityType,
      time: change.created.time,
      current: true,
    });
  }
  return [...rows.values()].sort((a, b) => (a.aspect < b.aspect ? -1 : 1));
}
