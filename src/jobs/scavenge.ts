/**
 * Scavenging: permanently removes the values of truncated timeseries events from the log. The log
 * keeps the position, actor, time and run of each event.
 *
 * A truncation covers an event of its aspect if it has a later position and a time range with the
 * event. Both are in the log, and a scavenged record is no longer an event, so the work is
 * idempotent.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Caller } from "../catalog/catalog.ts";
import type { PlacedChange } from "../core/change.ts";
import { CatalogError } from "../core/errors.ts";
import { doneOf } from "../core/job-counts.ts";
import { type Position, position, START } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import { type ChangeLog, type LogRecord, recordsBetween } from "../log/change-log.ts";
import { decodeRecord, encodeChange } from "../log/codecs/record-codec.ts";
import { readable } from "../log/codecs/try-decode.ts";
import { isScavenged, scavengedChange } from "../log/scavenged.ts";
import { recordsOf, streamNames } from "../log/whole-reads.ts";
import type { Projection } from "../projector/sink.ts";
import type { TimeseriesWrite } from "../views/timeseries/timeseries-table.ts";
import type { Jobs, JobWork, OperationResult } from "./jobs.ts";

export interface ScavengeRequest {
  /** True when absent. */
  readonly dryRun?: boolean | undefined;
}

interface Dependencies {
  readonly log: Pick<
    ChangeLog,
    "readAll" | "readStream" | "listStreams" | "countBetween" | "scavenge"
  >;
  /** Projection of the timeseries view. */
  readonly project: Projection<TimeseriesWrite>;
  /** Waits until the timeseries view has reached the current head of the log. */
  readonly caughtUp: () => Promise<void>;
  /** True while views are rebuilt. */
  readonly rebuilding: () => Promise<boolean>;
  readonly logger: { info(fields: object, message: string): void };
}

/** Records read at once: some milliseconds. */
const PAGE_MAX = 200;
/** Interval of checks for running rebuilds. */
const REBUILD_CHECK_MS = 100;
/** The pause after a page is as long as the page took, and longer in a busy process. */
const BUSY_PARTS = 2;
const BUSY_SHARE_MIN = 0.3;
const REST_MS_MAX = 50;

type Truncation = Extract<TimeseriesWrite, { readonly op: "truncate" }>;

/** The events that truncations cover. */
interface TruncationCover {
  /** Position of the last truncation; START without one. */
  readonly end: Position;
  /** The replacement of a record; undefined when the record stays unchanged. */
  replaced(record: LogRecord): LogRecord | undefined;
}

interface Found {
  readonly records: number;
  readonly bytes: number;
}

export function createScavenges({ log, project, caughtUp, rebuilding, logger }: Dependencies) {
  let counting: Promise<Found> | undefined;

  async function readCover(): Promise<TruncationCover> {
    const byAspect = new Map<string, Truncation[]>();
    let end = START;
    for await (const change of truncations()) {
      for (const write of project(change)) {
        if (write.op !== "truncate") continue;
        const found = byAspect.get(write.aspect) ?? [];
        byAspect.set(write.aspect, [...found, write]);
        if (write.position > end) end = position(write.position);
      }
    }
    return { end, replaced: (record) => replacedBy(byAspect, record) };
  }

  async function* truncations(): AsyncIterable<PlacedChange> {
    for await (const name of streamNames(log, "truncation-")) {
      for await (const record of recordsOf(log, name)) {
        const change = decodeRecord(record);
        if (change !== undefined) yield change;
      }
    }
  }

  function replacedBy(
    byAspect: ReadonlyMap<string, readonly Truncation[]>,
    record: LogRecord,
  ): LogRecord | undefined {
    const of = parseStream(record.stream);
    const bearing = of?.kind === "timeseries" ? byAspect.get(of.aspect) : undefined;
    if (!bearing?.some((truncation) => truncation.position > record.position)) return undefined;
    const event = readable(decodeRecord, record);
    const [write] = event === undefined ? [] : events(event);
    if (event === undefined || write === undefined) return undefined;
    const taking = bearing.find(
      (one) =>
        one.position > record.position &&
        one.entityType === write.entityType &&
        write.time < one.before,
    );
    if (taking === undefined) return undefined;
    return { ...record, data: encodeChange(scavengedChange(event, taking.position)) };
  }

  /** Records that the view cannot project stay unchanged. */
  function events(change: PlacedChange) {
    try {
      return project(change).filter((write) => write.op === "event");
    } catch {
      return [];
    }
  }

  /** Pages of records to replace, each with its checkpoint. */
  async function* replacedPages(cover: TruncationCover, from: Position, signal?: AbortSignal) {
    for (let at = from; at < cover.end; ) {
      signal?.throwIfAborted();
      const begun = performance.now();
      const page = await log.readAll(at, { limit: PAGE_MAX });
      const last = page.at(-1);
      if (last === undefined) return;
      const before = new Map<number, LogRecord>(page.map((record) => [record.position, record]));
      const records = page.flatMap((record) => cover.replaced(record) ?? []);
      let bytes = 0;
      for (const { position: at, data } of records) {
        bytes += (before.get(at)?.data.length ?? 0) - data.length;
      }
      const took = Math.min(performance.now() - begun, REST_MS_MAX);
      const upTo = position(Math.min(last.position, cover.end));
      yield { page, records, bytes, from: at, upTo };
      at = upTo;
      await rest(took);
    }
  }

  async function count(): Promise<Found> {
    let [records, bytes] = [0, 0];
    for await (const page of replacedPages(await readCover(), START)) {
      records += page.records.length;
      bytes += page.bytes;
    }
    return { records, bytes };
  }

  const work: JobWork = async (run) => {
    // Readers of the view see the truncations from here on.
    await caughtUp();
    const cover = await readCover();
    // A running rebuild may have read events and not yet the truncation; its verification against the
    // scavenged log would fail. Rebuilds that start later read the truncation.
    while (await rebuilding()) await delay(REBUILD_CHECK_MS, undefined, { signal: run.signal });
    const start = position((run.checkpoint as { position: number } | undefined)?.position ?? START);
    const counts = {
      ...run.counts,
      total: doneOf(run.counts) + recordsBetween(log, start, cover.end),
    };
    let bytes = 0;
    // Records that an interrupted run replaced after its last checkpoint.
    let { resumed } = run;
    for await (const page of replacedPages(cover, start, run.signal)) {
      resumed &&= page.records.length === 0;
      const before = resumed ? page.page.filter(isTakenOut).length : 0;
      counts.deleted += before;
      if (page.records.length > 0) {
        const done = await scavenging()(page.records);
        counts.deleted += done.records;
        counts.noops += page.records.length - done.records;
        counts.batches++;
        bytes += done.bytes;
      }
      const others = recordsBetween(log, page.from, page.upTo) - page.records.length - before;
      counts.updated += Math.max(0, others);
      // Where positions do not number the records, both are estimates.
      counts.total = Math.max(counts.total, doneOf(counts));
      await run.report(counts, { position: page.upTo });
    }
    await run.report(counts);
    logger.info({ job: run.id, records: counts.deleted, bytes }, "the log was scavenged");
  };

  function scavenging(): NonNullable<ChangeLog["scavenge"]> {
    if (log.scavenge !== undefined) return log.scavenge;
    throw new CatalogError("unavailable", "this log cannot remove records: it cannot be scavenged");
  }

  return {
    work,

    async scavenge(request: ScavengeRequest, caller: Caller, jobs: Jobs): Promise<OperationResult> {
      scavenging();
      if (request.dryRun !== false) {
        // Concurrent dry runs share one pass over the log.
        counting ??= count().finally(() => {
          counting = undefined;
        });
        return { text: dryRun(await counting) };
      }
      const { id, position } = await jobs.start("scavenge", {}, caller);
      return { text: id, position };
    },
  };
}

function isTakenOut(record: LogRecord): boolean {
  const change = readable(decodeRecord, record);
  return change !== undefined && isScavenged(change);
}

async function rest(ms: number): Promise<void> {
  const before = performance.eventLoopUtilization();
  await delay(ms);
  const { utilization } = performance.eventLoopUtilization(before);
  if (utilization > BUSY_SHARE_MIN) await delay(BUSY_PARTS * ms);
}

const dryRun = ({ records, bytes }: Found): string =>
  `Take ${records} events that were truncated out of the log, ${bytes} bytes. This was a dry run. Run with dryRun = false to execute.`;
