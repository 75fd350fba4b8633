/** The feed in a real Kafka with TLS, users and access control. */
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ResourcePatternTypes,
} from "kafkajs";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { lastOf, position } from "../../src/core/position.ts";
import { createEventCodec } from "../../src/feed/event-codec.ts";
import { topics } from "../../src/feed/event-schemas.ts";
import { checkKafka } from "../../src/feed/kafka/check.ts";
import { withAdmin } from "../../src/feed/kafka/kafka-client.ts";
import { openKafkaFeedSink } from "../../src/feed/kafka/kafka-feed-sink.ts";
import { createPlatformEvents } from "../../src/feed/platform-events.ts";
import { kafkaAs, kafkaCertificates } from "../support/servers/kafka-secured.ts";
import { ownStore, storeTitle } from "../support/stores.ts";
import { createKafkaSpace, eventsFrom, type KafkaSpace } from "./kafka-place.ts";

const store = await ownStore("secured kafka");
const certificates = kafkaCertificates();
const codec = createEventCodec({ findSchema: async () => undefined });
const log = { id: "log-one", head: position(1_000_000) };
const ownResources = [
  AclResourceTypes.TOPIC,
  AclResourceTypes.GROUP,
  AclResourceTypes.TRANSACTIONAL_ID,
];

// Only servers that the test starts itself have these users.
describe.skipIf("skipped" in store)(`with users and TLS, ${storeTitle("kafka", store)}`, () => {
  let space: KafkaSpace;

  beforeEach(() => {
    space = createKafkaSpace("url" in store ? store.url : "", { certificates });
  });

  afterEach(() => space.remove());

  afterAll(async () => {
    if (!("skipped" in store)) await store.stop();
  });

  /** Grants rights to the user of the feed, who has none at first. */
  const place = (url = kafkaAs(space.url, "annals")) => ({ url, name: "annals", certificates });

  const acl = (resourceType: AclResourceTypes) => ({
    ...{ resourceType, resourceName: space.prefix, principal: "User:annals", host: "*" },
    resourcePatternType: ResourcePatternTypes.PREFIXED,
    operation: AclOperationTypes.ALL,
    permissionType: AclPermissionTypes.ALLOW,
  });

  const grant = (types: readonly AclResourceTypes[]) =>
    withAdmin(space, (admin) => admin.createAcls({ acl: types.map(acl) }));

  const revoke = (types: readonly AclResourceTypes[]) =>
    withAdmin(space, (admin) => admin.deleteAcls({ filters: types.map(acl) }));

  test("the check names the missing rights until the user has all of them", async () => {
    const findings = async () => (await checkKafka(place())).findings;
    const none = await findings();
    expect(none.join("\n")).toMatch(
      /MetadataChangeLog_Versioned_v1" does not exist and cannot be created \(.+\): create it, or grant the user Create and Describe on it/,
    );
    expect(none.at(-1)).toMatch(
      /does not allow the feed to create a topic .*: grant the user Create/,
    );
    await grant([AclResourceTypes.TOPIC]);
    await expect
      .poll(findings)
      .toEqual([expect.stringMatching(/write in a transaction .*: grant the user Write and Desc/)]);
    await grant([AclResourceTypes.TRANSACTIONAL_ID]);
    await expect
      .poll(findings)
      .toEqual([expect.stringMatching(/read in a group .*: grant the user Read on groups/)]);
    await grant([AclResourceTypes.GROUP]);
    await expect.poll(findings).toEqual([]);
    await revoke(ownResources);
  });

  test("events are sent; a revoked right stops the feed, and no event is lost", async () => {
    await grant(ownResources);
    await expect.poll(async () => (await checkKafka(place())).findings).toEqual([]);
    const events = eventsFrom(1, 40);
    const end = (count: number) => lastOf(events.slice(0, count).map(({ change }) => change));
    const sink = await openKafkaFeedSink({
      ...place(),
      codec,
      platformEventsOf: createPlatformEvents({}),
      log,
    });
    await sink.apply(events.slice(0, 20), end(20));

    await revoke([AclResourceTypes.TOPIC]);
    const more = () => sink.apply(events.slice(20), end(40));
    const rejected = await more().catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      code: "unavailable",
      hint: expect.stringMatching(/Grant the user of ANNALS_KAFKA the missing permission/),
    });
    await grant([AclResourceTypes.TOPIC]);
    await expect
      .poll(async () => {
        const at = await sink.position().catch(() => undefined);
        if (at === end(20)) await more().catch(() => {});
        return at;
      })
      .toBe(end(40));
    await sink.close();

    const read = await Promise.all([topics.versioned, topics.timeseries].map((t) => space.read(t)));
    const sent = read.flat().map(({ headers }) => Number(headers["annals-position"]));
    expect(sent.toSorted((a, b) => a - b)).toEqual(events.map(({ change }) => change.position));
    await revoke(ownResources);
  });

  test.each<readonly [what: string, change: (url: string) => string, hint: RegExp]>([
    ["another password", (url) => kafkaAs(url, "annals", "wrong"), /user, password and mechanism/],
    ["a mechanism of others", (url) => `${url}&mechanism=plain`, /user, password and mechanism/],
    [
      "a mechanism that brokers do not know",
      (url) => `${url}&mechanism=scram-sha-256`,
      /user, password and mechanism/,
    ],
  ])("the error for %s names the cause, and shows no password", async (_, change, hint) => {
    const url = change(kafkaAs(space.url, "annals"));
    const rejected = await checkKafka(place(url)).catch((error: unknown) => error);
    expect(rejected).toMatchObject({ code: "unavailable", hint: expect.stringMatching(hint) });
    expect(JSON.stringify(rejected)).not.toMatch(/secret|wrong/);
  });

  test("a certificate of an unknown authority is rejected", async () => {
    const { certificates: _, ...unnamed } = place();
    await expect(checkKafka(unnamed)).rejects.toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining("--store-certificates-file"),
    });
  });

  test("brokers with TLS only cannot be reached without TLS", async () => {
    const url = kafkaAs(space.url, "annals").replace("tls=true&", "");
    await expect(checkKafka(place(url))).rejects.toMatchObject({ code: "unavailable" });
  });

  test("a user of another mechanism can log in", async () => {
    const { findings } = await checkKafka(place(`${kafkaAs(space.url, "admin")}&mechanism=plain`));
    expect(findings).toEqual([]);
  });
});
