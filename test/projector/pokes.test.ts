import { expect, test, vi } from "vitest";
import { position } from "../../src/core/position.ts";
import { createPokes } from "../../src/projector/pokes.ts";

const pokesTo = (there = true) => {
  const send = vi.fn(() => there);
  return { send, ...createPokes(send) };
};

test("a poke is sent, and no other until it is answered", () => {
  const { send, poke, reached } = pokesTo();
  for (const at of [1, 2, 3]) poke(position(at));
  expect(send).toHaveBeenCalledTimes(1);
  reached(3);
  expect(send).toHaveBeenCalledTimes(1);
  poke(position(4));
  expect(send).toHaveBeenCalledTimes(2);
});

test("an answer that is behind the last poke is followed by another", () => {
  const { send, poke, reached } = pokesTo();
  poke(position(1));
  poke(position(2));
  reached(1);
  expect(send).toHaveBeenCalledTimes(2);
  reached(2);
  expect(send).toHaveBeenCalledTimes(2);
});

test("a poke about what is known is none", () => {
  const { send, poke, reached } = pokesTo();
  poke(position(5));
  reached(5);
  for (const at of [5, 4, 0]) poke(position(at));
  expect(send).toHaveBeenCalledTimes(1);
  reached(7);
  poke(position(7));
  poke(position(8));
  expect(send).toHaveBeenCalledTimes(2);
});

test("a poke that nobody was there for is sent by the next one", () => {
  const { send, poke } = pokesTo(false);
  poke(position(1));
  poke(position(2));
  expect(send).toHaveBeenCalledTimes(2);
});
