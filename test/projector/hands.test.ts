/** Who does what of a verification (verify/hands.ts). */
import { expect, test } from "vitest";
import {
  type Batch,
  createHands,
  type Hands,
  type Work,
} from "../../src/projector/verify/hands.ts";
import type { VerifiedEntities } from "../../src/projector/verify/verify-entities.ts";

const NOTHING: VerifiedEntities = { records: 0, differences: [], told: {}, unfolded: [] };
const batch: Batch = { views: [], entities: [], places: {}, compare: false };

/** Opens its stores when it is let. */
const slowModule = `data:text/javascript,
  export async function openLogReader(letGo) {
    Atomics.wait(new Int32Array(letGo), 0, 0);
    return { close() {} };
  }
  export const openVerifiedViews = async () => [];`;

/** `until`: what this thread does waits for it. */
function ownWork(until?: Promise<void>): { readonly work: Work; done(): number } {
  let done = 0;
  const work: Work = {
    async verify() {
      await until;
      done++;
      return NOTHING;
    },
    sum: async () => undefined,
    faults: async () => [],
  };
  return { work, done: () => done };
}

const asked = (hands: Hands, times: number) =>
  Array.from({ length: times }, () => hands.verify(batch));

test("a thread that has not started yet holds up nothing", async () => {
  const letGo = new Int32Array(new SharedArrayBuffer(4));
  const own = ownWork();
  const hands = createHands(own.work, [{ module: slowModule, config: letGo.buffer, views: [] }]);
  expect(await Promise.all(asked(hands, 10))).toHaveLength(10);
  expect(own.done()).toBe(10);
  Atomics.store(letGo, 0, 1);
  Atomics.notify(letGo, 0);
  await hands.close();
});

test("a thread that has started does what this one has no time for", async () => {
  const letGo = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const own = ownWork(promise);
  const hands = createHands(own.work, [{ module: slowModule, config: letGo.buffer, views: [] }]);
  let done = 0;
  const all = asked(hands, 10).map((one) => one.then(() => done++));
  await expect.poll(() => done).toBe(9);
  expect(own.done()).toBe(0);
  resolve();
  await Promise.all(all);
  await hands.close();
});

test("a thread that cannot start leaves all of it to this one", async () => {
  const own = ownWork();
  const failing =
    "data:text/javascript,export async function openLogReader() { throw new Error('no') }";
  const hands = createHands(own.work, [{ module: failing, config: undefined, views: [] }]);
  expect(await Promise.all(asked(hands, 10))).toHaveLength(10);
  await hands.close();
  expect(own.done()).toBe(10);
});
