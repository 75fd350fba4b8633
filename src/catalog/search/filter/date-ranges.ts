/** Parses times, days and months into epoch milliseconds and days. */

import { numberOf } from "../../../core/query/filter.ts";
import { dayMs, parseTime } from "../../../lib/calendar.ts";

/** Epoch milliseconds, both ends included. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The end of a day that applies to an end of a range: after it, up to it, from it, before it. */
export const spanEnds = { above: "to", to: "to", from: "from", below: "from" } as const;

const DATE =
  /^(?<year>\d{4})-(?<month>\d{2})(?:-(?<day>\d{2})(?:[T ](?<time>[\d:.]+)(?<zone>Z|[+-]\d{2}:?\d{2})?)?)?$/;

/**
 * Parses epoch milliseconds, a time (2026-03-01T12:00:00), or a whole day or month (2026-03-01,
 * 2026-03). Without a time zone it is UTC, whatever the zone of the process.
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

/**
 * Days are texts of ten characters, in the order of the days; the bounds beyond are not valid days.
 */
const days = {
  first: Date.UTC(1000, 0, 1) / dayMs,
  before: "0999-12-31",
  last: Date.UTC(9999, 11, 31) / dayMs,
  after: "9999-12-32",
};

/** The first day that begins at the time or later: 2026-03-01. */
export const dayFrom = (millis: number): string => dayText(Math.ceil(millis / dayMs));

/** The last day that begins at the time or earlier. */
export const dayUpTo = (millis: number): string => dayText(Math.floor(millis / dayMs));

function dayText(day: number): string {
  if (day < days.first) return days.before;
  if (day > days.last) return days.after;
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
