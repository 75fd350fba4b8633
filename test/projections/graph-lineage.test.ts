import { describe, expect, test } from "vitest";
import { lineageSteps } from "../../projections/graph/lineage.ts";
import type { Step } from "../../src/views/graph/graph.ts";
import { defaultModel } from "../model/default-model.ts";

const steps = lineageSteps(defaultModel);

/** Steps as text: `OUT DownstreamOf dataset` … */
const stepsOf = (direction: keyof typeof steps, entity: string): readonly string[] =>
  (steps[direction].get(entity) ?? []).map(
    (step) => `${step.direction.slice(0, -5)} ${step.type} ${[...step.to].sort().join(" ")}`,
  );

describe("the lineage steps", () => {
  test.each([
    [
      "dataset",
      [
        "OUT ConsumesMetric metric",
        "OUT DownstreamOf dataset",
        "INC DataProcessInstanceProduces dataProcessInstance",
        "INC Produces api application dataJob",
      ],
    ],
    ["chart", ["OUT Consumes chart dataset", "OUT ConsumesMetric metric"]],
    [
      "dashboard",
      [
        ...["OUT Consumes dataset", "OUT ConsumesMetric metric", "OUT Contains chart"],
        "OUT DashboardContainsDashboard dashboard",
      ],
    ],
    [
      "dataJob",
      ["OUT Consumes dataset", "OUT DownstreamOf dataJob", "INC UsedBy mlModel mlModelGroup"],
    ],
    ["mlFeature", ["OUT DerivedFrom dataset"]],
    ["mlModelGroup", ["OUT TrainedBy dataJob dataProcessInstance", "INC MemberOf mlModel"]],
    ["schemaField", ["OUT DownstreamOf schemaField"]],
    ["corpuser", []],
  ])("upstream steps of %s follow its edges", (entity, expected) => {
    expect(stepsOf("UPSTREAM", entity)).toEqual(expected);
  });

  test.each([
    ["chart", ["INC Consumes chart", "INC Contains dashboard"]],
    ["dashboard", ["INC DashboardContainsDashboard dashboard"]],
    [
      "dataJob",
      ["OUT Produces dataset", "INC DownstreamOf dataJob", "INC TrainedBy mlModel mlModelGroup"],
    ],
    ["mlFeature", ["INC Consumes mlModel"]],
    [
      "mlModel",
      [
        "OUT MemberOf mlModelGroup",
        "OUT UsedBy dataJob dataProcessInstance",
        "INC DataProcessInstanceConsumes dataProcessInstance",
      ],
    ],
    ["schemaField", ["INC DownstreamOf schemaField"]],
    ["mlPrimaryKey", []],
  ])("downstream steps of %s follow edges that lead to it", (entity, expected) => {
    expect(stepsOf("DOWNSTREAM", entity)).toEqual(expected);
  });

  test("downstream steps of a dataset lead to everything that consumes it", () => {
    const [consumes] = stepsOf("DOWNSTREAM", "dataset").filter((step) =>
      step.includes(" Consumes "),
    );
    for (const type of ["application", "chart", "dashboard", "dataJob", "dataProcess", "metric"]) {
      expect(consumes?.split(" ")).toContain(type);
    }
    expect(stepsOf("DOWNSTREAM", "dataset")).toContain(
      "INC DownstreamOf aiAgent dataset semanticModel",
    );
  });

  test("no entity type has two steps with the same direction and type", () => {
    for (const table of Object.values(steps)) {
      for (const own of table.values()) {
        const names = own.map(({ direction, type }: Step) => `${direction} ${type}`);
        expect(new Set(names).size).toBe(names.length);
      }
    }
  });
});
