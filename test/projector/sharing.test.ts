/** When the projector leaves the core to others, and for how long. */
import { expect, test } from "vitest";
import { createSharing } from "../../src/projector/sharing.ts";

function open() {
  let wall = 0;
  let computed = 0;
  const sharing = createSharing({ wallMs: () => wall, computedMs: () => computed });
  return {
    sharing,
    turn(tookMs: number, ownMs: number, behind: boolean): number {
      sharing.begin();
      wall += tookMs;
      computed += ownMs;
      return sharing.end(behind);
    },
  };
}

test("near the head it goes on, however much others want the core", () => {
  const { sharing, turn } = open();
  expect(turn(400, 20, false)).toBe(0);
  expect(sharing.part).toBe(1);
});

test("far behind it goes on where nobody wants the core", () => {
  const { sharing, turn } = open();
  expect(turn(205, 200, true)).toBe(0);
  expect(sharing.part).toBe(1);
});

test("far behind, where others want the core, it takes less at once and leaves it to them", () => {
  const { sharing, turn } = open();
  expect(turn(100, 30, true)).toBe(240);
  expect(sharing.part).toBeLessThan(1);
  expect(turn(4_000, 400, true)).toBe(500);
  // As soon as it is near, or alone, all is as before.
  expect(turn(100, 30, false)).toBe(0);
  expect(sharing.part).toBe(1);
  expect(turn(100, 30, true)).toBe(240);
  expect(turn(32, 30, true)).toBe(0);
  expect(sharing.part).toBe(1);
});

test("a turn that was over at once tells nothing of the core", () => {
  const { turn } = open();
  expect(turn(4, 0, true)).toBe(0);
  turn(100, 30, true);
  expect(turn(4, 1, true)).toBe(8);
});
