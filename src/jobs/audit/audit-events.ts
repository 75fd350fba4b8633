/**
 * Reads the audit trail: its records and the writes of the catalog in one order, the newest first.
 * Each page reads a bounded part of the log backwards; a start in the past is found by binary
 * search.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { AuditEvent, AuditPage, AuditQuery } from "../../auth/audit.ts";
import type { PlacedChange } from "../../core/change.ts";
import { type Position, START } from "../../core/position.ts";
import { isAuditStream, parseStream } from "../../core/stream.ts";
import { dayMs } from "../../lib/calendar.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { decodeAudit } from "../../log/codecs/audit-codec.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { endOfTime } from "../../log/end-of-time.ts";

export interface AuditEventsParts {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  /** Days of audit history to serve; 0 for all. */
  readonly days: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Maximum records that one page scans. */
const SCANNED_RECORDS_MAX = 50_000;
const readMax = 500;
/** Maximum disorder of record times, from clock skew between nodes and concurrent appends. */
const disorderMs = 120_000;

export function createAuditEvents({ log, decode, days, now }: AuditEventsParts) {
  function eventOf(record: LogRecord, writes: boolean): AuditEvent | undefined {
    if (isAuditStream(record.stream)) {
      const { actor, address, urn, detail, ...rest } = decodeAudit(record);
      const maybe = { actor: actor ?? undefined, address: address ?? undefined };
      const about = { urn: urn ?? undefined, detail: detail ?? undefined };
      return { position: record.position, ...rest, ...maybe, ...about };
    }
    const change = writes ? readable(decode, record) : undefined;
    if (change === undefined) return undefined;
    return {
      position: record.position,
      time: change.created.time,
      action: change.changeType,
      outcome: "allowed",
      actor: change.created.actor,
      urn: change.urn === "" ? undefined : change.urn,
      aspect: change.aspect,
      count: 1,
    };
  }

  /** Records that the stream's name rules out are not decoded. */
  function recordFilterOf(query: AuditQuery, from: number) {
    const { actor, action, outcome, urn, to = Number.POSITIVE_INFINITY, writes = true } = query;
    return (record: LogRecord): AuditEvent | "over" | undefined => {
      const of = parseStream(record.stream);
      if (urn !== undefined && of !== undefined && of.urn !== urn) return undefined;
      const event = eventOf(record, writes);
      if (event === undefined) return undefined;
      if (event.time < from - disorderMs) return "over";
      const fits =
        event.time >= from &&
        event.time <= to &&
        (actor === undefined || event.actor === actor) &&
        (action === undefined || event.action === action) &&
        (outcome === undefined || event.outcome === outcome) &&
        (urn === undefined || event.urn === urn);
      return fits ? event : undefined;
    };
  }

  async function list(query: AuditQuery): Promise<AuditPage> {
    const since = days === 0 ? 0 : now() - days * dayMs;
    const sieve = recordFilterOf(query, Math.max(query.from ?? 0, since));
    let at: Position | "end" = query.before ?? "end";
    if (query.to !== undefined) {
      const end = await endOfTime(query.to + disorderMs, { log, decode });
      if (at === "end" || (end !== "end" && end < at)) at = end;
    }
    const events: AuditEvent[] = [];
    for (let lookedAt = 0; lookedAt < SCANNED_RECORDS_MAX; ) {
      const page = await log.readAll(at, { limit: readMax, backward: true });
      if (page.length === 0) return { events, position: START, end: true };
      for (const record of page) {
        const found = sieve(record);
        if (found === "over") return { events, position: record.position, end: true };
        at = record.position;
        lookedAt++;
        if (found === undefined) continue;
        events.push(found);
        if (events.length === query.count) return { events, position: at, end: false };
      }
      await yieldToEventLoop();
    }
    return { events, position: at === "end" ? START : at, end: false };
  }

  return { list };
}
