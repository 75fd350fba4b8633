/**
 * Proposals from a Kafka topic have no user and may not change access, in a running service with a
 * real Kafka.
 */
import avro from "avsc";
import { describe, expect, test } from "vitest";
import { schemaOfTopic, topics } from "../../src/feed/event-schemas.ts";
import { producerSettings } from "../../src/feed/kafka/kafka-client.ts";
import { createKafkaSpace, createReader } from "../adapter/kafka-place.ts";
import { ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded } from "../support/client.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { guardedService } from "./guarded-service.ts";

const store = await reachStore("kafka");
const MINA = "urn:li:corpuser:mina";
const WAIT = { timeout: 45_000, interval: 100 };
const schema = schemaOfTopic(topics.proposals);
const proposalType = avro.Type.forSchema(JSON.parse(schema.text));

function framed(urn: string, aspectName: string, value: unknown, changeType = "UPSERT"): Buffer {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(schema.id, 1);
  const text = Buffer.from(JSON.stringify(value ?? null));
  const aspect = value === undefined ? null : { value: text, contentType: "application/json" };
  const record = {
    ...{ auditHeader: null, entityKeyAspect: null, systemMetadata: null, headers: null },
    ...{ entityType: urn.split(":")[2], entityUrn: urn, changeType, aspectName, aspect },
  };
  return Buffer.concat([frame, proposalType.toBuffer(record)]);
}

const policy = {
  ...{ displayName: "", description: "", type: "PLATFORM", state: "ACTIVE" },
  ...{ privileges: ["MANAGE_POLICIES", "MANAGE_ACCESS_TOKENS"], actors: { allUsers: true } },
};
const admin = { roles: ["urn:li:dataHubRole:Admin"] };

// Not every machine has a Kafka server; storeTitle names the reason.
describe.skipIf("skipped" in store)(`proposals in ${storeTitle("kafka", store)}`, () => {
  test("that change access are rejected to the topic of failed proposals", async () => {
    const space = createKafkaSpace("url" in store ? store.url : "");
    await using service = await guardedService({ kafka: space.url });
    const { client, operator } = service;
    const { id } = await makeToken(client, { actorUrn: MINA }, operator);
    const token = `urn:li:dataHubAccessToken:${id}`;
    const values: readonly (readonly [urn: string, value: Buffer])[] = [
      ["urn:li:dataHubPolicy:x", framed("urn:li:dataHubPolicy:x", "dataHubPolicyInfo", policy)],
      [MINA, framed(MINA, "roleMembership", admin)],
      [MINA, framed(MINA, "corpUserKey", undefined, "DELETE")],
      [token, framed(token, "dataHubAccessTokenKey", undefined, "DELETE")],
      ["urn:li:tag:told", framed("urn:li:tag:told", "tagProperties", { name: "told" })],
    ];
    const producer = space.kafka.producer(producerSettings);
    await producer.connect();
    const messages = values.map(([key, value]) => ({ key, value }));
    await producer.send({ topic: space.prefix + topics.proposals, messages });
    await producer.disconnect();

    const read = async (urn: string, aspect: string) => {
      const { body } = await client.call("GET", `/entitiesV2/${encoded(urn)}`, undefined, operator);
      return body.aspects[aspect]?.value;
    };
    await expect.poll(() => read("urn:li:tag:told", "tagProperties"), WAIT).toBeDefined();
    await expect.poll(async () => (await space.read(topics.failedProposals)).length, WAIT).toBe(4);
    const decode = createReader();
    for (const { value } of await space.read(topics.failedProposals)) {
      const { error } = (await decode(value)) as { readonly error: string };
      expect(error).toMatch(/this needs the privilege (?:Manage|Edit)/);
    }
    expect(await read("urn:li:dataHubPolicy:x", "dataHubPolicyInfo")).toBeUndefined();
    expect(await read(MINA, "roleMembership")).toBeUndefined();
    const { body } = await ask(
      client,
      `{ listAccessTokens(input: {filters: []}) { tokens { id actorUrn } } }`,
      {},
      operator,
    );
    expect(body.data.listAccessTokens.tokens).toEqual([{ id, actorUrn: MINA }]);
    await space.remove();
  });
});
