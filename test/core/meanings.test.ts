/** The semantic changes that events of runs and changes of documentation produce. */
import { expect, test } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import { meaningsOf } from "../../src/core/timeline/meanings.ts";

const created = { time: 1, actor: "urn:li:corpuser:mina" };
const changeOf = (urn: string, aspect: string, value: object, timeseries = false) => {
  const change = { urn, entityType: urn.split(":")[2], aspect, timeseries, created };
  return { change: { ...change, value: JSON.stringify(value) } as unknown as PlacedChange };
};
const shown = (entry: Parameters<typeof meaningsOf>[0], keyAspect?: string) =>
  meaningsOf(entry, keyAspect).map(({ category, operation, modifier, parameters }) => ({
    ...{ category, operation, modifier, parameters },
  }));

test("a complete evaluation of an assertion is a run; a running one is not", () => {
  const event = { runId: "1", asserteeUrn: "urn:li:dataset:a", timestampMillis: 1 };
  const of = (more: object) =>
    shown(changeOf("urn:li:assertion:a", "assertionRunEvent", { ...event, ...more }, true));
  expect(of({ status: "COMPLETE", result: { type: "SUCCESS" } })).toEqual([
    {
      category: "RUN",
      operation: "COMPLETED",
      modifier: undefined,
      parameters: {
        ...{ runResult: "COMPLETE", runId: "1", asserteeUrn: "urn:li:dataset:a" },
        assertionResult: "SUCCESS",
      },
    },
  ]);
  expect(of({ status: "RUNNING" })).toEqual([]);
});

test("a run of a job starts and completes", () => {
  const of = (value: object) =>
    shown(changeOf("urn:li:dataProcessInstance:a", "dataProcessInstanceRunEvent", value, true));
  expect(of({ status: "STARTED", attempt: 2 })).toMatchObject([
    { category: "RUN", operation: "STARTED", parameters: { attempt: 2 } },
  ]);
  expect(of({ status: "COMPLETE", result: { type: "FAILURE" } })).toMatchObject([
    { operation: "COMPLETED", parameters: { runResult: "FAILURE" } },
  ]);
});

test("other timeseries events produce no semantic change", () => {
  expect(shown(changeOf("urn:li:dataset:a", "datasetProfile", {}, true))).toEqual([]);
});

test("the documentation of each source is a separate change", () => {
  const value = {
    documentations: [
      { documentation: "of a person" },
      { documentation: "propagated", attribution: { source: "urn:li:dataHubAction:a" } },
    ],
  };
  expect(shown(changeOf("urn:li:schemaField:a", "documentation", value))).toMatchObject([
    { category: "DOCUMENTATION", operation: "ADD", modifier: undefined },
    {
      ...{ category: "DOCUMENTATION", operation: "ADD", modifier: "urn:li:dataHubAction:a" },
      parameters: { documentation: "propagated" },
    },
  ]);
});

test("the first value of a key aspect creates the entity", () => {
  const key = changeOf("urn:li:tag:a", "tagKey", { name: "a" });
  expect(shown(key, "tagKey")).toMatchObject([{ category: "LIFECYCLE", operation: "CREATE" }]);
});
