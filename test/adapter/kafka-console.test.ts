/**
 * Topics as users without this project read them: Kafka's console consumer gets the bytes, and the
 * test gets the schemas of their frames from the running service.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { topics } from "../../src/feed/event-schemas.ts";
import { parseKafkaAddress } from "../../src/feed/kafka/kafka-address.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { type KafkaConsole, reachKafkaConsole } from "../support/servers/kafka-console.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { createKafkaSpace, createReader, type KafkaSpace } from "./kafka-place.ts";

const store = await reachStore("kafka");
const reached = "skipped" in store ? store : await reachKafkaConsole();
// The end of the run reports why a store was skipped.
if ("url" in store && "skipped" in reached) console.log(`Left out: ${reached.skipped}`);

const tag = "urn:li:tag:Regrow soon";
const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const first = { name: "RegrowSoon" };
/** With characters that are special for shells and line-based formatters. */
const second = { name: "Regrow this year", description: 'Keimt\tnoch: "ja"\n\\x41 \u0000 🌱' };
const profile = { timestampMillis: 1_700_000_000_000, rowCount: 7 };

interface Line {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: ReadonlyMap<string, string>;
}

// Not every machine has Kafka or Java; the end of the run lists what is missing.
describe.skipIf("skipped" in reached)(
  `Kafka's console consumer on ${storeTitle("kafka", store)}`,
  () => {
    const server = "url" in store ? store.url : "";
    let space: KafkaSpace;
    let service: RunningService;

    beforeEach(async () => {
      space = createKafkaSpace(server);
      service = await runningService({ kafka: space.url });
    });

    afterEach(async () => {
      await service[Symbol.asyncDispose]();
      await space.remove();
    });

    /** The first `count` messages of a topic. */
    async function consume(topic: string, count: number): Promise<readonly Line[]> {
      const console = reached as KafkaConsole;
      const properties = [
        "print.headers=true",
        "print.key=true",
        "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer",
        "value.deserializer=org.apache.kafka.common.serialization.BytesDeserializer",
      ];
      const { code, stdout, stderr } = await console.run([
        ...["--bootstrap-server", parseKafkaAddress(server).brokers.join(), "--from-beginning"],
        ...["--topic", space.prefix + topic, "--isolation-level", "read_committed"],
        ...["--max-messages", String(count), "--timeout-ms", "60000"],
        ...properties.flatMap((property) => ["--formatter-property", property]),
      ]);
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(`Processed a total of ${count} messages`);
      return stdout.trimEnd().split("\n").map(lineOf);
    }

    /**
     * Decodes messages with the schemas that the service serves, and counts the requested schemas.
     */
    const reader = (asked: number[]) =>
      createReader(async (id) => {
        asked.push(id);
        const reply = await fetch(`${service.address}/schema-registry/api/schemas/ids/${id}`);
        const { schema } = (await reply.json()) as { readonly schema: string };
        return schema;
      });

    test("every change is read as it was ingested, with the previous value", async () => {
      const { client } = service;
      await client.upsert(tag, "tagProperties", first);
      await client.upsert(tag, "tagProperties", second);
      await client.upsert(dataset, "datasetProfile", profile);
      const deletion = {
        ...{ entityType: "tag", entityUrn: tag, changeType: "DELETE" },
        aspectName: "tagProperties",
      };
      const path = "/aspects?action=ingestProposal";
      expect((await client.call("POST", path, { proposal: deletion })).status).toBe(200);

      const { body } = await client.get("/changes?from=start&previous=true&limit=1000");
      const served = (body.changes as readonly ServedChange[]).map(changeOfServed);
      const series = served.filter(({ aspectName }) => aspectName === "datasetProfile");
      const versioned = served.filter((change) => !series.includes(change));
      expect(series.map(({ aspect }) => aspect)).toMatchObject([profile]);
      const own = versioned.filter(({ aspectName }) => aspectName === "tagProperties");
      expect(own.map((one) => [one.changeType, one.aspect, one.previous])).toEqual([
        ["UPSERT", first, undefined],
        ["UPSERT", second, first],
        ["DELETE", undefined, second],
      ]);

      const asked: number[] = [];
      const decode = reader(asked);
      for (const [topic, expected] of [
        [topics.versioned, versioned],
        [topics.timeseries, series],
      ] as const) {
        const lines = await consume(topic, expected.length);
        const changes = await Promise.all(
          lines.map(async (line) => changeOfLine(line, await decode(line.value))),
        );
        // A topic keeps the order within an entity.
        changes.sort((a, b) => a.position - b.position);
        expect(changes).toEqual(expected);
      }
      expect(asked).not.toEqual([]);
    });
  },
);

/** The compared fields of a change, from either source. */
interface Change {
  readonly position: number;
  readonly key: unknown;
  readonly entityType: unknown;
  readonly changeType: unknown;
  readonly aspectName: unknown;
  readonly aspect: unknown;
  readonly previous: unknown;
  readonly actor: unknown;
}

/** A change as /changes returns it. */
type ServedChange = Readonly<Record<string, unknown>> & {
  readonly position: number;
  readonly created: { readonly actor: string };
  readonly aspect?: { readonly value: unknown };
  readonly previousAspectValue?: { readonly value: unknown };
};

const changeOfServed = (served: ServedChange): Change => ({
  position: served.position,
  key: served.entityUrn,
  entityType: served.entityType,
  changeType: served.changeType,
  aspectName: served.aspectName,
  aspect: served.aspect?.value,
  previous: served.previousAspectValue?.value,
  actor: served.created.actor,
});

function changeOfLine({ key, headers }: Line, record: Record<string, unknown>): Change {
  expect(record.entityUrn).toBe(key);
  return {
    position: Number(headers.get("annals-position")),
    key,
    entityType: record.entityType,
    changeType: record.changeType,
    aspectName: record.aspectName,
    aspect: readAspect(record.aspect),
    previous: readAspect(record.previousAspectValue),
    actor: (record.created as { readonly actor: string }).actor,
  };
}

function readAspect(aspect: unknown): unknown {
  if (aspect === null) return undefined;
  const { value, contentType } = aspect as { readonly value: Buffer; readonly contentType: string };
  expect(contentType).toBe("application/json");
  return JSON.parse(value.toString());
}

/** `name:value,name:value<tab>key<tab>value`, the value's bytes as Kafka's Bytes prints them. */
function lineOf(line: string): Line {
  const [headers = "", key = "", value = ""] = line.split("\t");
  const pairs = headers.split(",").map((pair): readonly [string, string] => {
    const colon = pair.indexOf(":");
    return [pair.slice(0, colon), pair.slice(colon + 1)];
  });
  const bytes = value.replaceAll(/\\x([0-9A-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return { key, value: Buffer.from(bytes, "latin1"), headers: new Map(pairs) };
}
