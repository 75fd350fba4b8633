/** When the projector leaves the core to others, and for how long. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { position } from "../../src/core/position.ts";
import { createSharing } from "../../src/projector/sharing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  let wall = 0;
  let computed = 0;
  let head = 0;
  const sharing = createSharing({ wallMs: () => wall, computedMs: () => computed });
  const begin = (tookMs: number, ownMs: number, behind: boolean) => {
    sharing.begin();
    if (behind) sharing.full();
    wall += tookMs;
    computed += ownMs;
  };
  return {
    sharing,
    /** Milliseconds that it leaves to others after a turn; `written` in the meantime. */
    async turn(tookMs: number, ownMs: number, { behind = true, written = 1 } = {}) {
      begin(tookMs, ownMs, behind);
      head += written;
      const begun = Date.now();
      const ended = sharing.end(async () => position(head)).then(() => Date.now() - begun);
      await vi.runAllTimersAsync();
      return ended;
    },
    begin,
  };
}

test("near the head it goes on, however much others want the core", async () => {
  const { sharing, turn } = open();
  await turn(1, 1);
  expect(await turn(400, 20, { behind: false })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
});

test("far behind it goes on where nobody wants the core, or nobody writes", async () => {
  const { sharing, turn } = open();
  await turn(1, 1);
  expect(await turn(205, 200)).toBe(0);
  expect(await turn(400, 20, { written: 0 })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
});

test("far behind, where writers want the core, it takes less at once and leaves it to them", async () => {
  const { sharing, turn } = open();
  await turn(1, 1);
  expect(await turn(100, 30)).toBe(240);
  expect(sharing.recordsOf(2_000)).toBe(250);
  expect(sharing.recordsOf(1)).toBe(1);
  expect(await turn(4_000, 400)).toBe(500);
  // As soon as it is near, or alone, all is as before.
  expect(await turn(100, 30, { behind: false })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
  expect(await turn(100, 30)).toBe(240);
  expect(await turn(32, 30)).toBe(0);
});

test("a turn that was over at once tells nothing of the core", async () => {
  const { turn } = open();
  await turn(1, 1);
  expect(await turn(4, 0)).toBe(0);
  await turn(100, 30);
  expect(await turn(4, 1)).toBe(8);
});

test("a pause ends when something else is asked for, and a log that cannot be read makes none", async () => {
  const { sharing, turn, begin } = open();
  await turn(1, 1);
  begin(100, 30, true);
  let ended = false;
  const pause = sharing
    .end(async () => position(50))
    .then(() => {
      ended = true;
    });
  await vi.advanceTimersByTimeAsync(100);
  expect(ended).toBe(false);
  sharing.goOn();
  await pause;
  begin(100, 30, true);
  await sharing.end(() => Promise.reject(new Error("gone")));
});
