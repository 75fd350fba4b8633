/** Starts of days in time zones. */
import { expect, test } from "vitest";
import { startOfDayIn } from "../../src/lib/calendar.ts";

test.each([
  ["UTC", "2026-03-29T12:00:00Z", "2026-03-29T00:00:00.000Z"],
  // Days on which the clocks change.
  ["Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00.000Z"],
  ["Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00.000Z"],
  ["America/New_York", "2026-07-01T02:00:00Z", "2026-06-30T04:00:00.000Z"],
  ["Asia/Kolkata", "2026-07-01T20:00:00Z", "2026-07-01T18:30:00.000Z"],
  ["America/Los_Angeles", "1969-12-31T12:00:00Z", "1969-12-31T08:00:00.000Z"],
])("the day in %s of %s starts at %s", (timeZone, time, start) => {
  expect(new Date(startOfDayIn(timeZone)(Date.parse(time))).toISOString()).toBe(start);
});

test("an unknown time zone is a range error", () => {
  expect(() => startOfDayIn("Mars/Base")).toThrow(RangeError);
});

test("a time outside the range of dates has a day, too", () => {
  expect(startOfDayIn("UTC")(1e16)).toBeLessThanOrEqual(1e16);
});
