/** How long access tokens may be asked to live, by the names that clients send. */
export const tokenDurations = [
  "ONE_HOUR",
  "ONE_DAY",
  "ONE_WEEK",
  "ONE_MONTH",
  "THREE_MONTHS",
  "SIX_MONTHS",
  "ONE_YEAR",
  "NO_EXPIRY",
] as const;

export type TokenDuration = (typeof tokenDurations)[number];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const lives: Readonly<Record<TokenDuration, number | undefined>> = {
  ONE_HOUR: HOUR,
  ONE_DAY: DAY,
  ONE_WEEK: 7 * DAY,
  ONE_MONTH: 30 * DAY,
  THREE_MONTHS: 90 * DAY,
  SIX_MONTHS: 180 * DAY,
  ONE_YEAR: 365 * DAY,
  NO_EXPIRY: undefined,
};

/** Milliseconds; undefined: without end. */
export const lifetimeOf = (duration: TokenDuration): number | undefined => lives[duration];
