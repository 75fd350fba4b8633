/**
 * Scavenging: what truncations took from the timeseries is taken out of the log, too. Of such an event
 * the log keeps where it was, who told it, when and in which run; what it said is gone for good.
 *
 * An event is covered when a truncation of its aspect that was recorded after it takes events of its
 * time. That follows from the log alone, and what was scavenged is no event any more, so that the
 * work may be done again from any point.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Caller } from "../catalog/catalog.ts";
import type { PlacedChange } from "../core/change.ts";
import { CatalogError } from "../core/errors.ts";
import { doneOf } from "../core/job-counts.ts";
import { type Position, position, revision, START } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import { type ChangeLog, type LogRecord, recordsBetween } from "../log/change-log.ts";
import { readable } from "../log/readable.ts";
import { decodeRecord, encodeChange } from "../log/record-codec.ts";
import { isScavenged, scavengedChange } from "../log/scavenged.ts";
import type { Projection } from "../projector/sink.ts";
import type { TimeseriesWrite } from "../timeseries/timeseries-table.ts";
import type { Jobs, JobWork } from "./jobs.ts";
import type { Outcome } from "./operations.ts";

export interface ScavengeRequest {
  /** True when absent. */
  readonly dryRun?: boolean | undefined;
}

interface Dependencies {
  readonly log: Pick<
    ChangeLog,
    "readAll" | "readStream" | "listStreams" | "countBetween" | "scavenge"
  >;
  /** How the view of timeseries follows from the log. */
  readonly project: Projection<TimeseriesWrite>;
  /** Waits until the view of timeseries has every record that there is now. */
  readonly caughtUp: () => Promise<void>;
  /** Whether views are being grown anew. */
  readonly growing: () => Promise<boolean>;
  readonly logger: { info(fields: object, message: string): void };
}

/** Records read at once: some milliseconds. */
const PAGE_MAX = 200;
const NAMES_MAX = 500;
/** How often it is looked whether views are still being grown. */
const GROWING_LOOK_MS = 100;
/** Others have their turn for as long as a page took, and for so much longer while there are any. */
const BUSY_PARTS = 2;
const BUSY_SHARE_MIN = 0.3;
const REST_MS_MAX = 50;

type Truncation = Extract<TimeseriesWrite, { readonly op: "truncate" }>;

/** Which events truncations cover. */
interface Cover {
  /** Of the last truncation; START: there is none. */
  readonly end: Position;
  /** What is to be there in place of a record; undefined when it stays as it is. */
  replaced(record: LogRecord): LogRecord | undefined;
}

interface Found {
  readonly records: number;
  readonly bytes: number;
}

export function createScavenges({ log, project, caughtUp, growing, logger }: Dependencies) {
  let counting: Promise<Found> | undefined;

  async function readCover(): Promise<Cover> {
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
    let after: string | undefined;
    for (;;) {
      const names = await log.listStreams("truncation-", { after, limit: NAMES_MAX });
      for (const name of names) {
        for (let from = 0; ; ) {
          const page = await log.readStream(name, revision(from), { limit: PAGE_MAX });
          const last = page.at(-1);
          if (last === undefined) break;
          for (const record of page) {
            const change = decodeRecord(record);
            if (change !== undefined) yield change;
          }
          from = last.revision + 1;
        }
      }
      after = names.at(-1);
      if (after === undefined) return;
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

  /** What a view could not take either is left as it is. */
  function events(change: PlacedChange) {
    try {
      return project(change).filter((write) => write.op === "event");
    } catch {
      return [];
    }
  }

  /** Pages of what is to be replaced, each with the place that is read by then. */
  async function* gone(cover: Cover, from: Position, signal?: AbortSignal) {
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
    for await (const page of gone(await readCover(), START)) {
      records += page.records.length;
      bytes += page.bytes;
    }
    return { records, bytes };
  }

  const work: JobWork = async (run) => {
    // Whatever reads the view knows of the truncations by then.
    await caughtUp();
    const cover = await readCover();
    // They may have read events and not have come to the truncation: compared with a log that lacks
    // the events already they would seem to be wrong. Those that begin later come to it.
    while (await growing()) await delay(GROWING_LOOK_MS, undefined, { signal: run.signal });
    const start = position((run.place as { position: number } | undefined)?.position ?? START);
    const counts = {
      ...run.counts,
      total: doneOf(run.counts) + recordsBetween(log, start, cover.end),
    };
    let bytes = 0;
    // What it did since it last wrote down how far it was, and was cut off.
    let { resumed } = run;
    for await (const page of gone(cover, start, run.signal)) {
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
    throw new CatalogError("unavailable", "this log keeps what is in it: it cannot be scavenged");
  }

  return {
    work,

    async scavenge(request: ScavengeRequest, caller: Caller, jobs: Jobs): Promise<Outcome> {
      scavenging();
      if (request.dryRun !== false) {
        // One reading of the log for all that ask meanwhile.
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
