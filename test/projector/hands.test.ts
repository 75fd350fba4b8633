/** Who does what of a verification (verify/hands.ts). */
import { expect, test } from "vitest";
import { type Batch, createHands, type Work } from "../../src/projector/verify/hands.ts";
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

test("a thread that has not started yet holds up no more than it has room for", async () => {
  const letGo = new Int32Array(new SharedArrayBuffer(4));
  let own = 0;
  const work: Work = {
    verify: async () => {
      own++;
      return NOTHING;
    },
    sum: async () => undefined,
    faults: async () => [],
  };
  const hands = createHands(work, [{ module: slowModule, config: letGo.buffer, views: [] }]);
  const batches = Array.from({ length: 10 }, () => hands.verify(batch));
  await expect.poll(() => own).toBe(8);
  Atomics.store(letGo, 0, 1);
  Atomics.notify(letGo, 0);
  expect(await Promise.all(batches)).toHaveLength(10);
  expect(own).toBe(8);
  await hands.close();
});
