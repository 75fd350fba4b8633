/** Values of aspects that the types of DataHub's schema lack: they make no other value fail. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

async function read(urn: string, selected: string) {
  const query = `query($urn: String!) { entity(urn: $urn) { ${selected} } }`;
  const { body } = await ask(service.client, query, { urn });
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return body.data.entity;
}

test("symbols of the model are values of the schema", async () => {
  const urn = "urn:li:domain:harbour";
  await service.client.upsert(urn, "displayProperties", {
    icon: { iconLibrary: "PHOSPHOR", name: "anchor", style: "bold" },
  });
  const selected = "... on Domain { displayProperties { icon { iconLibrary name } } }";
  expect(await read(urn, selected)).toEqual({
    displayProperties: { icon: { iconLibrary: "PHOSPHOR", name: "anchor" } },
  });
});

test("a required enum is UNKNOWN for a text that it lacks", async () => {
  const urn = "urn:li:dataHubPolicy:odd";
  const system = { lastObserved: 1, runId: "before", version: "1" };
  const written = (aspect: string, value: object): Uint8Array =>
    encodeChange({
      ...{ urn, entityType: "dataHubPolicy", aspect, changeType: "UPSERT", system },
      value: JSON.stringify(value),
      created: { time: 1, actor: "urn:li:corpuser:ada" },
    });
  // An older release accepted any text.
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    const policy = {
      ...{ displayName: "odd", description: "", type: "NETWORK", state: "PAUSED" },
      ...{ privileges: [], actors: { resourceOwners: false }, editable: true },
    };
    const records = [
      written("dataHubPolicyKey", { id: "odd" }),
      written("dataHubPolicyInfo", policy),
    ];
    await log.append([{ stream: entityStream(urn), expected: "any", records }]);
    await log.close();
  });
  expect(await read(urn, "... on DataHubPolicy { policyType state name }")).toEqual({
    ...{ policyType: "UNKNOWN", state: "UNKNOWN", name: "odd" },
  });
});

test("an input of a type that a list lacks is omitted from the list", async () => {
  const urn = "urn:li:chart:(looker,tides)";
  const table = "urn:li:dataset:(urn:li:dataPlatform:hive,tides,PROD)";
  const stamp = { time: 1, actor: "urn:li:corpuser:ada" };
  await service.client.upsert(urn, "chartInfo", {
    ...{ title: "Tides", description: "", lastModified: { created: stamp, lastModified: stamp } },
    inputEdges: ["urn:li:chart:(looker,waves)", table].map((destinationUrn) => ({
      destinationUrn,
    })),
  });
  const selected = "... on Chart { info { name inputs { urn } } }";
  expect(await read(urn, selected)).toEqual({ info: { name: "Tides", inputs: [{ urn: table }] } });
});

test("a required entity of another type is named in the error", async () => {
  const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,gauges,PROD)";
  await service.client.upsert(urn, "forms", {
    ...{ completedForms: [], verifications: [] },
    incompleteForms: [{ urn: "urn:li:tag:tides", incompletePrompts: [], completedPrompts: [] }],
  });
  const selected = "... on Dataset { name forms { incompleteForms { form { urn } } } }";
  const query = `query($urn: String!) { entity(urn: $urn) { ${selected} } }`;
  const { body } = await ask(service.client, query, { urn });
  expect(body.errors).toEqual([
    expect.objectContaining({
      message: expect.stringContaining('"urn:li:tag:tides" is not of the type Form'),
      extensions: expect.objectContaining({ code: 400, type: "BAD_REQUEST" }),
    }),
  ]);
  expect(body.data.entity.name).toBe("gauges");
});

test("a dismissed announcement is a setting of the user", async () => {
  const urn = "urn:li:corpuser:ada";
  const dismissed = ["urn:li:post:storm"];
  await service.client.upsert(urn, "corpUserSettings", {
    appearance: {},
    homePage: { dismissedAnnouncements: dismissed },
  });
  const selected = "... on CorpUser { settings { homePage { dismissedAnnouncementUrns } } }";
  expect(await read(urn, selected)).toEqual({
    settings: { homePage: { dismissedAnnouncementUrns: dismissed } },
  });
});

test("the applications of a metric are relationships", async () => {
  const urn = "urn:li:metric:(urn:li:dataPlatform:hive,harbour,depth)";
  const application = "urn:li:application:web";
  await service.client.upsert(urn, "applications", { applications: [application] });
  const edges = "total relationships { type direction entity { urn } created { actor } }";
  expect(await read(urn, `... on Metric { applications { ${edges} } }`)).toEqual({
    applications: {
      total: 1,
      relationships: [
        {
          ...{ type: "AssociatedWith", direction: "OUTGOING", entity: { urn: application } },
          created: { actor: "urn:li:corpuser:__datahub_system" },
        },
      ],
    },
  });
});

test("runs of an assertion have their window, the time of their write, and the number of errors", async () => {
  const urn = "urn:li:assertion:depth";
  const window = { startTimeMillis: 7, length: { unit: "HOUR", multiple: 2 } };
  await service.client.upsert(urn, "assertionRunEvent", {
    ...{ timestampMillis: 9, runId: "1", assertionUrn: urn, status: "COMPLETE" },
    ...{ asserteeUrn: "urn:li:dataset:(urn:li:dataPlatform:hive,tides,PROD)" },
    partitionSpec: { type: "PARTITION", partition: "first", timePartition: window },
    result: { type: "ERROR" },
  });
  const run = `lastObservedMillis
    partitionSpec { timePartition { startTimeMillis durationMillis } }`;
  const selected = `... on Assertion { runEvents { total errored failed runEvents { ${run} } } }`;
  expect(await read(urn, selected)).toEqual({
    runEvents: {
      ...{ total: 1, errored: 1, failed: 0 },
      runEvents: [
        {
          lastObservedMillis: expect.any(Number),
          partitionSpec: { timePartition: { startTimeMillis: 7, durationMillis: 7_200_000 } },
        },
      ],
    },
  });
});
