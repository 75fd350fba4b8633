/** Days: their length, and times as texts, of days that there are. */

export const dayMs = 86_400_000;

const DAY = /^(\d{4})-(\d{2})-(\d{2})/;

/** Date.parse, but NaN for a day that does not exist: Date.parse takes February 30 for March 1 or 2. */
export function parseTime(text: string): number {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (day === undefined) return Date.parse(text);
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return exists.getUTCDate() === Number(day) ? Date.parse(text) : Number.NaN;
}
