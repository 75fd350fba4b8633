/** The distance of a time from now, in words. */

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** `3 minutes ago` */
export function ageOf(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return Math.abs(seconds) < 10 ? "now" : format.format(Math.round(seconds), "second");
}
