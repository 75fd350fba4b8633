/**
 * The edges to follow upstream and downstream from each entity type, compiled from the Relationship
 * annotations with `isLineage`.
 *
 *   dataset   DownstreamOf, upstream   → dataset: up OUTGOING,   dataset: down INCOMING
 *   dataJob   Produces, downstream     → dataset: down OUTGOING, dataset: up INCOMING from dataJob
 */

import type { Model } from "../../src/model/model.ts";
import type { Step, Steps } from "../../src/views/graph/graph.ts";
import { compileGraphRules } from "./rules.ts";

interface LineageSteps {
  readonly UPSTREAM: Steps;
  readonly DOWNSTREAM: Steps;
}

export function lineageSteps(model: Model): LineageSteps {
  const up = createTable();
  const down = createTable();
  const rulesByAspect = compileGraphRules(model);
  for (const { name: entity, keyAspect, aspects } of model.entities.values()) {
    const rules = [keyAspect, ...aspects].flatMap((aspect) => rulesByAspect.get(aspect) ?? []);
    for (const { name, lineage, entityTypes } of rules) {
      if (lineage === undefined) continue;
      const [towards, back] = lineage === "upstream" ? [up, down] : [down, up];
      for (const other of entityTypes) {
        towards.add(entity, "OUTGOING", name, other);
        back.add(other, "INCOMING", name, entity);
      }
    }
  }
  // The edges between fields (fields.ts) have no annotations.
  up.put("schemaField", { direction: "OUTGOING", type: "DownstreamOf", to: FIELDS });
  down.put("schemaField", { direction: "INCOMING", type: "DownstreamOf", to: FIELDS });
  return { UPSTREAM: up.steps(), DOWNSTREAM: down.steps() };
}

const FIELDS: ReadonlySet<string> = new Set(["schemaField"]);

function createTable() {
  const byEntity = new Map<string, Map<string, Step & { readonly to: Set<string> }>>();
  return {
    add(entity: string, direction: Step["direction"], type: string, other: string): void {
      const steps = byEntity.get(entity) ?? new Map();
      const key = `${direction} ${type}`;
      const step = steps.get(key) ?? { direction, type, to: new Set() };
      step.to.add(other);
      byEntity.set(entity, steps.set(key, step));
    },
    put(entity: string, step: Step): void {
      byEntity.set(entity, new Map([["", { ...step, to: new Set(step.to) }]]));
    },
    /** Outgoing edges first, then by name: independent of the order of the model's files. */
    steps(): Steps {
      const ordered = (steps: ReadonlyMap<string, Step>): readonly Step[] =>
        [...steps.values()].sort(
          (a, b) =>
            (a.direction < b.direction ? 1 : a.direction > b.direction ? -1 : 0) ||
            (a.type < b.type ? -1 : 1),
        );
      return new Map([...byEntity].map(([entity, steps]) => [entity, ordered(steps)]));
    },
  };
}
