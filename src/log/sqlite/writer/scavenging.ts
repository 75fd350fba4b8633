/**
 * Queues the steps of scavenging for the writer thread. Steps are small, and a pause follows each, so
 * that appends have the thread for most of the time. Without recent appends there are no pauses.
 */
import type { LogRecord, Scavenged } from "../../change-log.ts";
import { packScavenge, type ScavengeStep } from "./batch.ts";

/** About some milliseconds of work. */
const STEP_RECORDS_MAX = 200;
const STEP_BYTES_MAX = 512 * 1024;
/** Length of a pause relative to the step before: appends get most of the thread and the disk. */
const REST_PARTS = 8;
/** Without an append for so long there are no pauses. */
const IDLE_MS_MIN = 100;

interface Scavenging {
  add(records: readonly LogRecord[]): Promise<Scavenged>;
  /** Call it for each append. */
  appending(): void;
  /** Starts the next step and returns it; undefined if there is none, or during a pause. */
  take(): ScavengeStep | undefined;
  underWay(): boolean;
  /** Reports the result of the current step. */
  done(scavenged: Scavenged): void;
  /** Rejects the current step, or all. */
  fail(error: Error, all: boolean): void;
}

interface Asked {
  left: readonly LogRecord[];
  records: number;
  bytes: number;
  readonly resolve: (scavenged: Scavenged) => void;
  readonly reject: (error: Error) => void;
}

/** `wake` is called when a step may start. */
export function createScavenging(wake: () => void): Scavenging {
  const waiting: Asked[] = [];
  let begun: number | undefined;
  let stepRecords = 0;
  let restUntil = 0;
  let appended = 0;
  let timer: NodeJS.Timeout | undefined;

  function rests(now: number): boolean {
    if (now >= restUntil || now - appended > IDLE_MS_MIN) return false;
    timer ??= setTimeout(() => {
      timer = undefined;
      wake();
    }, restUntil - now);
    return true;
  }

  return {
    add(records) {
      if (records.length === 0) return Promise.resolve({ records: 0, bytes: 0 });
      return new Promise((resolve, reject) => {
        waiting.push({ left: records, records: 0, bytes: 0, resolve, reject });
        wake();
      });
    },

    appending() {
      appended = performance.now();
    },

    take() {
      const [first] = waiting;
      const now = performance.now();
      if (first === undefined || begun !== undefined || rests(now)) return undefined;
      let bytes = 0;
      const end = first.left.findIndex(({ data }, n) => {
        bytes += data.length;
        return n > 0 && (n === STEP_RECORDS_MAX || bytes > STEP_BYTES_MAX);
      });
      const step = first.left.slice(0, end < 0 ? first.left.length : end);
      begun = now;
      stepRecords = step.length;
      return packScavenge(step);
    },

    underWay: () => begun !== undefined,

    done({ records, bytes }) {
      const now = performance.now();
      restUntil = now + REST_PARTS * (now - (begun ?? now));
      begun = undefined;
      const [first] = waiting;
      if (first === undefined) return;
      first.records += records;
      first.bytes += bytes;
      first.left = first.left.slice(stepRecords);
      if (first.left.length > 0) return;
      waiting.shift();
      first.resolve({ records: first.records, bytes: first.bytes });
    },

    fail(error, all) {
      clearTimeout(timer);
      timer = undefined;
      begun = undefined;
      for (const { reject } of waiting.splice(0, all ? waiting.length : 1)) reject(error);
    },
  };
}
