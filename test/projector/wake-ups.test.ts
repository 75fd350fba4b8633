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

const pokesTo = (there = true) => {
  const send = vi.fn(() => there);
  return { send, ...createWakeUps(send, { first: FIRST_MS, next: NEXT_MS }) };
};

test("appends of some milliseconds share a poke", () => {
  const { send, poke } = pokesTo();
  for (const at of [1, 2, 3]) poke(position(at));
  expect(send).not.toHaveBeenCalled();
  vi.advanceTimersByTime(FIRST_MS);
  expect(send).toHaveBeenCalledTimes(1);
});

test("no other poke is sent before the last one is answered", () => {
  const { send, poke, reached } = pokesTo();
  poke(position(1));
  vi.advanceTimersByTime(FIRST_MS);
  poke(position(2));
  vi.advanceTimersByTime(10 * NEXT_MS);
  expect(send).toHaveBeenCalledTimes(1);
  reached(1);
  vi.advanceTimersByTime(FIRST_MS);
  expect(send).toHaveBeenCalledTimes(2);
});

test("pokes that follow each other have a distance", () => {
  const { send, poke, reached } = pokesTo();
  poke(position(1));
  vi.advanceTimersByTime(FIRST_MS);
  poke(position(2));
  reached(1);
  vi.advanceTimersByTime(NEXT_MS - 1);
  expect(send).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(send).toHaveBeenCalledTimes(2);
});

test("a poke that somebody waits for is sent at once, or as soon as the last one is answered", () => {
  const { send, poke, reached, flush } = pokesTo();
  poke(position(1));
  flush();
  expect(send).toHaveBeenCalledTimes(1);
  poke(position(2));
  flush();
  expect(send).toHaveBeenCalledTimes(1);
  reached(1);
  expect(send).toHaveBeenCalledTimes(2);
  reached(2);
  poke(position(3));
  reached(2);
  expect(send).toHaveBeenCalledTimes(2);
});

test("no poke is sent about what the projector has", () => {
  const { send, poke, reached, flush } = pokesTo();
  poke(position(5));
  flush();
  reached(5);
  for (const at of [5, 4, 0]) poke(position(at));
  flush();
  vi.advanceTimersByTime(NEXT_MS);
  expect(send).toHaveBeenCalledTimes(1);
});

test("a poke that the projector did not get is followed by another", () => {
  const { send, poke } = pokesTo(false);
  for (const at of [1, 2]) {
    poke(position(at));
    vi.advanceTimersByTime(NEXT_MS);
  }
  expect(send).toHaveBeenCalledTimes(2);
});
