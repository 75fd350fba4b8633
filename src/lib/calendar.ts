/** Days: their length and start, and times as texts. */

export const dayMs = 86_400_000;
/** The latest time of a Date. */
const timeMax = 8.64e15;

const DAY = /^(\d{4})-(\d{2})-(\d{2})/;

/** Date.parse, but NaN for a day that does not exist: Date.parse takes February 30 for March 1 or 2. */
export function parseTime(text: string): number {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (day === undefined) return Date.parse(text);
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return exists.getUTCDate() === Number(day) ? Date.parse(text) : Number.NaN;
}

/**
 * Returns the start of the day of a time, in epoch milliseconds, in a time zone of the IANA database.
 * Throws RangeError for an unknown time zone.
 */
export function startOfDayIn(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const offsetAt = (time: number): number => {
    const text =
      format
        .formatToParts(Math.min(Math.max(time, -timeMax), timeMax))
        .find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(text) ?? [];
    const size = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return (sign === "-" ? -size : size) * 1_000;
  };
  return (time) => {
    const local = time + offsetAt(time);
    const midnight = local - (((local % dayMs) + dayMs) % dayMs);
    // The offset may have changed since midnight.
    return midnight - offsetAt(midnight - offsetAt(time));
  };
}

const OFFSET = /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/;
