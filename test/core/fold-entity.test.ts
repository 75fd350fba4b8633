import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import { foldEntity } from "../../src/core/fold-entity.ts";
import { revision } from "../../src/core/position.ts";
import type { AspectWrite } from "../../src/views/aspects/aspect-table.ts";
import {
  aspectHistories,
  createAspectModel,
  keyOf,
  typeOf,
  urns,
} from "../contract/aspect-table-model.ts";

/** The change that the aspect projection turns into the write. */
function changeOf(write: AspectWrite): PlacedChange {
  const { urn, aspect, position, revision: at } = write;
  const hasSystem = write.op === "value" || write.op === "confirm";
  const system = hasSystem ? JSON.parse(write.system) : { lastObserved: 0, runId: "r" };
  const types = { value: "UPSERT", confirm: "RESTATE", remove: "DELETE", remove_entity: "DELETE" };
  return {
    ...{ urn, aspect, position, revision: at, entityType: typeOf(urn), timeseries: false },
    changeType: types[write.op] as PlacedChange["changeType"],
    value: write.op === "value" ? write.value : undefined,
    created:
      write.op === "value" ? { time: write.time, actor: write.actor } : { time: 0, actor: "" },
    system: hasSystem ? { ...system, version: String(write.version) } : system,
  };
}

test("a folded entity equals the rows of the aspect table, for any history", () => {
  fc.assert(
    fc.property(aspectHistories(1, 200), (writes) => {
      const table = createAspectModel();
      for (const write of writes) {
        const hasSystem = write.op === "value" || write.op === "confirm";
        const { system } = changeOf(write);
        table.apply(hasSystem ? { ...write, system: JSON.stringify(system) } : write);
      }
      for (const urn of urns) {
        const fold = foldEntity(urn, (type) => keyOf(`urn:li:${type}:`));
        for (const write of writes) if (write.urn === urn) fold.add(changeOf(write));
        expect(fold.state()).toEqual(table.getEntity(urn));
      }
    }),
    { numRuns: 60 },
  );
});

test("a folded entity without records is unknown", () => {
  const { state } = foldEntity("urn:li:tag:a", () => undefined);
  expect(state()).toEqual({ urn: "urn:li:tag:a", revision: revision(-1), aspects: new Map() });
});
