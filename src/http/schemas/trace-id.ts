/**
 * Trace ids of writes, as DataHub's clients parse them: 16 digits of time in microseconds, then 16 with
 * the position in the log. Nothing is stored for them.
 *
 *   000651f3c6d58000 a1b2 00000000007e: time, checksum of time and position, position 126
 */
import { createHash } from "node:crypto";
import { type Position, position } from "../../core/position.ts";

const markOf = (text: string): string =>
  createHash("sha256").update(`annals ${text}`).digest("hex").slice(0, 4);

/** The header `traceparent` (W3C Trace Context) of a write's response. */
export function traceParent(at: Position, now: number): string {
  const time = hex(now * 1_000, 16);
  const hexPosition = hex(at, 12);
  return `00-${time}${markOf(time + hexPosition)}${hexPosition}-${time}-01`;
}

/** Undefined for an id that this service did not create. */
export function positionOfTrace(id: string): Position | undefined {
  const [, time = "", mark, hexPosition = ""] =
    /^([0-9a-f]{16})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id.toLowerCase()) ?? [];
  if (mark === undefined || mark !== markOf(time + hexPosition)) return undefined;
  return position(Number.parseInt(hexPosition, 16));
}

const hex = (number: number | bigint, digits: number): string =>
  number.toString(16).padStart(digits, "0");
