import { describe, expect, test } from "vitest";
import { position, START } from "../../src/core/position.ts";
import { createRecordCount } from "../../src/log/eventstoredb/record-count.ts";

const at = (...offsets: readonly number[]) => offsets.map((offset) => position(offset));

describe("records between byte positions", () => {
  test("records among the last known positions are counted exactly", () => {
    const count = createRecordCount();
    count.note(at(950, 700, 690, 400), false);
    expect(count.between(position(400), position(950))).toBe(3);
    expect(count.between(position(690), position(700))).toBe(1);
    expect(count.between(position(950), position(950))).toBe(0);
    expect(count.between(position(950), position(700))).toBe(0);
  });

  test("records before and after the known positions are estimated", () => {
    const count = createRecordCount();
    count.note(at(10_200, 10_100, 10_000), false);
    expect(count.between(START, position(10_200))).toBe(103);
    expect(count.between(position(10_100), position(10_600))).toBe(5);
    expect(count.between(position(10_200), position(10_201))).toBe(1);
  });

  test("positions are read again if too few are known for an estimate", () => {
    const count = createRecordCount();
    expect(count.isBlind(START)).toBe(false);
    expect(count.isBlind(position(1))).toBe(true);
    count.note(at(900, 300), true);
    expect(count.isBlind(position(900))).toBe(false);
    expect(count.isBlind(position(901))).toBe(true);
    count.note(at(...Array.from({ length: 10 }, (_, n) => 1_000 - n)), false);
    expect(count.isBlind(position(2_000))).toBe(false);
  });

  test("the count is exact if all positions of the log are known", () => {
    const count = createRecordCount();
    expect(count.between(START, position(70))).toBe(1);
    count.note(at(900, 300), true);
    expect(count.between(START, position(900))).toBe(2);
    expect(count.between(position(10), position(300))).toBe(1);
    count.note([], true);
    expect(count.between(START, START)).toBe(0);
  });
});
