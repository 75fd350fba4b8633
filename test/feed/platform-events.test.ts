/** The platform events of a change: its meanings, and the edges that it adds and removes. */
import { expect, test } from "vitest";
import { createGraphProjection } from "../../projections/graph/graph.ts";
import { compileGraphRules } from "../../projections/graph/rules.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { PLATFORM_EVENT } from "../../src/core/platform-event.ts";
import { position, revision } from "../../src/core/position.ts";
import type { ChangeEvent } from "../../src/feed/change-event.ts";
import { createPlatformEvents } from "../../src/feed/platform-events.ts";
import { defaultModel } from "../model/default-model.ts";

const keyAspectOf = (type: string) => defaultModel.entities.get(type)?.keyAspect;
const projectEdges = createGraphProjection(compileGraphRules(defaultModel), keyAspectOf);
const platformEventsOf = createPlatformEvents({ keyAspectOf, projectEdges });

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const created = { time: 5, actor: "urn:li:corpuser:ada" };
const system = { lastObserved: 5, runId: "r" };
const change = (aspect: string, value: object | undefined): PlacedChange => ({
  ...{ urn, entityType: "dataset", aspect, timeseries: false, created, system },
  ...{ position: position(1), revision: revision(0) },
  changeType: value === undefined ? "DELETE" : "UPSERT",
  value: value && JSON.stringify(value),
});
const previous = (value: object): ChangeEvent["previous"] => ({
  value: JSON.stringify(value),
  system,
});
const edgeEvents = (event: ChangeEvent) =>
  platformEventsOf(event).filter(({ name }) => name === "relationshipChangeEvent");
const tagged = (...names: string[]) => ({
  tags: names.map((name) => ({ tag: `urn:li:tag:${name}` })),
});
const shown = (event: ChangeEvent) =>
  edgeEvents(event).map(({ payload }) => {
    const { operation, destinationUrn } = JSON.parse(payload.value);
    return [operation, destinationUrn];
  });

test("a relationship that a change adds is an event with DataHub's members", () => {
  const [event, ...others] = edgeEvents({ change: change("globalTags", tagged("pii")) });
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    ...{ name: "relationshipChangeEvent", key: `relationshipChangeEvent-${urn}` },
    header: { timestampMillis: 5 },
  });
  expect(JSON.parse(event?.payload.value ?? "")).toEqual({
    ...{ sourceUrn: urn, destinationUrn: "urn:li:tag:pii", operation: "ADD" },
    ...{ relationshipType: "TaggedWith", auditStamp: created },
  });
});

test("only relationships that differ from the previous value are events", () => {
  const event = {
    change: change("globalTags", tagged("a", "b")),
    previous: previous(tagged("b", "c")),
  };
  expect(shown(event)).toEqual([
    ["ADD", "urn:li:tag:a"],
    ["REMOVE", "urn:li:tag:c"],
  ]);
});

test("a deleted aspect removes its relationships", () => {
  const event = { change: change("globalTags", undefined), previous: previous(tagged("a")) };
  expect(shown(event)).toEqual([["REMOVE", "urn:li:tag:a"]]);
});

test("a deleted entity removes the relationships of its key aspect", () => {
  const flow = "urn:li:dataFlow:(airflow,nightly,PROD)";
  const job = { urn: `urn:li:dataJob:(${flow},load)`, entityType: "dataJob" };
  const event = {
    change: { ...change("dataJobKey", undefined), ...job },
    previous: previous({ flow, jobId: "load" }),
  };
  expect(shown(event)).toEqual([["REMOVE", flow]]);
});

test("meanings come before relationships, and an event of a producer stands alone", () => {
  const events = platformEventsOf({ change: change("globalTags", tagged("pii")) });
  expect(events.map(({ name }) => name)).toEqual(["entityChangeEvent", "relationshipChangeEvent"]);
  const own = {
    name: "loaded",
    header: { timestampMillis: 1 },
    payload: { contentType: "", value: "" },
  };
  const produced = { ...change(PLATFORM_EVENT, own), urn: "", entityType: "", timeseries: true };
  expect(platformEventsOf({ change: produced })).toEqual([own]);
});
