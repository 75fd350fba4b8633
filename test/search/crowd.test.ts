/** When the thread that answers searches leaves the core to those who write. */
import { expect, test } from "vitest";
import { createCrowd } from "../../src/search/sqlite/crowd.ts";

function open() {
  let wall = 0;
  let computed = 0;
  let position = 1;
  const crowd = createCrowd({ wallMs: () => wall, computedMs: () => computed });
  crowd.told(position);
  return {
    /** Answers for a second, with so many waiting; the part of it in which the core is left. */
    leftInASecond({ waiting, writes }: { waiting: number; writes: boolean }): number {
      const begun = wall;
      let left = 0;
      while (wall - begun < 1_000) {
        computed += 2;
        wall += 2;
        if (writes) position++;
        crowd.told(position);
        const pauseMs = crowd.pauseMs(waiting);
        wall += pauseMs;
        left += pauseMs;
      }
      return left / (wall - begun);
    },
  };
}

test("a crowd leaves three quarters of a core while others write", () => {
  expect(open().leftInASecond({ waiting: 64, writes: true })).toBeCloseTo(0.75, 1);
});

test("a few questions have all of it", () => {
  expect(open().leftInASecond({ waiting: 7, writes: true })).toBe(0);
});

test("a crowd has all of it while nobody writes, and soon after somebody did", () => {
  const asked = open();
  expect(asked.leftInASecond({ waiting: 64, writes: false })).toBe(0);
  asked.leftInASecond({ waiting: 64, writes: true });
  asked.leftInASecond({ waiting: 64, writes: false });
  expect(asked.leftInASecond({ waiting: 64, writes: false })).toBe(0);
});
