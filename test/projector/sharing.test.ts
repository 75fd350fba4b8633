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

/** So many records are written in a millisecond where following takes the whole core. */
const TOO_MANY = 20;

function open() {
  let wall = 0;
  let computed = 0;
  let head = 0;
  let lag = 0;
  const sharing = createSharing({ wallMs: () => wall, computedMs: () => computed });
  const begin = (tookMs: number, ownMs: number, behind: boolean) => {
    sharing.begin();
    if (behind) sharing.full();
    wall += tookMs;
    // A record costs half a tenth of a millisecond, two thirds of it a view that has its own turns.
    computed += ownMs / 3;
    sharing.took(ownMs * 20, false);
    computed += (ownMs * 2) / 3;
    sharing.took(ownMs * 20, true);
  };
  return {
    sharing,
    fallBehind(records: number) {
      lag = records;
    },
    /** Milliseconds that it leaves to others after a turn; `written` each millisecond meanwhile. */
    async turn(tookMs: number, ownMs: number, { behind = true, written = TOO_MANY } = {}) {
      begin(tookMs, ownMs, behind);
      head += written * tookMs;
      const begun = Date.now();
      const ended = sharing
        .end(async () => position(head), position(Math.max(0, head - lag)))
        .then(() => Date.now() - begun);
      await vi.runAllTimersAsync();
      return ended;
    },
    begin,
    compute(ms: number) {
      computed += ms;
    },
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
  const idle = open();
  await idle.turn(1, 1, { written: 0 });
  expect(await idle.turn(400, 20, { written: 0 })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
});

test("far behind it goes on where what is written takes a part of a core to follow", async () => {
  const { sharing, turn } = open();
  await turn(1, 1, { written: 6 });
  for (let n = 0; n < 20; n++) expect(await turn(400, 100, { written: 6 })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
  // Writers become more, and fewer again.
  let left = 0;
  for (let n = 0; n < 20; n++) left = await turn(400, 50);
  expect(left).toBe(400);
  for (let n = 0; n < 20; n++) left = await turn(400, 50, { written: 6 });
  expect(left).toBe(0);
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
  // One turn that had not to wait had the core because it was left to others before.
  for (let n = 0; n < 3; n++) expect(await turn(32, 30)).toBe(240);
  expect(await turn(32, 30)).toBe(0);
});

test("so far behind that writers would soon wait for it, it leaves them nothing", async () => {
  const { turn, fallBehind } = open();
  await turn(1, 1);
  expect(await turn(100, 30)).toBe(240);
  fallBehind(50_001);
  expect(await turn(10_000, 30)).toBe(0);
});

test("costly views that are near take what they can in a moment, and whole batches farther behind", async () => {
  const { sharing, turn } = open();
  expect(sharing.recordsOf(2_000, 500)).toBe(2_000);
  // A thirtieth of a millisecond for each record of those.
  for (let n = 0; n < 5; n++) await turn(30, 30, { behind: false, written: 1 });
  expect(sharing.recordsOf(2_000, 500)).toBe(1_200);
  expect(sharing.recordsOf(2_000, 8_001)).toBe(2_000);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
  expect(sharing.recordsOf(20, 20)).toBe(20);
});

test("what costly views put off counts with what their batches cost", async () => {
  const { sharing, turn, compute } = open();
  for (let n = 0; n < 5; n++) await turn(30, 30, { behind: false, written: 1 });
  for (let n = 0; n < 100; n++) {
    compute(1_000);
    sharing.took(0, true);
  }
  expect(sharing.recordsOf(2_000, 500)).toBe(50);
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
    .end(async () => position(5_000), position(0))
    .then(() => {
      ended = true;
    });
  await vi.advanceTimersByTimeAsync(100);
  expect(ended).toBe(false);
  sharing.goOn();
  await pause;
  begin(100, 30, true);
  await sharing.end(() => Promise.reject(new Error("gone")), position(0));
});
