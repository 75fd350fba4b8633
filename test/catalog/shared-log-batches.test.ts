/**
 * A batch of several entities on a log without transactions across streams: another writer appends
 * in between, and connections drop. Responses match the log, and the log has no duplicates.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { revision } from "../../src/core/position.ts";
import { entityStream } from "../../src/core/stream.ts";
import { decodeRecord, encodeChange } from "../../src/log/codecs/record-codec.ts";
import { proposal } from "../support/client.ts";
import {
  type AppendResult,
  createEventStore,
  type EventStore,
} from "../support/eventstoredb-server/event-store.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const BATCH = "/aspects?action=ingestProposalBatch";
const time = { timeout: 120_000 };
const tag = (name: string | number): string => `urn:li:tag:${tests}-${name}`;

/** Each test has tags of its own. */
let tests = 0;
let store: EventStore;
let server: EventStoreServer;
let service: RunningService;
/** Runs before the next append to a stream, once; its result, if any, replaces the append. */
let before = new Map<string, () => AppendResult | undefined>();

beforeEach(() => {
  tests++;
  before = new Map();
});

beforeAll(async () => {
  const held = createEventStore();
  store = {
    ...held,
    append(stream, expected, events) {
      const happens = before.get(stream);
      before.delete(stream);
      return happens?.() ?? held.append(stream, expected, events);
    },
  };
  server = await startEventStoreServer({ store });
  service = await runningService({ log: `${server.address}&defaultDeadline=10000` });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server.stop();
});

function changesOf(urn: string): readonly Change[] {
  const events = store.readStream(entityStream(urn));
  if (events === undefined || events === "tombstoned") return [];
  return events.flatMap(
    (event) => decodeRecord({ stream: entityStream(urn), data: event.data } as never) ?? [],
  );
}

/** The names of a tag, oldest first; null where it was deleted. */
const names = (urn: string): readonly unknown[] =>
  changesOf(urn)
    .filter(({ aspect }) => aspect === "tagProperties")
    .map(({ value }) => (value === undefined ? null : JSON.parse(value).name));

/** Another writer of the log writes the entity's last change again. */
function otherWrites(urn: string): void {
  const stream = entityStream(urn);
  const last = changesOf(urn).at(-1);
  if (last === undefined) throw new Error(`there is no ${urn} yet`);
  const data = encodeChange({ ...last, changeType: "RESTATE" });
  const event = { id: randomUUID(), type: "MetadataChangeLog", data };
  const more = { contentType: "application/octet-stream", metadata: new Uint8Array() };
  store.append(stream, "any", [{ ...event, ...more }]);
}

const races = (urn: string): void => {
  before.set(entityStream(urn), () => {
    otherWrites(urn);
    return undefined;
  });
};

const batch = (proposals: readonly object[], headers: Readonly<Record<string, string>> = {}) =>
  service.client.call("POST", BATCH, { proposals }, headers);

const named = (urn: string, name: string, more: object = {}) =>
  proposal(urn, "tagProperties", { name }, more);

test(
  "entities of a batch that were appended are not decided again when another entity lost its race",
  time,
  async () => {
    for (const n of [1, 2, 3]) await service.client.upsert(tag(n), "tagProperties", { name: "a" });
    races(tag(2));
    const patch = {
      ...proposal(tag(3), "tagProperties", undefined, { changeType: "PATCH" }),
      aspect: {
        contentType: "application/json-patch+json",
        value: JSON.stringify([{ op: "add", path: "/description", value: "more" }]),
      },
    };
    const { status, body } = await batch([
      named(tag("new"), "n", { changeType: "CREATE" }),
      named(tag(1), "b"),
      named(tag(2), "b"),
      patch,
    ]);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(names(tag("new"))).toEqual(["n"]);
    expect(names(tag(1))).toEqual(["a", "b"]);
    expect(names(tag(2))).toEqual(["a", "a", "b"]);
    expect(changesOf(tag(3)).filter(({ aspect }) => aspect === "tagProperties")).toHaveLength(2);
  },
);

test(
  "a batch that is rejected after a partial commit names the committed entities",
  time,
  async () => {
    await service.client.upsert(tag(1), "tagProperties", { name: "a" });
    const create = (urn: string) => named(urn, "n", { changeType: "CREATE" });
    before.set(entityStream(tag("second")), () => {
      const data = encodeChange({
        ...(changesOf(tag(1)).find(({ aspect }) => aspect === "tagProperties") as Change),
        urn: tag("second"),
      });
      const event = { id: randomUUID(), type: "MetadataChangeLog", data };
      const more = { contentType: "application/octet-stream", metadata: new Uint8Array() };
      store.append(entityStream(tag("second")), "no_stream", [{ ...event, ...more }]);
      return undefined;
    });
    const { status, body } = await batch([create(tag("first")), create(tag("second"))]);
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("proposals[1]: Cannot perform CREATE");
    expect(JSON.stringify(body)).toMatch(/The request is partially committed: .*-first/);
    expect(names(tag("first"))).toEqual(["n"]);
    expect(names(tag("second"))).toEqual(["a"]);
  },
);

test(
  "a repeated request with a key completes a partial commit without duplicates",
  time,
  async () => {
    const proposals = ["x", "y"].map((name) => named(tag(name), name, { changeType: "CREATE" }));
    before.set(entityStream(tag("y")), () => ({ outcome: "deleted" }));
    const key = { "Idempotency-Key": "once" };
    expect((await batch(proposals, key)).status).not.toBe(200);
    expect([names(tag("x")), names(tag("y"))]).toEqual([["x"], []]);
    expect((await batch(proposals, key)).status).toBe(200);
    expect((await batch(proposals, key)).status).toBe(200);
    expect([names(tag("x")), names(tag("y"))]).toEqual([["x"], ["y"]]);
  },
);

test("responses match the log under races and dropped connections", time, async () => {
  const urns = Array.from({ length: 6 }, (_, n) => tag(`t${n}`));
  for (const urn of urns) await service.client.upsert(urn, "tagProperties", { name: "0" });
  const answered: { readonly name: string; readonly status: number }[] = [];
  for (let round = 1; round <= 20; round++) {
    for (const urn of urns) if ((round + urns.indexOf(urn)) % 3 === 0) races(urn);
    const proposals = urns.map((urn) => named(urn, String(round)));
    const asking = batch(proposals, { "Idempotency-Key": `round ${round}` });
    if (round % 4 === 0) await server.drop();
    answered.push({ name: String(round), status: (await asking).status });
    before.clear();
  }
  const written = answered.filter(({ status }) => status === 200).map(({ name }) => name);
  expect(written.length).toBeGreaterThan(15);
  const rejected = new Set(answered.filter(({ status }) => status !== 200).map(({ name }) => name));
  for (const urn of urns) {
    // A value that another writer repeated equals the value before it; a rejected value may be in the log.
    const changes = names(urn).filter((name, n, all) => name !== all[n - 1]);
    expect(changes.filter((name) => !rejected.has(String(name)))).toEqual(["0", ...written]);
    expect(new Set(changes).size).toBe(changes.length);
  }
  const heads = urns.map((urn) => revision(changesOf(urn).length - 1));
  expect(Math.min(...heads)).toBeGreaterThan(20);
});

test("metrics count records also on a log with byte positions", time, async () => {
  const figure = async (name: string): Promise<number> => {
    const text = await (await fetch(`${service.address}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  };
  const many = Array.from({ length: 200 }, (_, n) => named(tag(n), "n"));
  expect((await batch(many)).status).toBe(200);
  const records = () => store.all.filter(({ type }) => type === "MetadataChangeLog").length;
  await expect.poll(() => figure("annals_log_records_total")).toBeGreaterThan(200);
  expect(await figure("annals_log_records_total")).toBeLessThan(2 * records());
  expect(await figure("annals_log_position")).toBeGreaterThan(20 * records());
});
