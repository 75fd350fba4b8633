import { expect, test } from "vitest";
import { createAspectProjection } from "../../projections/aspects.ts";
import { projectFeed } from "../../projections/feed.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { ChangeType, PlacedChange } from "../../src/core/change.ts";
import { PLATFORM_EVENT } from "../../src/core/platform-event.ts";
import { position, revision } from "../../src/core/position.ts";

const change = (changeType: ChangeType, timeseries: boolean): PlacedChange => ({
  ...{ urn: "urn:li:tag:a", entityType: "tag", aspect: "status", changeType, timeseries },
  ...{ created: { time: 1, actor: "urn:li:corpuser:a" }, system: { lastObserved: 1, runId: "r" } },
  ...{ position: position(1), revision: revision(0) },
});

test.each([
  ["dataHubSecret", "dataHubSecretValue"],
  ["dataHubAccessToken", "dataHubAccessTokenInfo"],
  ["inviteToken", "inviteToken"],
  ["corpuser", "corpUserCredentials"],
  ["globalSettings", "globalSettingsInfo"],
  ["dataHubConnection", "dataHubConnectionDetails"],
  ["service", "mcpServerProperties"],
])("a change of %s %s is not an event, because it holds a secret", (entityType, aspect) => {
  const urn = `urn:li:${entityType}:a`;
  expect(projectFeed({ ...change("UPSERT", false), urn, entityType, aspect })).toEqual([]);
});

test("a platform event of a producer is an event, and produces no writes to views", () => {
  const value = '{"name":"loaded"}';
  const event = {
    ...change("UPSERT", true),
    urn: "",
    entityType: "",
    aspect: PLATFORM_EVENT,
    value,
  };
  expect(projectFeed(event)).toEqual([{ change: event }]);
  expect(createTimeseriesProjection(() => undefined)(event)).toEqual([]);
  expect(createAspectProjection(() => undefined)(event)).toEqual([]);
});

test.each([
  ["UPSERT", false, true],
  ["UPSERT", true, true],
  ["DELETE", false, true],
  ["DELETE", true, false],
  ["RESTATE", false, false],
  ["RESTATE", true, false],
] as const)("a change %s (timeseries: %s) is an event: %s", (changeType, timeseries, isEvent) => {
  const one = change(changeType, timeseries);
  expect(projectFeed(one)).toEqual(isEvent ? [{ change: one }] : []);
});
