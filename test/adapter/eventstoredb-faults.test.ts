/**
 * Faults between the log and EventStoreDB: dropped connections, lost responses, a change of the
 * leader, and a server that is silent, busy or down. The protocol double simulates them in this
 * process; each test has its own.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { START } from "../../src/core/position.ts";
import type { ChangeLog, LogRecord } from "../../src/log/change-log.ts";
import {
  type EventStoreChangeLog,
  openEventStoreChangeLog,
} from "../../src/log/eventstoredb/eventstore-change-log.ts";
import { entry, readEverything, readWholeStream, text } from "../contract/change-log-driver.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";

let server: EventStoreServer;
let others: EventStoreServer[];
let opened: ChangeLog[];

beforeEach(async () => {
  server = await startEventStoreServer();
  others = [];
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((log) => log.close()));
  await Promise.all([server, ...others].map((each) => each.stop()));
});

async function open(settings = ""): Promise<EventStoreChangeLog> {
  const log = await openEventStoreChangeLog({ connection: server.address + settings });
  opened.push(log);
  return log;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const unavailable = (message: RegExp) =>
  expect.objectContaining({ code: "unavailable", message: expect.stringMatching(message) });

/**
 * Appends to a few streams, chained and unchained, some at a time; resolves when all are appended.
 */
async function appendMany(log: ChangeLog, count: number): Promise<void> {
  const appending: Promise<unknown>[] = [];
  for (let i = 0; i < count; i++) {
    appending.push(
      log.append([entry(`chained ${i % 5}`, Math.floor(i / 5) - 1, String(i))]),
      log.append([entry(`any ${i % 5}`, "any", String(i))]),
    );
    if (i % 10 === 9) await sleep(2);
  }
  await Promise.all(appending);
}

/** Expects each record once, in the order of its stream. */
async function checkMany(log: ChangeLog, count: number): Promise<void> {
  for (const kind of ["chained", "any"]) {
    for (let stream = 0; stream < 5; stream++) {
      const expected = Array.from({ length: count / 5 }, (_, i) => String(5 * i + stream));
      expect((await readWholeStream(log, `${kind} ${stream}`)).map(text)).toEqual(expected);
    }
  }
}

/** Collects the given number of records. */
async function follow(log: ChangeLog, count: number): Promise<readonly LogRecord[]> {
  const stop = new AbortController();
  const seen: LogRecord[] = [];
  for await (const page of log.tail(START, stop.signal)) {
    seen.push(...page);
    if (seen.length >= count) stop.abort();
  }
  return seen;
}

describe("dropped connections", () => {
  test("no append is lost or repeated, and each stream keeps its order", async () => {
    const log = await open();
    const appending = appendMany(log, 500);
    for (let i = 0; i < 5; i++) {
      await sleep(30);
      await server.drop();
    }
    await appending;
    await checkMany(log, 500);
  });

  test("tails miss no record and return none twice", async () => {
    const log = await open();
    const following = follow(log, 600);
    const appending = appendMany(log, 300);
    for (let i = 0; i < 4; i++) {
      await sleep(40);
      await server.drop();
    }
    await appending;
    const seen = await following;
    expect(seen).toEqual(await readEverything(log));
  });

  test("connections are restored while nothing is appended", async () => {
    const log = await open();
    await log.append([entry("a", "any", "a0")]);
    await server.stop();
    await expect.poll(() => log.trouble?.()).toMatch(/cannot reach/);
    await server.start();
    await expect.poll(() => log.trouble?.()).toBeUndefined();
  });
});

describe("lost responses", () => {
  test.each([
    { what: "of an append that expects a revision", expected: -1 as const },
    { what: "of an append that expects none", expected: "any" as const },
  ])("$what: the records are in the log once", async ({ expected }) => {
    const log = await open();
    await log.append([entry("b", "any", "b0")]);
    server.faults.loseAnswerAfter = 0;
    const answers = await Promise.all([
      log.append([entry("a", expected, "a0", "a1")]),
      log.append([entry("b", "any", "b1")]),
      log.append([entry("c", -1, "c0")]),
    ]);
    expect(answers.map(([answer]) => answer?.revision)).toEqual([1, 1, 0]);
    const records = await readEverything(log);
    expect(records.map(text).toSorted()).toEqual(["a0", "a1", "b0", "b1", "c0"]);
    const [a] = answers;
    expect(records.find((record) => text(record) === "a1")?.position).toBe(a[0]?.position);
  });

  test("an append with a lost response is found although the server forgot the ids", async () => {
    const log = await open();
    await log.append([entry("a", "any", "a0")]);
    server.faults.loseAnswerAfter = 0;
    const appending = log.append([entry("a", "any", "a1")]);
    await expect.poll(() => server.faults.loseAnswerAfter).toBeUndefined();
    server.store.forgetIds();
    expect(await appending).toMatchObject([{ revision: 1 }]);
    expect((await readEverything(log)).map(text)).toEqual(["a0", "a1"]);
  });
});

describe("an append that depends on another that lost a race", () => {
  test("an append that is issued after the lost one's result is sent", async () => {
    const log = await open();
    const other = await open();
    for (let round = 0; round < 20; round++) {
      await other.append([entry("a", 2 * round - 1, "another's")]);
      const error = await log.append([entry("a", 2 * round - 1, "lost")]).catch((lost) => lost);
      expect(error).toMatchObject({ name: "WrongRevision", actual: 2 * round });
      // In the same iteration of the event loop as the result.
      expect(await log.append([entry("a", error.actual, "mine")])).toMatchObject([
        { revision: 2 * round + 1 },
      ]);
    }
  });

  test("the error of such an append never has an actual revision that equals the expected one", async () => {
    const logs = [await open(), await open()];
    for (let round = 0; round < 50; round++) {
      const outcomes = await Promise.allSettled(
        logs.map((each, n) => each.append([entry("a", round - 1, `writer ${n}`)])),
      );
      const lost = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(lost).toHaveLength(1);
      expect(lost[0]?.reason).toMatchObject({ expected: round - 1, actual: round });
    }
  });

  test("an append that was issued before the lost one's result is rejected with its error", async () => {
    const log = await open();
    const other = await open();
    await log.append([entry("a", -1, "a0")]);
    await other.append([entry("a", 0, "another's")]);
    // 1. Rejected: the stream is at 1. 2. Expects 1, the revision that the first append assumed.
    const outcomes = await Promise.allSettled([
      log.append([entry("a", 0, "lost")]),
      log.append([entry("a", 1, "on what was lost")]),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ reason: { name: "WrongRevision", stream: "a", actual: 1 } });
    }
    expect((await readWholeStream(log, "a")).map(text)).toEqual(["a0", "another's"]);
    // A writer that has read the present revision may append.
    expect(await log.append([entry("a", 1, "a2")])).toMatchObject([{ revision: 2 }]);
  });
});

describe("faults of the server", () => {
  test("a silent server leaves the result of appends unknown after their timeout", async () => {
    const log = await open("&defaultDeadline=1500");
    server.faults.silent = true;
    const appending = log.append([entry("a", -1, "a0")]);
    await expect(appending).rejects.toEqual(unavailable(/response .* was lost/));
    await expect(appending).rejects.toMatchObject({ hint: expect.stringMatching(/may be in/) });
    server.faults.silent = false;
    expect((await readWholeStream(log, "a")).map(text)).toEqual(["a0"]);
    await expect(log.append([entry("a", -1, "a0")])).rejects.toMatchObject({ actual: 0 });
  });

  test("a busy server gets an append again until it accepts it", async () => {
    const log = await open();
    server.faults.rejection = "Server Is Busy";
    const appending = log.append([entry("a", -1, "a0")]);
    // Without a notification in time, closing the log ends the append.
    appending.catch(() => {});
    await expect.poll(() => log.trouble?.()).toMatch(/Busy/);
    server.faults.rejection = undefined;
    expect(await appending).toMatchObject([{ revision: 0, repeated: false }]);
    expect(await readEverything(log)).toHaveLength(1);
  });

  test("a server that is down makes the log unavailable, and the log continues when the server is back", async () => {
    const log = await open("&defaultDeadline=1500");
    await log.append([entry("a", -1, "a0")]);
    await server.stop();
    await expect(log.append([entry("a", 0, "a1")])).rejects.toEqual(unavailable(/127\.0\.0\.1/));
    await expect(log.head()).rejects.toEqual(unavailable(/cannot reach|in time/));
    await server.start();
    await expect.poll(() => log.trouble?.()).toBeUndefined();
    expect(await log.append([entry("a", 0, "a1")])).toMatchObject([{ revision: 1 }]);
  });

  test("a server that is down at the start is named within bounded time", async () => {
    await server.stop();
    const begin = performance.now();
    await expect(open()).rejects.toEqual(unavailable(/eventstoredb at 127\.0\.0\.1:\d+/));
    expect(performance.now() - begin).toBeLessThan(20_000);
  });

  test("events that the server sends twice are returned once", async () => {
    server.faults.duplicates = true;
    const log = await open();
    const following = follow(log, 200);
    await appendMany(log, 100);
    expect(await following).toEqual(await readEverything(log));
    await checkMany(log, 100);
  });

  test("a slow server answers all calls in their order", async () => {
    server.faults.delayMs = 5;
    const log = await open();
    await appendMany(log, 100);
    await checkMany(log, 100);
  });
});

describe("a change of the leader", () => {
  test("a new leader is found, and continues where the old one ended", async () => {
    const second = await startEventStoreServer({ store: server.store });
    others.push(second);
    const log = await open();
    const following = follow(log, 600);
    const appending = appendMany(log, 300);
    await sleep(30);
    server.follow(second);
    const led = (): number => second.asked.get("batchAppend") ?? 0;
    await expect.poll(led).toBeGreaterThan(0);
    server.follow(undefined);
    second.follow(server);
    await appending;
    await checkMany(log, 300);
    expect(await following).toEqual(await readEverything(log));
  });

  test("the leader is found through the gossip of any node", async () => {
    const second = await startEventStoreServer({ store: server.store });
    others.push(second);
    server.follow(second);
    const log = await openEventStoreChangeLog({
      connection: `esdb://127.0.0.1:${server.port},127.0.0.1:${second.port}?tls=false`,
    });
    opened.push(log);
    await log.append([entry("a", -1, "a0")]);
    expect(server.asked.get("batchAppend")).toBeUndefined();
    expect((await readEverything(log)).map(text)).toEqual(["a0"]);
  });
});

/** A network between the log and the server. */
async function openNetwork() {
  const sockets = new Set<Socket>();
  let carried = 0;
  const network = createServer((near) => {
    const far = connect(server.port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => {
        if (!sockets.has(from)) return;
        carried += bytes.length;
        to.write(bytes);
      });
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((done) => network.listen(0, "127.0.0.1", done));
  const { port } = network.address() as AddressInfo;
  return {
    address: `esdb://127.0.0.1:${port}?tls=false`,
    carried: () => carried,
    /** Open connections stay open, but transfer nothing. */
    freeze: () => sockets.clear(),
    close: () => network.close(),
  };
}

describe("faults of the network", () => {
  test("tails and appends detect a silent network by the heartbeat", async () => {
    const network = await openNetwork();
    const settings = "&keepAliveInterval=300&keepAliveTimeout=300&defaultDeadline=20000";
    const log = await openEventStoreChangeLog({ connection: network.address + settings });
    opened.push(log);
    const second = await open();
    await log.append([entry("a", -1, "a0")]);
    const following = follow(log, 3);
    await expect.poll(() => server.asked.get("read") ?? 0).toBeGreaterThan(2);
    network.freeze();
    await second.append([entry("b", -1, "b0")]);
    expect(await log.append([entry("a", 0, "a1")])).toMatchObject([{ revision: 1 }]);
    expect((await following).map(text).toSorted()).toEqual(["a0", "a1", "b0"]);
    network.close();
  });

  test("a slow network transfers only records of the log, because the server filters", async () => {
    const network = await openNetwork();
    const foreign = Array.from({ length: 100 }, (_, n) => ({
      ...{ id: crypto.randomUUID(), type: "Foreign", contentType: "application/octet-stream" },
      ...{ data: new Uint8Array(20_000), metadata: Buffer.from(String(n)) },
    }));
    server.store.append("theirs", "any", foreign);
    const log = await openEventStoreChangeLog({ connection: network.address });
    opened.push(log);
    await log.append([entry("a", -1, "a0")]);
    server.store.append(
      "theirs",
      "any",
      foreign.map((one) => ({ ...one, id: crypto.randomUUID() })),
    );
    expect((await follow(log, 1)).map(text)).toEqual(["a0"]);
    expect((await readEverything(log)).map(text)).toEqual(["a0"]);
    expect(await log.head()).toBeGreaterThan(0);
    expect(network.carried()).toBeLessThan(200_000);
    network.close();
  });
});
