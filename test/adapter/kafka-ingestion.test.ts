/**
 * Ingestion from a real Kafka: messages of producers reach the catalog, or the topic of failed
 * proposals.
 */
import { setTimeout as pause } from "node:timers/promises";
import avro from "avsc";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Caller, Proposal } from "../../src/catalog/catalog.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { createEventCodec } from "../../src/feed/event-codec.ts";
import { eventSchemas, schemaOfTopic, topics } from "../../src/feed/event-schemas.ts";
import { producerSettings, withAdmin } from "../../src/feed/kafka/kafka-client.ts";
import {
  type KafkaIngestion,
  type KafkaIngestionParts,
  openKafkaIngestion,
} from "../../src/feed/kafka/kafka-ingestion.ts";
import { runningService } from "../support/running-service.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { createKafkaSpace, createReader, type KafkaSpace, urnOf } from "./kafka-place.ts";

const store = await reachStore("kafka");
const written = schemaOfTopic(topics.proposals);
const proposalType = avro.Type.forSchema(JSON.parse(written.text));
const codec = createEventCodec({
  findSchema: async (id) => eventSchemas.find((schema) => schema.id === id)?.text,
});

type Asked = { readonly urn: string; readonly value: unknown; readonly key: string | undefined };

function framed(urn: string, value: unknown, changeType = "UPSERT"): Buffer {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(written.id, 1);
  const aspect = { value: Buffer.from(JSON.stringify(value)), contentType: "application/json" };
  const record = {
    ...{ auditHeader: null, entityKeyAspect: null, systemMetadata: null, headers: null },
    ...{ entityType: urn.split(":")[2], entityUrn: urn, changeType, aspectName: "status", aspect },
  };
  return Buffer.concat([frame, proposalType.toBuffer(record)]);
}

async function lagOf(ingestion: KafkaIngestion): Promise<number> {
  const { partitions } = await ingestion.offsets();
  return partitions.reduce((sum, { lag }) => sum + lag, 0);
}

// Not every machine has Kafka; storeTitle says why it is skipped.
describe.skipIf("skipped" in store)(`ingestion from ${storeTitle("kafka", store)}`, () => {
  const server = "url" in store ? store.url : "";
  let space: KafkaSpace;
  let opened: KafkaIngestion[];
  let asked: Asked[];

  beforeEach(() => {
    space = createKafkaSpace(server);
    opened = [];
    asked = [];
  });

  afterEach(async () => {
    for (const ingestion of opened) await ingestion.close();
    await space.remove();
  });

  async function record(proposals: readonly Proposal[], caller: Caller): Promise<void> {
    for (const { entityUrn = "", aspect } of proposals) {
      const value = JSON.parse(String(aspect?.value));
      asked.push({ urn: entityUrn, value, key: caller.idempotencyKey });
    }
  }

  async function open(ingest: KafkaIngestionParts["ingest"] = record): Promise<KafkaIngestion> {
    const ingestion = await openKafkaIngestion({ url: space.url, name: "annals", codec, ingest });
    opened.push(ingestion);
    return ingestion;
  }

  async function send(
    messages: readonly { readonly key: string; readonly value: Buffer | null }[],
  ): Promise<void> {
    const producer = space.kafka.producer(producerSettings);
    await producer.connect();
    await producer.send({ topic: space.prefix + topics.proposals, messages: [...messages] });
    await producer.disconnect();
  }

  const sendValues = (values: readonly (readonly [urn: string, value: unknown])[]) =>
    send(values.map(([urn, value]) => ({ key: urn, value: framed(urn, value) })));

  async function failures(): Promise<readonly Record<string, unknown>[]> {
    const decode = createReader();
    const found = await space.read(topics.failedProposals);
    return Promise.all(
      found.map(async ({ key, value, headers }) => ({ key, headers, ...(await decode(value)) })),
    );
  }

  const settled = (ingestion: KafkaIngestion, total: number) =>
    expect.poll(() => ingestion.counts().ingested + ingestion.counts().failed).toBe(total);

  test("every proposal reaches the catalog, those of a urn in their order", async () => {
    let asking = 0;
    const ingestion = await open(async (proposals, caller) => {
      // Some proposals take longer than later ones.
      await pause((asking++ * 7) % 5);
      await record(proposals, caller);
    });
    const sent = Array.from({ length: 1_200 }, (_, n) => [urnOf(n % 40), { n }] as const);
    await sendValues(sent);
    await settled(ingestion, 1_200);
    for (let u = 0; u < 40; u++) {
      const own = asked.filter(({ urn }) => urn === urnOf(u)).map(({ value }) => value);
      expect(own).toEqual(sent.filter(([urn]) => urn === urnOf(u)).map(([, value]) => value));
    }
    const keys = asked.map(({ key }) => key);
    expect(new Set(keys).size).toBe(1_200);
    expect(keys[0]).toMatch(new RegExp(`^${space.prefix}${topics.proposals}/\\d/\\d+$`));
    await expect.poll(() => lagOf(ingestion)).toBe(0);
    expect(ingestion.trouble()).toBeUndefined();
  });

  test("ingestion begins with messages sent before its first start, and resumes at its position", async () => {
    await (await open()).close();
    await sendValues([[urnOf(1), { n: 1 }]]);
    const first = await open();
    await settled(first, 1);
    await first.close();
    await sendValues([[urnOf(1), { n: 2 }]]);
    const second = await open();
    await settled(second, 1);
    expect(asked.map(({ value }) => value)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("rejected and unreadable messages go to the topic of failed proposals", async () => {
    const ingestion = await open(async (proposals, caller) => {
      if (proposals.some(({ aspect }) => String(aspect?.value).includes("bad"))) {
        throw new CatalogError("invalid", 'aspect "status" has a bad value', { hint: "Mend it" });
      }
      await record(proposals, caller);
    });
    const unknown = Buffer.from([0, 0, 0, 255, 255, 1, 2, 3]);
    await send([
      { key: urnOf(1), value: framed(urnOf(1), { n: 1 }) },
      { key: urnOf(1), value: framed(urnOf(1), { bad: true }) },
      { key: "poison", value: Buffer.from("no frame at all") },
      { key: "unknown", value: unknown },
      { key: "cut", value: framed(urnOf(1), { n: 1 }).subarray(0, 40) },
      { key: "nothing", value: null },
      { key: urnOf(1), value: framed(urnOf(1), { n: 2 }) },
    ]);
    await settled(ingestion, 7);
    expect(ingestion.counts()).toEqual({ ingested: 2, failed: 5 });
    expect(asked.map(({ value }) => value)).toEqual([{ n: 1 }, { n: 2 }]);

    const failed = new Map((await failures()).map((one) => [one.key, one]));
    expect(failed.get(urnOf(1))).toMatchObject({
      error: 'aspect "status" has a bad value. Mend it',
      metadataChangeProposal: { entityUrn: urnOf(1), aspectName: "status" },
      headers: { "annals-source": expect.stringMatching(/Proposal_v1\/\d\/\d+$/) },
    });
    expect(failed.get("poison")?.error).toMatch(/does not begin with 0/);
    expect(failed.get("unknown")?.error).toMatch(/no schema has the id 65535/);
    expect(failed.get("unknown")?.metadataChangeProposal).toMatchObject({
      aspect: { value: unknown, contentType: "application/octet-stream" },
    });
    expect(failed.get("cut")?.error).toMatch(/does not match its schema/);
    expect(failed.has("nothing")).toBe(true);
    await expect.poll(() => lagOf(ingestion)).toBe(0);
  });

  test("ingestion waits while the catalog is unavailable, and loses no message", async () => {
    let away = true;
    const ingestion = await open(async (proposals, caller) => {
      if (away) throw new CatalogError("unavailable", "the log is full");
      await record(proposals, caller);
    });
    await sendValues([1, 2, 3].map((n) => [urnOf(7), { n }] as const));
    await expect.poll(() => ingestion.trouble()).toBe("the log is full");
    expect(await lagOf(ingestion)).toBe(3);
    away = false;
    await settled(ingestion, 3);
    expect(asked.map(({ value }) => value)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await expect.poll(() => ingestion.trouble()).toBeUndefined();
    expect(await failures()).toEqual([]);
  });

  test("closing leaves waiting messages to the next start", async () => {
    const waiting = await open(async () => {
      throw new CatalogError("unavailable", "the log is full");
    });
    await sendValues([1, 2, 3].map((n) => [urnOf(n), { n }] as const));
    await expect.poll(() => waiting.trouble()).toBe("the log is full");
    await waiting.close();
    await settled(await open(), 3);
    expect(asked.map(({ value }) => value)).toEqual(
      expect.arrayContaining([{ n: 1 }, { n: 2 }, { n: 3 }]),
    );
  });

  test("an internal error of the catalog does not block later messages", async () => {
    let tries = 0;
    const ingestion = await open(async (proposals, caller) => {
      if (proposals.some(({ entityUrn }) => entityUrn === urnOf(1))) {
        tries += 1;
        throw new TypeError("something of ours is broken");
      }
      await record(proposals, caller);
    });
    await sendValues([
      [urnOf(1), {}],
      [urnOf(2), {}],
    ]);
    await settled(ingestion, 2);
    expect(tries).toBe(3);
    expect(await failures()).toMatchObject([{ key: urnOf(1), error: "internal error" }]);
  });

  test("the failure of an oversized message contains its beginning and its error", async () => {
    const ingestion = await open(async () => {
      throw new CatalogError("invalid", "w".repeat(3_000));
    });
    await space.limit(topics.failedProposals, 1_000_000);
    await sendValues([[urnOf(1), { text: "x".repeat(1_045_000) }]]);
    await settled(ingestion, 1);
    expect(await failures()).toMatchObject([
      {
        key: urnOf(1),
        error: expect.stringMatching(/^w+ \(of 1\d{6} bytes, the first 100000 are kept\)$/),
      },
    ]);
  });

  test("a message that is delivered twice is ingested once", async () => {
    await using service = await runningService();
    const ingest: KafkaIngestionParts["ingest"] = async ([proposal], { idempotencyKey }) => {
      const reply = await service.client.call(
        ...(["POST", "/aspects?action=ingestProposal", { proposal }] as const),
        { "Idempotency-Key": idempotencyKey },
      );
      if (reply.status !== 200) throw new CatalogError("invalid", String(reply.body.message));
    };
    const first = await open(ingest);
    const values = [
      { removed: true },
      { removed: false },
      { removed: "neither" },
      { removed: true },
    ];
    await sendValues(values.map((value) => [urnOf(1), value] as const));
    await settled(first, 4);
    expect(first.counts()).toEqual({ ingested: 3, failed: 1 });
    const path = `/entitiesV2/${encodeURIComponent(urnOf(1))}?aspects=List(status)`;
    const before = (await service.client.get(path)).body;
    expect(before.aspects.status.value).toEqual({ removed: true });
    expect(before.aspects.status.systemMetadata.version).toBe("3");
    await first.close();

    const topic = space.prefix + topics.proposals;
    await withAdmin(space, (admin) =>
      admin.resetOffsets({ groupId: `${space.prefix}annals-ingestion`, topic, earliest: true }),
    );
    const second = await open(ingest);
    await settled(second, 4);
    const again = (await service.client.get(path)).body;
    expect(again).toEqual(before);
    const errors = (await failures()).map(({ error }) => error);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatch(/removed/);
  });

  test("a service reports how far it has read the topic", async () => {
    await using service = await runningService({ kafka: space.url });
    const path = "/openapi/operations/kafka/mcp/consumer/offsets?detailed=true";
    const topic = space.prefix + topics.proposals;
    const progress = () => service.client.get(path);
    // The service creates the topic when it has reached Kafka.
    await expect.poll(async () => (await progress()).status).toBe(200);
    await sendValues([1, 2, 3].map((n) => [urnOf(n), { removed: false }] as const));
    const places = async () => {
      const { metrics, partitions } = (await progress()).body[`${space.prefix}annals-ingestion`][
        topic
      ];
      const offsets = Object.values<{ offset: number }>(partitions).map(({ offset }) => offset);
      return [offsets.reduce((sum, offset) => sum + offset, 0), metrics.totalLag];
    };
    await expect.poll(places).toEqual([3, 0]);
  });
});

test("a Kafka that cannot be reached is unavailable, and the error names the broker", async () => {
  const opening = openKafkaIngestion({
    ...{ url: "127.0.0.1:1", name: "annals", codec },
    ingest: async () => {},
  });
  await expect(opening).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/^Kafka at 127\.0\.0\.1:1 /),
  });
});
