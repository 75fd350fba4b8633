/** When the projector leaves the core to others, and for how long. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import { createSharing } from "../../src/projector/sharing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** So many records are written in a millisecond where following takes more than the whole core. */
const TOO_MANY = 30;

/** What happens in a turn, and in what it leaves to others. */
interface Around {
  /** There is more to do than a batch. */
  readonly behind?: boolean;
  /** Records in a millisecond while it works, and while it leaves the core. */
  readonly written?: number;
  readonly left?: number;
  /** How far the costly views are behind, where they have a batch in the turn. */
  readonly costlyBehind?: number;
}

/** `step`: from one position to the next, as in a log whose positions are byte offsets. */
function open(step = 1) {
  let worked = 0;
  let computed = 0;
  let records = 0;
  let leftPerMs = 0;
  let lag = 0;
  const began = Date.now();
  /** Only pauses move the clock of the timers. */
  const paused = () => Date.now() - began;
  let pausedBefore = 0;
  const sharing = createSharing({
    wallMs: () => worked + paused(),
    computedMs: () => computed,
  });
  const head = () => records + leftPerMs * (paused() - pausedBefore);
  const begin = (
    tookMs: number,
    ownMs: number,
    { behind = true, written = TOO_MANY, left = written * 2, costlyBehind = 500 }: Around = {},
  ) => {
    records = head();
    [pausedBefore, leftPerMs] = [paused(), left];
    sharing.begin();
    if (behind) sharing.full();
    worked += tookMs;
    records += written * tookMs;
    // A record costs half a tenth of a millisecond, two thirds of it a view that has its own turns.
    computed += ownMs / 3;
    sharing.took(ownMs * 20, false);
    computed += (ownMs * 2) / 3;
    sharing.recordsOf(2_000, costlyBehind);
    sharing.took(ownMs * 20, true);
  };
  /** Milliseconds that it leaves to others after a turn. */
  async function turn(tookMs: number, ownMs: number, around: Around = {}): Promise<number> {
    begin(tookMs, ownMs, around);
    const before = paused();
    const ended = sharing.end(
      {
        head: async () => position(step * Math.floor(head())),
        ...(step > 1 && {
          countBetween: (after: Position, upTo: Position) => (upTo - after) / step,
        }),
      },
      position(step * Math.max(0, Math.floor(head()) - lag)),
    );
    await vi.runAllTimersAsync();
    await ended;
    return paused() - before;
  }
  return {
    sharing,
    begin,
    turn,
    /** Writers are too many. */
    busy: (around: Around = {}) => turn(1, 1, around),
    fallBehind(count: number) {
      lag = count;
    },
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

test("far behind it goes on where what is written takes less than the core to follow", async () => {
  const { sharing, turn } = open();
  await turn(1, 1, { written: 10 });
  for (let n = 0; n < 20; n++) expect(await turn(400, 100, { written: 10 })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
  // Writers become more, and fewer again.
  let left = 0;
  for (let n = 0; n < 20; n++) left = await turn(400, 50);
  expect(left).toBe(250);
  for (let n = 0; n < 20; n++) left = await turn(400, 50, { written: 10 });
  expect(left).toBe(0);
});

test("positions that are byte offsets do not make writers look faster", async () => {
  const { sharing, turn, fallBehind } = open(300);
  await turn(1, 1, { written: 10 });
  for (let n = 0; n < 20; n++) expect(await turn(400, 100, { written: 10 })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
  // 40,000 records behind, it still yields to writers that want the core.
  fallBehind(40_000);
  let left = 0;
  for (let n = 0; n < 20; n++) left = await turn(400, 50);
  expect(left).toBe(250);
  expect(sharing.recordsOf(2_000)).toBe(250);
});

test("far behind, where writers want the core, it takes less at once and leaves it to them", async () => {
  const { sharing, turn, busy } = open();
  await busy();
  expect(await turn(100, 30)).toBe(150);
  expect(sharing.recordsOf(2_000)).toBe(250);
  expect(sharing.recordsOf(1)).toBe(1);
  expect(await turn(200, 150)).toBe(500);
  // As soon as it is near, or alone, all is as before.
  expect(await turn(100, 30, { behind: false })).toBe(0);
  expect(sharing.recordsOf(2_000)).toBe(2_000);
  expect(await turn(100, 30)).toBe(150);
  // One turn that had not to wait had the core because it was left to others before.
  for (let n = 0; n < 3; n++) expect(await turn(32, 30)).toBe(150);
  expect(await turn(32, 30)).toBe(0);
});

test("what is left to writers who bring no more for it is taken again soon, each time for longer", async () => {
  const { turn, busy } = open();
  const around = { written: TOO_MANY, left: TOO_MANY };
  await busy(around);
  const isLeft = async (): Promise<boolean> => (await turn(100, 30, around)) > 0;
  /** Tries it, and tells after how many seconds the next trial begins. */
  async function refused(): Promise<number> {
    while (await isLeft());
    let turns = 1;
    while (!(await isLeft())) turns++;
    return Math.round(turns / 10);
  }
  for (const seconds of [1, 2, 4, 8, 8]) expect(await refused()).toBe(seconds);
  // They may want it now, and not later.
  for (let n = 0; n < 30; n++) await turn(100, 30);
  expect(await refused()).toBe(1);
});

test("what writers bring beside the views is not what they brought before a pause", async () => {
  const { turn, busy } = open();
  const around = { written: TOO_MANY, left: TOO_MANY };
  await busy(around);
  for (let n = 0; n < 4; n++) await turn(200, 30, { behind: false, written: 0 });
  await turn(2_000, 30, { behind: false, written: 1 });
  for (let n = 0; n < 20; n++) await turn(100, 100, around);
  for (let n = 0; n < 2; n++) expect(await turn(100, 30, around)).toBe(150);
  expect(await turn(100, 30, around)).toBe(0);
});

test("from writers who have use of it the core is taken for a moment every five seconds", async () => {
  const { turn, busy } = open();
  await busy();
  let turns = 0;
  while (turns < 100 && (await turn(100, 30)) > 0) turns++;
  expect(turns).toBe(20);
  expect(await turn(100, 30)).toBe(0);
  expect(await turn(100, 30)).toBe(0);
  expect(await turn(100, 30)).toBe(150);
});

test("so far behind that writers would soon wait for it, it leaves them nothing", async () => {
  const { turn, busy, fallBehind } = open();
  await busy();
  expect(await turn(100, 30)).toBe(150);
  fallBehind(50_001);
  expect(await turn(10_000, 30)).toBe(0);
});

test("what far views pass over does not make following cheaper", async () => {
  const { turn } = open();
  await turn(30, 30);
  for (let n = 0; n < 100; n++) await turn(10, 1, { costlyBehind: 8_001, written: 0 });
  for (let n = 0; n < 4; n++) await turn(400, 50);
  expect(await turn(400, 50)).toBe(250);
});

test("costly views take what they can in a moment, half of what is more, whole batches far behind", async () => {
  const { sharing, turn } = open();
  expect(sharing.recordsOf(2_000, 500)).toBe(2_000);
  // A thirtieth of a millisecond for each record of those.
  for (let n = 0; n < 5; n++) await turn(30, 30, { behind: false, written: 1 });
  expect(sharing.recordsOf(9_000, 500)).toBe(2_400);
  expect(sharing.recordsOf(9_000, 8_000)).toBe(4_000);
  expect(sharing.recordsOf(9_000, 36_001)).toBe(9_000);
  // A view that takes long for a record takes no longer for a batch than others wait.
  expect(sharing.recordsOf(90_000, 80_000)).toBe(15_000);
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

test("a turn that was over at once tells nothing of the core, and some of them together do", async () => {
  const { turn, busy } = open();
  await busy();
  await turn(100, 30);
  // They had to wait no more, and are told of after five milliseconds each time.
  for (let n = 0; n < 7; n++) expect(await turn(3, 3)).toBe(15);
  expect(await turn(3, 3)).toBe(0);
});

test("a pause ends when something else is asked for, and a log that cannot be read makes none", async () => {
  const { sharing, begin, busy } = open();
  await busy();
  begin(100, 30);
  let ended = false;
  const pause = sharing.end({ head: async () => position(40_000) }, position(0)).then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(100);
  expect(ended).toBe(false);
  sharing.goOn();
  await pause;
  begin(100, 30);
  await sharing.end({ head: () => Promise.reject(new Error("gone")) }, position(0));
});
