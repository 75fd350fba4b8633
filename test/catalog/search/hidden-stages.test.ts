/** The cache of lifecycle stages that hide entities. Searches continue if the lookup fails. */
import { expect, test } from "vitest";
import { createHiddenStages } from "../../../src/catalog/search/hidden-stages.ts";
import type { AspectState, EntityState } from "../../../src/core/entity-state.ts";
import { revision } from "../../../src/core/position.ts";

const stage = "urn:li:lifecycleStageType:draft";
const name = "lifecycleStageTypeInfo";
const info: AspectState = {
  ...{ name, version: 1, value: '{"settings":{"hideInSearch":true}}', removed: false },
  ...{ time: 0, actor: "urn:li:corpuser:mira", system: { lastObserved: 0, runId: "a" } },
};
const state: EntityState = { urn: stage, revision: revision(0), aspects: new Map([[name, info]]) };

test("hidden stages are looked up again after a write, and some time after a failure", async () => {
  const store = { asked: 0, down: false, version: 1, time: 0 };
  const hidden = createHiddenStages({
    aspects: {
      async listUrns() {
        store.asked++;
        if (store.down) throw new Error("the store is away");
        return { urns: [stage], total: 1 };
      },
    },
    states: { read: async (urns) => (urns.length > 0 ? [state] : []) },
    version: () => store.version,
    now: () => store.time,
  });
  const asked = async () => [await hidden(["dataset"]), store.asked];

  expect(await asked()).toEqual([[stage], 1]);
  expect(await asked()).toEqual([[stage], 1]);
  store.version++;
  expect(await asked()).toEqual([[stage], 2]);
  [store.down, store.version] = [true, store.version + 1];
  expect(await asked()).toEqual([[stage], 3]);
  store.version++;
  expect(await asked()).toEqual([[stage], 3]);
  [store.down, store.time] = [false, 10_000];
  expect(await asked()).toEqual([[stage], 4]);
});
