/** Times, days and months as people and clients write them, in epoch milliseconds and as days. */
import { parseTime } from "../core/calendar.ts";
import { numberOf } from "../core/filter.ts";

/** In epoch milliseconds, with both ends. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** What of a day counts for an end: after it, up to it, from it, before it. */
export const spanEnds = { above: "to", to: "to", from: "from", below: "from" } as const;

const DATE =
  /^(?<year>\d{4})-(?<month>\d{2})(?:-(?<day>\d{2})(?:[T ](?<time>[\d:.]+)(?<zone>Z|[+-]\d{2}:?\d{2})?)?)?$/;

/**
 * Epoch milliseconds, a time (2026-03-01T12:00:00), or all of a day or a month (2026-03-01, 2026-03).
 * They are of UTC where no zone is told, whatever the zone of the process.
 */
export function spanOf(text: string): Span | undefined {
  const trimmed = text.trim();
  const date = DATE.exec(trimmed)?.groups;
  if (date === undefined) return pointAt(finite(trimmed));
  const { year, month, day, time, zone = "Z" } = date;
  if (time !== undefined) return pointAt(parseTime(`${year}-${month}-${day}T${time}${zone}`));
  const [y, m, d] = [Number(year), Number(month) - 1, Number(day ?? 1)];
  const next = day === undefined ? Date.UTC(y, m + 1) : Date.UTC(y, m, d + 1);
  const from = Date.UTC(y, m, d);
  return new Date(from).getUTCMonth() === m ? { from, to: next - 1 } : undefined;
}

const pointAt = (millis: number | undefined): Span | undefined =>
  millis === undefined || Number.isNaN(millis) ? undefined : { from: millis, to: millis };

export function finite(text: string): number | undefined {
  const number = numberOf(text);
  return Number.isFinite(number) ? number : undefined;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Days are texts of ten characters, which are ordered as the days are; beyond are texts that are none. */
const days = {
  first: Date.UTC(1000, 0, 1) / dayMs,
  before: "0999-12-31",
  last: Date.UTC(9999, 11, 31) / dayMs,
  after: "9999-12-32",
};

/** The first day that begins then or later: 2026-03-01. */
export const dayFrom = (millis: number): string => dayText(Math.ceil(millis / dayMs));

/** The last day that has begun by then. */
export const dayUpTo = (millis: number): string => dayText(Math.floor(millis / dayMs));

function dayText(day: number): string {
  if (day < days.first) return days.before;
  if (day > days.last) return days.after;
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
