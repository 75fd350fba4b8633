/**
 * Trace ids of writes, as clients of the reference read them: 16 digits of time in microseconds, then
 * 16 that say where the log holds the write. Nothing is kept for them: a trace id tells itself.
 *
 *   000651f3c6d58000 a1b2 00000000007e: a time, a mark of time and position, position 126
 */
import { createHash } from "node:crypto";
import { type Position, position } from "../core/position.ts";

const markOf = (text: string): string =>
  createHash("sha256").update(`annals ${text}`).digest("hex").slice(0, 4);

/** The header `traceparent` (W3C Trace Context) of the answer to a write. */
export function traceParent(at: Position, now: number): string {
  const time = hex(now * 1_000, 16);
  const place = hex(at, 12);
  return `00-${time}${markOf(time + place)}${place}-${time}-01`;
}

/** Undefined for ids that no write here was answered with. */
export function positionOfTrace(id: string): Position | undefined {
  const [, time = "", mark, place = ""] =
    /^([0-9a-f]{16})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id.toLowerCase()) ?? [];
  if (mark === undefined || mark !== markOf(time + place)) return undefined;
  return position(Number.parseInt(place, 16));
}

const hex = (number: number | bigint, digits: number): string =>
  number.toString(16).padStart(digits, "0");
