/**
 * The audit trail: notes are batched and appended to the log in the background, so that no response
 * waits for them; a crash loses at most the last second. Writes of the catalog and jobs have
 * records of their own and get no note.
 *
 * Rejected requests cannot fill the log: equal rejections of a minute are one record with a count,
 * and beyond a rate only their number is recorded.
 */
import type { AuditEntry, AuditTrail } from "../../auth/audit.ts";
import type { Position } from "../../core/position.ts";
import { auditStream, tokenUseStream } from "../../core/stream.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { type AuditRecord, decodeAudit, encodeAudit } from "../../log/codecs/audit-codec.ts";
import { type AuditEventsParts, createAuditEvents } from "./audit-events.ts";

interface AuditTrailParts extends AuditEventsParts {
  readonly log: ChangeLog;
  /** Called with the position of appended records. */
  readonly onAppended: (position: Position) => void;
  readonly logger: { warn(fields: object, message: string): void };
}

/** Time for which notes are batched. */
const gatherMs = 1_000;
/** Time for which equal rejections are counted before they are recorded. */
export const countedMs = 60_000;
/** Burst size of the rate limit for single rejections; the rate is one per second. */
export const rejectionsMax = 200;
/** Maximum pending notes while the log is unavailable; later ones are dropped with a warning. */
const waitingMax = 10_000;
/** Minimum time between two records of the use of a token, and of its use from another address. */
const useMs = 3_600_000;
const useElsewhereMs = 60_000;
const usesMax = 10_000;
const detailCharactersMax = 300;

export function createAuditTrail(parts: AuditTrailParts): AuditTrail & { close(): Promise<void> } {
  const { log, now, logger } = parts;
  let waiting: { readonly stream: string; readonly record: AuditRecord }[] = [];
  let lost = 0;
  let flushing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const rejections = createRejections(now);
  const uses = boundedCache<string, { readonly time: number; readonly address: string }>(usesMax);

  function write(record: AuditRecord, stream = auditStream(dayOf(record.time))): void {
    if (waiting.length >= waitingMax) lost++;
    else waiting.push({ stream, record });
    schedule();
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      flushing = flush();
    }, gatherMs).unref();
  }

  async function flush(): Promise<void> {
    await flushing;
    for (const record of rejections.counted()) write(record);
    if (rejections.pending()) schedule();
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const streams = Map.groupBy(batch, ({ stream }) => stream);
    try {
      const appended = await log.append(
        [...streams].map(([stream, notes]) => ({
          stream,
          expected: "any" as const,
          records: notes.map(({ record }) => encodeAudit(record)),
        })),
      );
      for (const { position } of appended) parts.onAppended(position);
      if (lost > 0) logger.warn({ lost }, "records of the audit trail were lost");
      lost = 0;
    } catch (error) {
      // Retried with the next batch: a duplicate is better than a lost record.
      const kept = batch.slice(0, waitingMax - waiting.length);
      lost += batch.length - kept.length;
      waiting = [...kept, ...waiting];
      logger.warn({ err: error, waiting: waiting.length }, "the audit trail cannot be written");
      schedule();
    }
  }

  return {
    ...createAuditEvents(parts),

    record(note) {
      const record = recordOf(note, now());
      if (note.outcome !== "refused" || rejections.admits(record)) write(record);
      else schedule();
    },

    recordUse({ urn, actor, address }) {
      const time = now();
      const known = uses.get(urn);
      const due = known?.address === address ? useMs : useElsewhereMs;
      if (known !== undefined && time < known.time + due) return;
      uses.set(urn, { time, address });
      const note = { action: "useAccessToken", outcome: "allowed", actor, address, urn } as const;
      write(recordOf(note, time), tokenUseStream(urn));
    },

    async lastUse(urn) {
      const known = uses.get(urn);
      const page = { limit: 1, backward: true };
      const [last] = await log.readStream(tokenUseStream(urn), "end", page);
      const recorded = last && decodeAudit(last).time;
      return known === undefined ? recorded : Math.max(known.time, recorded ?? 0);
    },

    async close() {
      clearTimeout(timer);
      timer = undefined;
      rejections.end();
      await flush();
      clearTimeout(timer);
    },
  };
}

/** Decides which rejections are recorded one by one, and counts the others. */
function createRejections(now: () => number) {
  let window = new Map<string, { readonly record: AuditRecord; again: number }>();
  let ends = 0;
  let others = 0;
  let room = rejectionsMax;
  let filled = now();

  function admits(record: AuditRecord): boolean {
    const { action, actor, address, urn, detail } = record;
    const key = JSON.stringify([action, actor, address, urn, detail]);
    if (!pending()) ends = record.time + countedMs;
    const known = window.get(key);
    if (known !== undefined) {
      known.again++;
      return false;
    }
    room = Math.min(rejectionsMax, room + (record.time - filled) / 1_000);
    filled = record.time;
    if (room < 1) {
      others++;
      return false;
    }
    room--;
    window.set(key, { record, again: 0 });
    return true;
  }

  const pending = (): boolean => window.size > 0 || others > 0;

  function counted(): readonly AuditRecord[] {
    if (!pending() || now() < ends) return [];
    const again = [...window.values()].filter((one) => one.again > 0);
    const records = again.map(({ record, again: count }) => ({ ...record, time: now(), count }));
    if (others > 0) records.push({ ...recordOf(TOO_MANY, now()), count: others });
    window = new Map();
    others = 0;
    return records;
  }

  return {
    admits,
    pending,
    counted,
    end: () => {
      ends = 0;
    },
  };
}

const TOO_MANY: AuditEntry = {
  action: "many",
  outcome: "refused",
  detail: "more rejections than are recorded one by one",
};

const recordOf = (note: AuditEntry, time: number): AuditRecord => ({
  time,
  action: note.action,
  outcome: note.outcome,
  actor: note.actor ?? null,
  address: note.address ?? null,
  urn: note.urn ?? null,
  detail: note.detail?.slice(0, detailCharactersMax).toWellFormed() ?? null,
  count: 1,
});

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
