/** Times as texts, of days that there are. */

const DAY = /^(\d{4})-(\d{2})-(\d{2})/;

/**
 * Epoch milliseconds, as Date.parse has them; NaN also for a day that there is not: that would take the
 * 30th of February for a day of March.
 */
export function parseTime(text: string): number {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (day === undefined) return Date.parse(text);
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return exists.getUTCDate() === Number(day) ? Date.parse(text) : Number.NaN;
}
