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

test("the run of a job names its job or flow, and the run that started it", () => {
  const run = "urn:li:dataProcessInstance:a";
  const entry = changeOf(run, "dataProcessInstanceRunEvent", { status: "STARTED" }, true);
  const parametersOf = (value: object) =>
    shown({ ...entry, relationships: JSON.stringify(value) })[0]?.parameters;
  const flow = "urn:li:dataFlow:(airflow,a,PROD)";
  const job = `urn:li:dataJob:(${flow},b)`;
  const parentInstance = "urn:li:dataProcessInstance:b";
  expect(parametersOf({ parentTemplate: job, parentInstance, upstreamInstances: [] })).toEqual({
    ...{ dataJobUrn: job, parentInstanceUrn: parentInstance },
  });
  expect(parametersOf({ parentTemplate: flow })).toEqual({ dataFlowUrn: flow });
  expect(parametersOf({ parentTemplate: "urn:li:dataset:a" })).toEqual({});
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

test("an incident is active, then resolved; another change of it has no such meaning", () => {
  const info = (state: string, more: object = {}) => ({
    ...{ type: "FRESHNESS", title: "Late", entities: ["urn:li:dataset:a"], ...more },
    status: { state, message: "Since noon" },
  });
  const urn = "urn:li:incident:a";
  const of = (before: object | undefined, after: object) =>
    shown({
      ...changeOf(urn, "incidentInfo", after),
      previous: before && { value: JSON.stringify(before) },
    }).filter(({ category }) => category === "INCIDENT");
  expect(of(undefined, info("ACTIVE"))).toEqual([
    {
      ...{ category: "INCIDENT", operation: "ACTIVE", modifier: undefined },
      parameters: {
        ...{ entities: '["urn:li:dataset:a"]', type: "FRESHNESS", title: "Late" },
        message: "Since noon",
      },
    },
  ]);
  expect(of(info("ACTIVE"), info("RESOLVED"))).toMatchObject([{ operation: "RESOLVED" }]);
  expect(of(info("ACTIVE"), info("ACTIVE", { priority: 1 }))).toEqual([]);
});

test("a form is assigned, filled in, verified and removed", () => {
  const form = "urn:li:form:a";
  const one = { urn: form, incompletePrompts: [], completedPrompts: [] };
  const none = { incompleteForms: [], completedForms: [], verifications: [] };
  const of = (before: object, after: object) =>
    shown({
      ...changeOf("urn:li:dataset:a", "forms", after),
      previous: { value: JSON.stringify(before) },
    });
  const assigned = { ...none, incompleteForms: [one] };
  const completed = { ...none, completedForms: [one] };
  const parameters = { formUrn: form, status: "INCOMPLETE", verified: false };
  const of1 = { category: "FORM", modifier: form };
  expect(of(none, assigned)).toEqual([{ ...of1, operation: "ADD", parameters }]);
  expect(of(assigned, completed)).toMatchObject([
    { ...of1, operation: "MODIFY", parameters: { status: "COMPLETE", verified: false } },
  ]);
  expect(of(completed, { ...completed, verifications: [{ form }] })).toMatchObject([
    { operation: "MODIFY", parameters: { verified: true } },
  ]);
  expect(of(completed, none)).toMatchObject([{ ...of1, operation: "REMOVE" }]);
});
