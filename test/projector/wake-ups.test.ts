import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { position } from "../../src/core/position.ts";
import { createWakeUps } from "../../src/projector/thread/wake-ups.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const FIRST_MS = 5;
const NEXT_MS = 50;

const wakeUpsTo = (there = true) => {
  const send = vi.fn(() => there);
  return { send, ...createWakeUps(send, { first: FIRST_MS, next: NEXT_MS }) };
};

test("appends within a few milliseconds share a notification", () => {
  const { send, appended } = wakeUpsTo();
  for (const at of [1, 2, 3]) appended(position(at));
  expect(send).not.toHaveBeenCalled();
  vi.advanceTimersByTime(FIRST_MS);
  expect(send).toHaveBeenCalledTimes(1);
});

test("no notification is sent before the last one is answered", () => {
  const { send, appended, reached } = wakeUpsTo();
  appended(position(1));
  vi.advanceTimersByTime(FIRST_MS);
  appended(position(2));
  vi.advanceTimersByTime(10 * NEXT_MS);
  expect(send).toHaveBeenCalledTimes(1);
  reached(1);
  vi.advanceTimersByTime(FIRST_MS);
  expect(send).toHaveBeenCalledTimes(2);
});

test("consecutive notifications have a minimum distance", () => {
  const { send, appended, reached } = wakeUpsTo();
  appended(position(1));
  vi.advanceTimersByTime(FIRST_MS);
  appended(position(2));
  reached(1);
  vi.advanceTimersByTime(NEXT_MS - 1);
  expect(send).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(send).toHaveBeenCalledTimes(2);
});

test("a notification that a caller waits for is sent at once, or right after the last one is answered", () => {
  const { send, appended, reached, flush } = wakeUpsTo();
  appended(position(1));
  flush();
  expect(send).toHaveBeenCalledTimes(1);
  appended(position(2));
  flush();
  expect(send).toHaveBeenCalledTimes(1);
  reached(1);
  expect(send).toHaveBeenCalledTimes(2);
  reached(2);
  appended(position(3));
  reached(2);
  expect(send).toHaveBeenCalledTimes(2);
});

test("no notification is sent for a position that the projector has reached", () => {
  const { send, appended, reached, flush } = wakeUpsTo();
  appended(position(5));
  flush();
  reached(5);
  for (const at of [5, 4, 0]) appended(position(at));
  flush();
  vi.advanceTimersByTime(NEXT_MS);
  expect(send).toHaveBeenCalledTimes(1);
});

test("a lost notification is followed by another", () => {
  const { send, appended } = wakeUpsTo(false);
  for (const at of [1, 2]) {
    appended(position(at));
    vi.advanceTimersByTime(NEXT_MS);
  }
  expect(send).toHaveBeenCalledTimes(2);
});
