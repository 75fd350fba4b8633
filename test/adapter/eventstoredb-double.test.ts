/**
 * The EventStoreDB protocol double behaves like a real server: one test for each response that was
 * observed on EventStoreDB 24.10. Where they differ, the double is wrong.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { EventStoreDBClient } from "@eventstore/db-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openRawClient, type RawClient } from "../support/eventstoredb-server/raw-client.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";

const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const UNAUTHENTICATED = 16;

let server: EventStoreServer;
let client: RawClient;

beforeEach(async () => {
  server = await startEventStoreServer();
  client = openRawClient(server.port);
});

afterEach(async () => {
  client.close();
  await server.stop();
});

const some = (...texts: readonly string[]) => texts.map((data) => ({ data }));

/** Appends events a0, a1, … one by one; resolves with their positions. */
async function appendEach(stream: string, count: number): Promise<readonly number[]> {
  const positions: number[] = [];
  for (let n = 0; n < count; n++) {
    const { position = -1 } = await client.append(stream, "any", some(`${stream}${n}`));
    positions.push(position);
  }
  return positions;
}

const textsOf = ({ events }: { readonly events: readonly { readonly data: Uint8Array }[] }) =>
  events.map(({ data }) => Buffer.from(data).toString());

/** Sets `$tb` or `$maxCount` of a stream. */
async function setMetadata(stream: string, metadata: object): Promise<void> {
  await client.append(`$$${stream}`, "any", some(JSON.stringify(metadata)), "$metadata");
}

async function asOperator(work: (operator: EventStoreDBClient) => Promise<unknown>): Promise<void> {
  const operator = EventStoreDBClient.connectionString(server.address);
  await work(operator);
  await operator.dispose();
}

const hows = [
  { filter: "without a filter", types: undefined, result: "ReadAllResult" },
  { filter: "with a filter", types: "t", result: "FilteredReadAllResult" },
];

describe.each(hows)("$all read $filter", ({ types, result }) => {
  const how = types === undefined ? {} : { types };

  test("a read from the start, the end or a record's position returns the records", async () => {
    const [, second = 0] = await appendEach("a", 3);
    const own = async (read: object) =>
      textsOf(await client.readAll({ ...how, ...read, types: "t" }));
    expect(await own({ from: "start" })).toEqual(["a0", "a1", "a2"]);
    expect(await own({ from: "end", backward: true })).toEqual(["a2", "a1", "a0"]);
    expect(await own({ from: second })).toEqual(["a1", "a2"]);
    expect(await own({ from: second, backward: true })).toEqual(["a0"]);
    const forward = await client.readAll({ ...how, from: second });
    expect(forward.error).toBeUndefined();
    expect(textsOf(forward)).toContain("a2");
  });

  test.each([{ backward: false }, { backward: true }])(
    "a read from between two records is an error without a typed exception (backward: $backward)",
    async ({ backward }) => {
      const [first = 0] = await appendEach("a", 2);
      const { error } = await client.readAll({ ...how, from: first + 1, backward });
      expect(error).toMatchObject({
        code: UNKNOWN,
        details: `Unexpected ${result}: InvalidPosition`,
      });
      expect(error?.metadata.get("exception")).toEqual([]);
    },
  );

  test("a read from beyond the end returns no records forward and is an error backward", async () => {
    await appendEach("a", 1);
    const beyond = server.store.end() + 1_000;
    expect(await client.readAll({ ...how, from: beyond })).toEqual({ events: [], notFound: false });
    const { error } = await client.readAll({ ...how, from: beyond, backward: true });
    expect(error).toMatchObject({ code: UNKNOWN, details: "Unexpected ReadAllResult: Error" });
  });
});

describe("a subscription to $all", () => {
  test("a subscription from between two records is an invalid argument", async () => {
    const [first = 0] = await appendEach("a", 2);
    const { error } = await client.subscribe({ from: first + 1 }, async () => false);
    expect(error).toMatchObject({
      code: INVALID_ARGUMENT,
      details: "Trying to read from an invalid position.",
    });
  });

  test("a subscription from beyond the end is accepted and receives nothing", async () => {
    await appendEach("a", 1);
    let appended = false;
    const answer = await client.subscribe({ from: server.store.end() + 1_000_000 }, async () => {
      if (appended) return true;
      await appendEach("b", 3);
      appended = true;
      return false;
    });
    expect(answer).toEqual({ events: [], notFound: false, error: undefined });
  });
});

test("positions are byte offsets that begin at 546", async () => {
  const positions = await appendEach("a", 3);
  const { events } = await client.readAll();
  expect(events[0]?.position).toBe(546);
  const steps = positions.slice(1).map((at, n) => at - (positions[n] ?? 0));
  for (const step of steps) expect(step).toBeGreaterThan(10);
});

describe("a stream", () => {
  test("an absent or soft-deleted stream is not found", async () => {
    expect(await client.readStream("absent")).toEqual({ events: [], notFound: true });
    await appendEach("a", 2);
    await asOperator((operator) => operator.deleteStream("a"));
    expect(await client.readStream("a")).toEqual({ events: [], notFound: true });
  });

  test.each([{ expected: -1 }, { expected: 2 }])(
    "a stream soft-deleted at revision 2 accepts an append that expects $expected as revision 3",
    async ({ expected }) => {
      await appendEach("a", 3);
      await asOperator((operator) => operator.deleteStream("a"));
      expect(await client.append("a", expected, some("again"))).toMatchObject({ revision: 3 });
      const answer = await client.readStream("a");
      expect(answer.events.map(({ revision }) => revision)).toEqual([3]);
    },
  );

  test("a tombstoned stream is a failed precondition for readers, and deleted for writers", async () => {
    await appendEach("a", 1);
    await asOperator((operator) => operator.tombstoneStream("a"));
    const { error } = await client.readStream("a");
    expect(error?.code).toBe(FAILED_PRECONDITION);
    expect(error?.metadata.get("exception")).toEqual(["stream-deleted"]);
    expect(error?.metadata.get("stream-name")).toEqual(["a"]);
    for (const expected of ["any", -1, 0] as const) {
      expect(await client.append("a", expected, some("x"))).toEqual({ error: "StreamDeleted" });
    }
  });

  test.each([{ metadata: { $maxCount: 1 } }, { metadata: { $tb: 2 } }])(
    "a stream with $metadata returns only the records that are left",
    async ({ metadata }) => {
      await appendEach("a", 3);
      await setMetadata("a", metadata);
      expect(textsOf(await client.readStream("a"))).toEqual(["a2"]);
    },
  );

  test("a completely truncated stream has no records and keeps its revision", async () => {
    await appendEach("a", 3);
    await setMetadata("a", { $tb: 3 });
    expect(await client.readStream("a")).toEqual({ events: [], notFound: false });
    expect(await client.append("a", -1, some("x"))).toEqual({
      error: "WrongExpectedVersion",
      actual: 2,
    });
    expect(await client.append("a", 2, some("a3"))).toMatchObject({ revision: 3 });
  });

  test("a read from beyond the end of a stream returns nothing forward and its last records backward", async () => {
    await appendEach("a", 3);
    expect(textsOf(await client.readStream("a", { from: 9 }))).toEqual([]);
    const backward = await client.readStream("a", { from: 9, backward: true, count: 2 });
    expect(textsOf(backward)).toEqual(["a2", "a1"]);
  });

  test.each([
    { name: "with a space" },
    { name: "two\nlines" },
    { name: "日本語 🜁" },
    { name: "n".repeat(70_000) },
  ])("a stream may have any name ($name)", async ({ name }) => {
    expect(await client.append(name, -1, some("x"))).toMatchObject({ revision: 0 });
    expect(textsOf(await client.readStream(name))).toEqual(["x"]);
  });

  test("a stream without a name is a bad request", async () => {
    expect(await client.append("", "any", some("x"))).toEqual({ error: "BadRequest" });
    expect((await client.readStream("")).error?.code).toBe(INVALID_ARGUMENT);
  });
});

describe("an append", () => {
  test("an append that expects another revision gets the current one", async () => {
    await appendEach("a", 3);
    for (const expected of [-1, 0, 1, 5]) {
      expect(await client.append("a", expected, some("x"))).toEqual({
        error: "WrongExpectedVersion",
        actual: 2,
      });
    }
  });

  test.each([{ expected: -1 }, { expected: "any" }] as const)(
    "a repeated append of the same event ids (expecting $expected) gets its first response",
    async ({ expected }) => {
      const events = ["x", "y"].map((data) => ({ id: randomUUID(), data }));
      const first = await client.append("a", expected, events);
      await client.append("a", "any", some("later"));
      const changed = events.map(({ id }) => ({ id, data: "other bytes" }));
      expect(await client.append("a", expected, changed)).toEqual(first);
      expect(textsOf(await client.readStream("a"))).toEqual(["x", "y", "later"]);
    },
  );

  test.each([
    { expected: -1, knownFirst: true },
    { expected: "any", knownFirst: true },
    { expected: "any", knownFirst: false },
  ] as const)(
    "an append of known and new ids (expecting $expected, the known first: $knownFirst) has a wrong revision",
    async ({ expected, knownFirst }) => {
      const known = { id: randomUUID(), data: "known" };
      await client.append("a", "any", [known]);
      const both = knownFirst ? [known, { data: "new" }] : [{ data: "new" }, known];
      expect(await client.append("a", expected, both)).toEqual({
        error: "WrongExpectedVersion",
        actual: 0,
      });
    },
  );

  test("the size limit counts types and data: 10,000 events of ten bytes pass, and 40,000 do not", async () => {
    // A tenth of each number: the protocol's code needs seconds for all events.
    const small = await startEventStoreServer({ appendBytesMax: 104_857 });
    const raw = openRawClient(small.port);
    const many = (count: number) =>
      raw.append("a", "any", Array(count).fill({ data: "x".repeat(10) }), "CatalogRecord");
    expect(await many(1_000)).toMatchObject({ revision: 999 });
    expect(await many(4_000)).toEqual({ error: "MaximumAppendSizeExceeded" });
    raw.close();
    await small.stop();
  });

  test("an append of no events succeeds and writes nothing", async () => {
    const before = server.store.all.length;
    expect((await client.append("a", "any", [])).error).toBeUndefined();
    expect(server.store.all.length).toBe(before);
    expect(await client.readStream("a")).toEqual({ events: [], notFound: true });
  });
});

describe("users", () => {
  const certificate = readFileSync(
    new URL("../support/eventstoredb-server/test-server.crt", import.meta.url),
  );
  const key = readFileSync(
    new URL("../support/eventstoredb-server/test-server.key", import.meta.url),
  );
  const users = ["admin:right"];
  const operators = ["ops:right"];
  let started: EventStoreServer[] = [];

  async function start(secure: boolean): Promise<EventStoreServer> {
    const tls = secure ? { key, certificate } : undefined;
    const one = await startEventStoreServer({ users, operators, tls });
    started.push(one);
    return one;
  }

  afterEach(async () => {
    await Promise.all(started.map((one) => one.stop()));
    started = [];
  });

  test("users with a wrong password are unauthenticated in every call", async () => {
    const { port } = await start(true);
    const wrong = openRawClient(port, { certificate, user: "admin:wrong" });
    const failed = { code: UNAUTHENTICATED, details: "Unauthenticated" };
    expect((await wrong.readAll()).error).toMatchObject(failed);
    expect((await wrong.readStream("a")).error).toMatchObject(failed);
    expect((await wrong.subscribe({}, async () => false)).error).toMatchObject(failed);
    await expect(wrong.append("a", "any", some("x"))).rejects.toMatchObject(failed);
    wrong.close();
  });

  test("calls without a user are denied access", async () => {
    const { port } = await start(true);
    const nobody = openRawClient(port, { certificate });
    const { error } = await nobody.readAll();
    expect(error?.code).toBe(PERMISSION_DENIED);
    expect(error?.metadata.get("exception")).toEqual(["access-denied"]);
    nobody.close();
  });

  test("users of $ops may use streams, but neither $all nor $users", async () => {
    const { port } = await start(true);
    const operator = openRawClient(port, { certificate, user: "ops:right" });
    expect(await operator.append("a", -1, some("x"))).toMatchObject({ revision: 0 });
    expect(textsOf(await operator.readStream("a"))).toEqual(["x"]);
    expect((await operator.readAll()).error?.code).toBe(PERMISSION_DENIED);
    expect((await operator.readStream("$users")).error?.code).toBe(PERMISSION_DENIED);
    operator.close();
  });

  test("users are not checked without TLS", async () => {
    const { port } = await start(false);
    const anyone = openRawClient(port, { user: "admin:wrong" });
    expect((await anyone.readAll()).error).toBeUndefined();
    anyone.close();
  });
});
