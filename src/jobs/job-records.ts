/**
 * The records of jobs. One stream holds the first record of every job. Its revision is the job's
 * number, so nodes that share the log never use an id twice. The job's own stream holds the rest.
 */
import { isUnreadable } from "../core/errors.ts";
import { lastOf, type Position, revision } from "../core/position.ts";
import { JOBS, jobStream } from "../core/stream.ts";
import { type Append, type ChangeLog, WrongRevision } from "../log/change-log.ts";
import { decodeJob, encodeJob, type JobRecord } from "../log/codecs/job-codec.ts";

export interface JobRecordsParts {
  readonly log: Pick<ChangeLog, "append" | "readStream">;
  readonly nodeId: string;
  readonly onAppended: (position: Position) => void;
}

interface JobRecords {
  /**
   * Gives a job the next number; resolves when the log has its first record. `unfinishedFrom`: the
   * number of the earliest job of this node that has not ended, Infinity where there is none.
   */
  register(
    asked: Omit<JobRecord, "id" | "unfinishedFrom">,
    unfinishedFrom: number,
  ): Promise<{ readonly first: JobRecord; readonly position: Position }>;
  /** Appends to the job's own stream. */
  write(record: JobRecord): Promise<Position>;
  /** The first record of a job; undefined when no such job exists. */
  first(id: string): Promise<JobRecord | undefined>;
  /** The newest record of a job. */
  latest(first: JobRecord): Promise<JobRecord>;
  /** First records, the newest first; at most 200. */
  list(page: {
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly firsts: readonly JobRecord[] }>;
  /** First records of this node's jobs, from the earliest that may not have ended. */
  unfinished(): AsyncIterable<JobRecord>;
}

const pageMax = 200;
/** Attempts to get a number when other nodes take numbers at the same time. */
const registeringMax = 20;

export const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

export async function openJobRecords(parts: JobRecordsParts): Promise<JobRecords> {
  const { log, nodeId } = parts;
  // A log with damaged indexes does not stop the start; it accepts no job before the repair.
  let last = await lastNumber().catch((error: unknown) => {
    if (isUnreadable(error)) return 0;
    throw error;
  });

  async function lastNumber(): Promise<number> {
    const [newest] = await log.readStream(JOBS, "end", { limit: 1, backward: true });
    return newest === undefined ? 0 : newest.revision + 1;
  }

  async function append(appends: readonly Append[]): Promise<Position> {
    const position = lastOf(await log.append(appends));
    parts.onAppended(position);
    return position;
  }

  async function registerNext(
    asked: Omit<JobRecord, "id" | "unfinishedFrom">,
    unfinishedFrom: number,
  ) {
    const number = last + 1;
    const first: JobRecord = {
      ...asked,
      id: `${nodeId}:${number}`,
      unfinishedFrom: Math.min(number, unfinishedFrom),
    };
    const records = [encodeJob(first)];
    const position = await append([
      { stream: JOBS, expected: revision(number - 2), records },
      { stream: jobStream(first.id), expected: "any", records },
    ]);
    last = number;
    return { first, position };
  }

  const isOwn = ({ id }: JobRecord): boolean => id === `${nodeId}:${numberOf(id)}`;

  /** Revision of this node's first unfinished job, from its last record; the end without a job. */
  async function firstUnfinished(): Promise<number> {
    for (let at = last - 1; at >= 0; at -= pageMax) {
      const page = await log.readStream(JOBS, revision(at), { limit: pageMax, backward: true });
      const own = page.map((record) => decodeJob(record)).find(isOwn);
      if (own !== undefined) return (own.unfinishedFrom ?? 1) - 1;
    }
    return last;
  }

  return {
    async register(asked, unfinishedFrom) {
      // Another node that shares the log may have taken the number; then the next one is tried.
      for (let attempt = 1; ; attempt++) {
        try {
          return await registerNext(asked, unfinishedFrom);
        } catch (error) {
          last = await lastNumber();
          if (!(error instanceof WrongRevision) || attempt === registeringMax) throw error;
        }
      }
    },

    write: (record) =>
      append([{ stream: jobStream(record.id), expected: "any", records: [encodeJob(record)] }]),

    async first(id) {
      const number = numberOf(id);
      if (!Number.isSafeInteger(number) || number < 1) return undefined;
      const [record] = await log.readStream(JOBS, revision(number - 1), { limit: 1 });
      const first = record && decodeJob(record);
      return first?.id === id ? first : undefined;
    },

    async latest(first) {
      const stream = jobStream(first.id);
      const [record] = await log.readStream(stream, "end", { limit: 1, backward: true });
      return record === undefined ? first : decodeJob(record);
    },

    async list({ start, count }) {
      last = Math.max(last, await lastNumber());
      const from = last - 1 - start;
      if (from < 0 || count === 0) return { total: last, firsts: [] };
      const options = { limit: Math.min(count, pageMax), backward: true };
      const page = await log.readStream(JOBS, revision(from), options);
      return { total: last, firsts: page.map((record) => decodeJob(record)) };
    },

    async *unfinished() {
      if (last === 0) return;
      let at = await firstUnfinished();
      for (;;) {
        const page = await log.readStream(JOBS, revision(at), { limit: pageMax });
        // Other nodes on the same log resume their own jobs.
        yield* page.map((record) => decodeJob(record)).filter(isOwn);
        if (page.length === 0) return;
        at += page.length;
      }
    },
  };
}
