/**
 * Splits scavenging into steps for the writer thread. Steps are small, and a pause follows each, so
 * that appends have the thread for most of the time. Without recent appends there are no pauses.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogRecord, Scavenged } from "../../change-log.ts";
import { packScavenge, type ScavengeStep } from "./batch.ts";
import { unscavenged } from "./writer-errors.ts";

/** About some milliseconds of work. */
const STEP_RECORDS_MAX = 200;
const STEP_BYTES_MAX = 512 * 1024;
/** Length of a pause relative to the step before: appends get most of the thread and the disk. */
const REST_PARTS = 8;
/** Without an append for so long there are no pauses. */
const IDLE_MS_MIN = 100;

interface Scavenging {
  scavenge(records: readonly LogRecord[]): Promise<Scavenged>;
  /** Call it for each append. */
  appending(): void;
  /** Rejects before the next step. */
  close(): void;
}

export function createScavenging(
  file: string,
  run: (step: ScavengeStep) => Promise<Scavenged>,
): Scavenging {
  let appended = -Infinity;
  let closed = false;
  return {
    async scavenge(all) {
      let [records, bytes] = [0, 0];
      for (let at = 0; at < all.length; ) {
        if (closed) throw unscavenged(file, "it is closed");
        const begun = performance.now();
        const end = endOfStep(all, at);
        const step = await run(packScavenge(all.slice(at, end)));
        records += step.records;
        bytes += step.bytes;
        at = end;
        const now = performance.now();
        if (now - appended <= IDLE_MS_MIN) await delay(REST_PARTS * (now - begun));
      }
      return { records, bytes };
    },
    appending() {
      appended = performance.now();
    },
    close() {
      closed = true;
    },
  };
}

/** The index after the last record of the step that begins at `at`. */
function endOfStep(records: readonly LogRecord[], at: number): number {
  let end = at;
  let bytes = 0;
  do bytes += records[end++]?.data.length ?? 0;
  while (end < Math.min(records.length, at + STEP_RECORDS_MAX) && bytes < STEP_BYTES_MAX);
  return end;
}
