/** The feed in a real Kafka, read by independent consumers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { lastOf, position, START } from "../../src/core/position.ts";
import type { ChangeEvent } from "../../src/feed/change-event.ts";
import { createEventCodec } from "../../src/feed/event-codec.ts";
import { topics } from "../../src/feed/event-schemas.ts";
import { checkKafka } from "../../src/feed/kafka/check.ts";
import { producerSettings, withAdmin } from "../../src/feed/kafka/kafka-client.ts";
import { type KafkaFeed, openKafkaFeedSink } from "../../src/feed/kafka/kafka-feed-sink.ts";
import { createPlatformEvents } from "../../src/feed/platform-events.ts";
import { spokenVersion } from "../../src/feed/topic-names.ts";
import type { Sink } from "../../src/projector/sink.ts";
import { runningService } from "../support/running-service.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import {
  createKafkaSpace,
  createReader,
  eventAt,
  eventsFrom,
  type KafkaSpace,
  urnOf,
} from "./kafka-place.ts";

const store = await reachStore("kafka");
const codec = createEventCodec({ findSchema: async () => undefined });
const platformEventsOf = createPlatformEvents({});
const log = { id: "log-one", head: position(1_000_000) };
const endOf = (events: readonly ChangeEvent[]) => lastOf(events.map(({ change }) => change));
const placesOf = (events: readonly ChangeEvent[]) => events.map(({ change }) => change.position);

// Not every machine has Kafka; storeTitle says why it is skipped.
describe.skipIf("skipped" in store)(`feed to ${storeTitle("kafka", store)}`, () => {
  const server = "url" in store ? store.url : "";
  let space: KafkaSpace;
  let opened: Sink<ChangeEvent>[];

  beforeEach(() => {
    space = createKafkaSpace(server);
    opened = [];
  });

  afterEach(async () => {
    for (const sink of opened) await sink.close();
    await space.remove();
  });

  async function open(changed: Partial<KafkaFeed> = {}): Promise<Sink<ChangeEvent>> {
    const sink = await openKafkaFeedSink({
      url: space.url,
      name: "annals",
      codec,
      platformEventsOf,
      log,
      ...changed,
    });
    opened.push(sink);
    return sink;
  }

  /** Positions of all messages that consumers of committed messages get, in order. */
  async function sentPositions(): Promise<readonly number[]> {
    const read = await Promise.all([topics.versioned, topics.timeseries].map((t) => space.read(t)));
    const places = read.flat().map(({ headers }) => Number(headers["annals-position"]));
    return places.sort((a, b) => a - b);
  }

  test("a new feed begins at the start, and creates the topics", async () => {
    const sink = await open();
    expect(await sink.position()).toBe(START);
    const there = await withAdmin(space, (admin) => admin.listTopics());
    const own = there.filter((topic) => topic.startsWith(space.prefix)).sort();
    expect(own.map((topic) => topic.slice(space.prefix.length))).toEqual([
      topics.upgradeHistory,
      topics.timeseries,
      topics.versioned,
      topics.platformEvents,
      "annals-feed-checkpoint",
    ]);
  });

  test("announces the release of DataHub that the service speaks, at each opening", async () => {
    await open();
    await open();
    const found = await space.read(topics.upgradeHistory);
    // An attempt that fails and is repeated may announce it again.
    expect(found.length).toBeGreaterThanOrEqual(2);
    expect(new Set(found.map(({ key }) => key))).toEqual(new Set([`${spokenVersion}-0`]));
    const record = await createReader()(found.at(-1)?.value ?? Buffer.alloc(0));
    expect(record).toEqual({ version: `${spokenVersion}-0`, systemMetadata: null });
  });

  test("each event is sent once, with its urn as key, in the order of the log, and other consumers can read it", async () => {
    const events = eventsFrom(1, 500);
    const sink = await open();
    await sink.apply(events.slice(0, 200), position(400));
    await sink.apply(events.slice(200), endOf(events));
    expect(await sink.position()).toBe(endOf(events));

    const decode = createReader();
    const found = await space.read(topics.versioned);
    const expected = events.filter(({ change }) => !change.timeseries);
    expect(found).toHaveLength(expected.length);
    for (const { key, value, headers } of found) {
      const event = expected.find(
        (one) => String(one.change.position) === headers["annals-position"],
      );
      expect(headers["annals-log"]).toBe("log-one");
      expect(key).toBe(event?.change.urn);
      const record = await decode(value);
      expect(record).toMatchObject({ entityUrn: key, aspectName: "status", changeType: "UPSERT" });
      expect(String((record.aspect as { value: Buffer }).value)).toBe(event?.change.value);
    }
    for (const partition of [0, 1, 2]) {
      const places = found
        .filter((one) => one.partition === partition)
        .map(({ headers }) => Number(headers["annals-position"]));
      expect(places.length).toBeGreaterThan(0);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("the meaning of a change is sent as a platform event with its name and urn", async () => {
    const [event] = eventsFrom(1, 1);
    if (event === undefined) throw new Error("there is an event");
    const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";
    const tags = { tags: [{ tag: "urn:li:tag:pii" }] };
    const change = {
      ...{ ...event.change, urn, entityType: "dataset", aspect: "globalTags" },
      ...{ timeseries: false, value: JSON.stringify(tags) },
    };
    const sink = await open();
    await sink.apply([{ change }], change.position);
    const [found, ...others] = await space.read(topics.platformEvents);
    expect(others).toEqual([]);
    expect(found?.key).toBe(`entityChangeEvent-${urn}`);
    const record = await createReader()(found?.value ?? Buffer.alloc(0));
    expect(record).toMatchObject({ name: "entityChangeEvent" });
    const { value } = record.payload as { value: Buffer };
    expect(JSON.parse(String(value))).toMatchObject({
      ...{ entityUrn: urn, entityType: "dataset", category: "TAG", operation: "ADD", version: 0 },
      modifier: "urn:li:tag:pii",
    });
  });

  test("a batch that is applied again, in whole or in part, is sent once", async () => {
    const events = eventsFrom(1, 300);
    const sink = await open();
    await sink.apply(events, endOf(events));
    await sink.apply(events, endOf(events));
    await sink.apply(events.slice(0, 50), endOf(events.slice(0, 50)));
    const more = eventsFrom(401, 300);
    await sink.apply(more, endOf(more));
    expect(await sentPositions()).toEqual(
      [...new Set([...placesOf(events), ...placesOf(more)])].sort((a, b) => a - b),
    );
  });

  test("records without events advance the position", async () => {
    const sink = await open();
    await sink.apply([], position(41));
    expect(await sink.position()).toBe(41);
    await sink.close();
    const again = await open();
    await expect.poll(() => again.position()).toBe(41);
    expect(await sentPositions()).toEqual([]);
  });

  test("the position is right immediately after a batch, and whenever it is read", async () => {
    const events = eventsFrom(1, 15);
    const sink = await open();
    for (const event of events) {
      await sink.apply([event], event.change.position);
      expect(await sink.position()).toBe(event.change.position);
    }
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("the feed resumes at its position after a clean stop", async () => {
    const events = eventsFrom(1, 100);
    const first = await open();
    await first.apply(events, endOf(events));
    await first.close();
    const second = await open();
    await expect.poll(() => second.position()).toBe(endOf(events));
    const more = eventsFrom(endOf(events) + 1, 100);
    await second.apply(more, endOf(more));
    expect(await sentPositions()).toEqual(placesOf([...events, ...more]));
  });

  test("consumers see nothing of a transaction that a crash interrupted, and its events are sent again", async () => {
    const events = eventsFrom(1, 20);
    const before = await open();
    await before.apply(events.slice(0, 10), endOf(events.slice(0, 10)));
    await before.close();
    // The state that a process leaves when it ends in the middle of a transaction.
    const crashed = space.kafka.producer({
      ...producerSettings,
      transactionalId: `${space.prefix}annals-feed`,
    });
    await crashed.connect();
    const transaction = await crashed.transaction();
    for (const { change } of events.slice(10)) {
      const message = {
        key: change.urn,
        value: "cut off",
        headers: { "annals-position": `${change.position}` },
      };
      await transaction.send({ topic: space.prefix + topics.versioned, messages: [message] });
    }
    await crashed.disconnect();

    const after = await open();
    expect(await after.position()).toBe(endOf(events.slice(0, 10)));
    await after.apply(events.slice(10), endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
    const all = await space.read(topics.versioned, { uncommitted: true });
    expect(all.filter(({ value }) => String(value) === "cut off")).toHaveLength(10);
  });

  test("kills of the process lose no event and repeat none", async () => {
    const total = 12_000;
    for (const ms of [300, 500, 800]) {
      const child = spawn(
        process.execPath,
        [new URL("./kafka-feeding-process.ts", import.meta.url).pathname, space.url, String(total)],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const exit = once(child, "exit");
      const [first] = await Promise.race([once(child.stdout, "data"), exit]);
      expect(String(first)).toBe("feeding\n");
      await new Promise((resolve) => setTimeout(resolve, ms));
      child.kill("SIGKILL");
      expect(await exit).toEqual([null, "SIGKILL"]);
    }
    const sink = await open();
    const events = eventsFrom(1, total);
    const at = await sink.position();
    expect(at).toBeGreaterThan(START);
    await sink.apply(events, endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("of two concurrent feeds, one is fenced and sends nothing, and both can continue", async () => {
    const events = eventsFrom(1, 60);
    const [one, other] = [await open(), await open()];
    await one.apply(events.slice(0, 20), endOf(events.slice(0, 20)));
    // The other feed knows only the start.
    await expect(
      other.apply(events.slice(0, 20), endOf(events.slice(0, 20))),
    ).rejects.toMatchObject({
      code: "conflict",
    });
    await expect.poll(() => other.position()).toBe(endOf(events.slice(0, 20)));
    await other.apply(events.slice(20, 40), endOf(events.slice(0, 40)));
    await expect(one.apply(events.slice(20, 40), endOf(events.slice(0, 40)))).rejects.toMatchObject(
      {
        code: "conflict",
        message: "the feed was taken over by another projector",
      },
    );
    await expect.poll(() => one.position()).toBe(endOf(events.slice(0, 40)));
    await one.apply(events.slice(40), endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("a feed that reads the position continues after another feed", async () => {
    const events = eventsFrom(1, 30);
    const [one, other] = [await open(), await open()];
    await one.apply(events.slice(0, 10), endOf(events.slice(0, 10)));
    await expect.poll(() => other.position()).toBe(endOf(events.slice(0, 10)));
    await other.apply(events.slice(10, 20), endOf(events.slice(0, 20)));
    await expect.poll(() => one.position()).toBe(endOf(events.slice(0, 20)));
    await one.apply(events.slice(20), endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("two racing feeds send every event once", async () => {
    const events = eventsFrom(1, 400);
    const run = async (sink: Sink<ChangeEvent>): Promise<void> => {
      for (let attempt = 0; attempt < 200; attempt++) {
        try {
          const at = await sink.position();
          if (at >= endOf(events)) return;
          const next = events.filter(({ change }) => change.position > at).slice(0, 40);
          await sink.apply(next, endOf(next));
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/conflict|unavailable/) });
        }
      }
    };
    await Promise.all([run(await open()), run(await open())]);
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("a batch that is larger than the message limit is split", async () => {
    const events = eventsFrom(1, 60, { size: 100_000 });
    const sink = await open();
    await sink.apply(events, endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("an event that is too large for a message is named, and the events before it are sent", async () => {
    const events = eventsFrom(1, 10);
    const large = eventAt(position(22), urnOf(99), "x".repeat(1_100_000));
    const rejected = {
      code: "too_large",
      message: expect.stringMatching(
        /^the event of "urn:li:dataset.*table99.*" at position 22 has 11\d{5} bytes/,
      ),
      hint: expect.stringContaining("max.message.bytes"),
    };
    const sink = await open();
    await space.limit(topics.versioned, 1_000_000);
    // The broker reports a lower limit than the feed read at its start.
    await expect(sink.apply([...events, large], position(30))).rejects.toMatchObject(rejected);
    expect(await sink.position()).toBe(START);
    await expect(sink.apply([...events, large], position(30))).rejects.toMatchObject(rejected);
    expect(await sink.position()).toBe(endOf(events));
    await space.limit(topics.versioned, 2_000_000);
    await sink.apply([...events, large], position(30));
    expect(await sentPositions()).toEqual([...placesOf(events), 22]);
  });

  test("an event that cannot be written does not block earlier events", async () => {
    const events = eventsFrom(1, 10);
    const broken = events[7]?.change.position;
    const sink = await open({
      codec: {
        encodeChange(event) {
          if (event.change.position === broken) throw new CatalogError("invalid", "it is broken");
          return codec.encodeChange(event);
        },
        encodePlatformEvent: codec.encodePlatformEvent,
        encodeVersion: codec.encodeVersion,
      },
    });
    await expect(sink.apply(events, endOf(events))).rejects.toThrow("it is broken");
    expect(await sentPositions()).toEqual(placesOf(events.slice(0, 7)));
    expect(await sink.position()).toBe(endOf(events.slice(0, 7)));
  });

  test("the topics accept the largest events without configuration", async () => {
    const event = eventAt(position(1), urnOf(1), "x".repeat(16_000_000));
    const sink = await open();
    await sink.apply([event], position(1));
    expect(await sentPositions()).toEqual([1]);
  });

  test("the feed compresses if the setting says so", async () => {
    await space.remove();
    space = createKafkaSpace(server, { options: "&compression=gzip&partitions=1" });
    const events = [...eventsFrom(1, 10), eventAt(position(22), urnOf(1), "x".repeat(1_500_000))];
    const sink = await open();
    await space.limit(topics.versioned, 1_000_000);
    await sink.apply(events, endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
    expect(new Set((await space.read(topics.versioned)).map((one) => one.partition))).toEqual(
      new Set([0]),
    );
  });

  test("a feed whose messages were deleted begins at the start", async () => {
    const events = eventsFrom(1, 30);
    const sink = await open();
    await sink.apply(events.slice(0, 10), endOf(events.slice(0, 10)));
    await space.remove();
    await expect
      .poll(async () => (await withAdmin(space, (admin) => admin.listTopics())).join())
      .not.toContain(space.prefix);
    await expect(sink.apply(events.slice(10), endOf(events))).rejects.toMatchObject({
      code: "conflict",
    });
    expect(await sink.position()).toBe(START);
    await sink.apply(events, endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events));
  });

  test("a feed of another log begins at the start, and messages name their log", async () => {
    const events = eventsFrom(1, 10);
    const first = await open();
    await first.apply(events, endOf(events));
    await first.close();
    const emptied: string[] = [];
    const other = { id: "log-two", head: position(100) };
    const second = await open({ log: other, onEmptied: (why) => emptied.push(why) });
    expect(emptied).toEqual(["another log"]);
    expect(await second.position()).toBe(START);
    await second.apply(events, endOf(events));
    const found = await space.read(topics.versioned);
    expect(new Set(found.map(({ headers }) => headers["annals-log"]))).toEqual(
      new Set(["log-one", "log-two"]),
    );
    await second.close();
    // A log that ends before the sent events may have lost them: the position stays.
    const behind = await open({ log: { id: "log-three", head: position(3) } });
    await expect.poll(() => behind.position()).toBe(endOf(events));
  });

  test("a reset feed begins at the start", async () => {
    const events = eventsFrom(1, 10);
    const sink = await open();
    await sink.apply(events, endOf(events));
    await sink.reset();
    expect(await sink.position()).toBe(START);
    await sink.apply(events, endOf(events));
    expect(await sentPositions()).toEqual(placesOf(events).flatMap((at) => [at, at]));
  });

  test("messages can be read with the schemas that the registry serves", async () => {
    await using service = await runningService();
    const asked: number[] = [];
    const decode = createReader(async (id) => {
      asked.push(id);
      const reply = await fetch(`${service.address}/schema-registry/api/schemas/ids/${id}`);
      const { schema, schemaType = "AVRO" } = (await reply.json()) as Record<string, string>;
      expect(schemaType).toBe("AVRO");
      return schema ?? "";
    });
    const events = eventsFrom(1, 20);
    const sink = await open();
    await sink.apply(events, endOf(events));
    for (const topic of [topics.versioned, topics.timeseries]) {
      const found = await space.read(topic);
      expect(found.length).toBeGreaterThan(0);
      for (const { key, value } of found) {
        expect(await decode(value)).toMatchObject({ entityUrn: key, aspectName: "status" });
      }
    }
    expect(asked.length).toBeGreaterThan(0);
  });

  test("a check reports nothing for a suitable server, and reports wrong settings", async () => {
    const place = { url: space.url, name: "annals" };
    const { version, findings } = await checkKafka(place);
    expect(findings).toEqual([]);
    expect(version).toMatch(/^\d.*\(metadata\.version \d+\)$|^unknown$/);
    const sink = await open();
    await space.limit(topics.versioned, 1_000_000);
    await sink.close();
    expect((await checkKafka(place)).findings).toEqual([
      `The topic "${space.prefix}${topics.versioned}" has max.message.bytes=1000000: a larger event stops the feed. Set it to 34000000.`,
    ]);
  });

  test("a closed feed is unavailable", async () => {
    const sink = await open();
    await sink.close();
    await expect(sink.position()).rejects.toMatchObject({ code: "unavailable" });
    await expect(sink.apply([], position(1))).rejects.toMatchObject({ code: "unavailable" });
  });
});

test("a Kafka that cannot be reached is unavailable, and the error names the broker", async () => {
  const url = "kafka://someone:secret@127.0.0.1:1";
  const opening = openKafkaFeedSink({ url, name: "annals", codec, platformEventsOf });
  await expect(opening).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/^Kafka at 127\.0\.0\.1:1 /),
  });
  await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining("secret") });
});
