/** Events of producers: durable in the log, delivered to subscribers, ignored by views. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { topics } from "../../src/feed/topic-names.ts";
import { createKafkaSpace, createReader } from "../adapter/kafka-place.ts";
import { guardedService, writeAsOperator } from "../auth/guarded-service.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import type { Client } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { reachStore, storeTitle } from "../support/stores.ts";

const payload = { contentType: "application/json", value: '{"rows":57,"note":"größer"}' };
const event = { header: { timestampMillis: 1_772_323_200_000 }, name: "loaded", payload };
const produced = { name: "loaded", key: "loaded-seeds", event };

const produce = (client: Client, body: object = produced, headers?: Record<string, string>) =>
  client.call("POST", "/platform?action=producePlatformEvent", body, headers);

let service: RunningService;
let client: Client;
beforeAll(async () => {
  service = await runningService();
  ({ client } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

const pollOf = (topic: string): string =>
  `/openapi/v1/events/poll?topic=${topic}&offsetId=0&pollTimeoutSeconds=0&limit=5000`;

async function poll(from: Client, topic: string, headers?: Record<string, string>) {
  const { body } = await from.call("GET", pollOf(topic), undefined, headers);
  return (body.events as readonly { value: string }[]).map(({ value }) => JSON.parse(value));
}

test("an event reaches pollers between the changes around it, and no view", async () => {
  await client.upsert("urn:li:tag:before", "tagProperties", { name: "before" });
  const { status, body, position } = await produce(client);
  expect([status, body]).toEqual([200, ""]);
  await client.upsert("urn:li:tag:after", "tagProperties", { name: "after" });

  const events = await poll(client, topics.platformEvents);
  const before = events.findIndex((one) => one.payload.value.includes("tag:before"));
  const own = events.findIndex(({ name }) => name === "loaded");
  const after = events.findIndex((one) => one.payload.value.includes("tag:after"));
  expect([before < own, own < after]).toEqual([true, true]);
  expect(events[own]).toMatchObject({ header: event.header, name: "loaded" });
  expect(JSON.parse(events[own].payload.value)).toEqual({ rows: 57, note: "größer" });
  for (const topic of [topics.versioned, topics.timeseries]) {
    expect(JSON.stringify(await poll(client, topic))).not.toContain("loaded");
  }
  const { body: changes } = await client.get("/changes?format=page");
  expect(JSON.stringify(changes)).not.toContain("loaded");

  const reached = await client.call(
    "GET",
    "/relationships?direction=INCOMING&urn=urn:li:tag:after&types=TaggedWith",
    undefined,
    { "X-Annals-Min-Position": String(position) },
  );
  expect(reached.status).toBe(200);
});

test("a waiting poll returns an event when it is produced", async () => {
  const offset = (await produce(client)).position;
  const path = `/openapi/v1/events/poll?topic=${topics.platformEvents}&offsetId=${offset}`;
  const waiting = client.get(path);
  await produce(client);
  const { body } = await waiting;
  expect(body.events).toHaveLength(1);
});

test("a payload of another content type is delivered byte by byte", async () => {
  const text = { contentType: "text/plain", value: "zwölf" };
  await produce(client, { name: "noted", event: { ...event, payload: text } });
  const found = (await poll(client, topics.platformEvents)).at(-1);
  expect(found.payload.contentType).toBe("text/plain");
  expect(Buffer.from(found.payload.value, "latin1").toString()).toBe("zwölf");
});

test("the run of a job names its job and the run that started it", async () => {
  const run = "urn:li:dataProcessInstance:nightly-57";
  const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)";
  const parentInstance = "urn:li:dataProcessInstance:nightly";
  await client.upsert(run, "dataProcessInstanceRelationships", {
    ...{ parentTemplate: job, parentInstance, upstreamInstances: [] },
  });
  await client.upsert(run, "dataProcessInstanceRunEvent", {
    ...{ timestampMillis: 1_772_323_200_000, status: "COMPLETE", attempt: 2 },
    result: { type: "SUCCESS", nativeResultType: "airflow" },
  });
  const payloads = (await poll(client, topics.platformEvents))
    .filter(({ name }) => name === "entityChangeEvent")
    .map((one) => JSON.parse(one.payload.value))
    .filter(({ entityUrn, category }) => entityUrn === run && category === "RUN");
  expect(payloads).toMatchObject([
    {
      operation: "COMPLETED",
      parameters: {
        ...{ attempt: 2, runResult: "SUCCESS", dataJobUrn: job },
        parentInstanceUrn: parentInstance,
      },
    },
  ]);
});

test("a repeated request with its key is written once", async () => {
  const key = { "Idempotency-Key": "once" };
  const { length } = await poll(client, topics.platformEvents);
  const first = await produce(client, produced, key);
  const second = await produce(client, produced, key);
  expect(second.position).toBe(first.position);
  expect(await poll(client, topics.platformEvents)).toHaveLength(length + 1);
});

describe("a rejected event is not written", () => {
  const changed = (part: object) => ({ ...produced, event: { ...event, ...part } });
  test.each([
    ["no name", { event }, 400, "malformed"],
    ["no event", { name: "loaded" }, 400, "malformed"],
    [
      "no payload",
      { name: "loaded", event: { header: event.header, name: "a" } },
      400,
      "malformed",
    ],
    ["a name that is a number", { ...produced, name: 5 }, 400, "malformed"],
    ["an empty name", changed({ name: "" }), 422, "invalid"],
    ["a long name", changed({ name: "x".repeat(256) }), 422, "invalid"],
    ["an empty key", { ...produced, key: "" }, 422, "invalid"],
    ["an unpaired surrogate in the key", { ...produced, key: "\ud800" }, 422, "invalid"],
    [
      "an unpaired surrogate in the payload",
      changed({ payload: { contentType: "text/plain", value: "\ud800" } }),
      422,
      "invalid",
    ],
    ["a negative time", changed({ header: { timestampMillis: -1 } }), 422, "invalid"],
    [
      "a payload that is not JSON",
      changed({ payload: { ...payload, value: "{" } }),
      422,
      "invalid",
    ],
    [
      "a large payload",
      changed({ payload: { ...payload, value: `"${"x".repeat(1_000_000)}"` } }),
      413,
      "too_large",
    ],
  ])("%s", async (_, body, status, code) => {
    const { length } = await poll(client, topics.platformEvents);
    const reply = await produce(client, body);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(await poll(client, topics.platformEvents)).toHaveLength(length);
  });
});

test("producing and polling need privileges, and a user with few rights reads no events", async () => {
  await using guarded = await guardedService({ readAuthorization: "on" });
  const { client, operator } = guarded;
  const all = (state: string) => ({
    ...{ displayName: "all", description: "", type: "METADATA", state },
    ...{ privileges: ["VIEW_ENTITY_PAGE"], actors: { allUsers: true } },
  });
  const { token } = await makeToken(client, { actorUrn: "urn:li:corpuser:mina" }, operator);
  const mina = asBearer(token);
  expect((await produce(client, produced, {})).status).toBe(401);
  const denied = await produce(client, produced, mina);
  expect(denied.status).toBe(403);
  expect(denied.body.message).toContain("Produce Platform Event");
  expect((await produce(client, produced, operator)).status).toBe(200);
  const namesFor = async (headers: Record<string, string>) =>
    (await poll(client, topics.platformEvents, headers)).map(({ name }) => name);
  for (const id of ["view-entity-page-all", "asset-owners-metadata-policy"]) {
    await writeAsOperator(
      guarded,
      `urn:li:dataHubPolicy:${id}`,
      "dataHubPolicyInfo",
      all("INACTIVE"),
    );
  }
  const grant = (privilege: string) =>
    writeAsOperator(guarded, `urn:li:dataHubPolicy:${privilege}`, "dataHubPolicyInfo", {
      ...{ displayName: privilege, description: "", type: "PLATFORM", state: "ACTIVE" },
      ...{ privileges: [privilege], actors: { allUsers: true } },
    });
  const statusOf = async (topic: string) =>
    (await client.call("GET", pollOf(topic), undefined, mina)).status;
  const polled = [topics.platformEvents, topics.versioned, topics.timeseries] as const;
  const statuses = () => Promise.all(polled.map(statusOf));
  expect(await statuses()).toEqual([403, 403, 403]);
  await grant("GET_PLATFORM_EVENTS");
  await expect.poll(statuses).toEqual([200, 403, 403]);
  expect(await namesFor(operator)).toContain("loaded");
  expect(await namesFor(mina)).not.toContain("loaded");
  await grant("GET_METADATA_CHANGE_LOG_EVENTS");
  await expect.poll(statuses).toEqual([200, 200, 200]);

  await grant("PRODUCE_PLATFORM_EVENT_PRIVILEGE");
  await expect.poll(async () => (await produce(client, produced, mina)).status).toBe(200);
});

const store = await reachStore("kafka");

// Kafka is not available everywhere; storeTitle says why.
describe.skipIf("skipped" in store)(`platform events in ${storeTitle("kafka", store)}`, () => {
  test("an event is in PlatformEvent_v1 under its key, also after a restart of the feed", async () => {
    const space = createKafkaSpace("url" in store ? store.url : "");
    try {
      {
        await using fed = await runningService({ kafka: space.url });
        await produce(fed.client);
        await expect.poll(async () => (await space.read(topics.platformEvents)).length).toBe(1);
      }
      const [found, ...others] = await space.read(topics.platformEvents);
      expect([found?.key, others]).toEqual(["loaded-seeds", []]);
      const record = await createReader()(found?.value ?? Buffer.alloc(0));
      expect(record).toMatchObject({ name: "loaded", header: event.header });
      const { value, contentType } = record.payload as { value: Buffer; contentType: string };
      expect([String(value), contentType]).toEqual([payload.value, "application/json"]);
      expect(await space.read(topics.timeseries)).toEqual([]);
    } finally {
      await space.remove();
    }
  });
});
