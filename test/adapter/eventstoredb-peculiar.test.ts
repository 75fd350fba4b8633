/**
 * Tests for the log on EventStoreDB alone: names and ids on the server, foreign streams,
 * truncation, the address, TLS and users, and the findings of `annals check`.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EventStoreDBClient, jsonEvent } from "@eventstore/db-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position, revision, START } from "../../src/core/position.ts";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { checkEventStore } from "../../src/log/eventstoredb/check.ts";
import { parseAddress } from "../../src/log/eventstoredb/connection-string.ts";
import { translated } from "../../src/log/eventstoredb/errors.ts";
import {
  type EventStoreChangeLog,
  type EventStoreChangeLogOptions,
  openEventStoreChangeLog,
} from "../../src/log/eventstoredb/eventstore-change-log.ts";
import { openStreamNames } from "../../src/log/sqlite/stream-names.ts";
import {
  entry,
  idOf,
  readEverything,
  readWholeStream,
  text,
} from "../contract/change-log-driver.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const certificateFile = fileURLToPath(
  new URL("../support/eventstoredb-server/test-server.crt", import.meta.url),
);
const keyFile = new URL("../support/eventstoredb-server/test-server.key", import.meta.url);

let server: EventStoreServer;
let servers: EventStoreServer[];
let opened: ChangeLog[];

async function start(
  options: Parameters<typeof startEventStoreServer>[0] = {},
): Promise<EventStoreServer> {
  const started = await startEventStoreServer(options);
  servers.push(started);
  return started;
}

beforeEach(async () => {
  servers = [];
  opened = [];
  server = await start();
});

afterEach(async () => {
  await Promise.all(opened.map((log) => log.close()));
  await Promise.all(servers.map((each) => each.stop()));
});

async function open(
  options: Partial<EventStoreChangeLogOptions> = {},
): Promise<EventStoreChangeLog> {
  const log = await openEventStoreChangeLog({ connection: server.address, ...options });
  opened.push(log);
  return log;
}

const names = (): readonly string[] => [...new Set(server.store.all.map(({ stream }) => stream))];
const last = () => server.store.all.findLast(({ type }) => !type.startsWith("$"));

describe("the log on the server", () => {
  test("streams have the log's names, and none looks like a stream of the server", async () => {
    const log = await open();
    const urn = "urn:li:tag:a";
    const own = [`entity-${urn}`, `timeseries-x-${urn}`, "jobs", "$all", "!$all", "!", ""];
    for (const name of own) await log.append([entry(name, -1, name)]);
    const theirs = names().filter((name) => !name.startsWith("$") && name !== "annals-log");
    expect(theirs).toEqual([...own.slice(0, 3), "!$all", "!!$all", "!!", "!"]);
    expect((await readEverything(log)).map((record) => record.stream)).toEqual(own);
    for (const name of own) {
      expect((await readWholeStream(log, name)).map((record) => record.stream)).toEqual([name]);
    }
    expect(await log.listStreams("", { limit: 10 })).toEqual(own.toSorted().slice(1));
  });

  test("events are binary, and their types describe their contents", async () => {
    const log = await open();
    const typeOf = async (stream: string): Promise<string | undefined> => {
      await log.append([entry(stream, "any", "x")]);
      expect(last()?.contentType).toBe("application/octet-stream");
      return last()?.type;
    };
    expect(await typeOf("entity-urn:li:tag:a")).toBe("MetadataChangeLog");
    expect(await typeOf("timeseries-x-urn:li:tag:a")).toBe("MetadataChangeLog");
    expect(await typeOf("job-1:1")).toBe("JobRecord");
    expect(await typeOf("something")).toBe("CatalogRecord");
  });

  test("the id of an append determines the ids of its events, different ones in each stream", async () => {
    const log = await open();
    const idsOf = async (stream: string, id: number): Promise<readonly string[]> => {
      await log.append([entry(stream, "any", "x", "y").withId(id)]);
      return server.store.all
        .slice(-3)
        .flatMap(({ id: own, stream: name }) => (name === stream ? own : []));
    };
    const first = await idsOf("a", 1);
    expect(first).toHaveLength(2);
    expect(first[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{4}00000000$/,
    );
    expect(first[1]).toBe(first[0]?.replace(/0$/, "1"));
    const begin = first[0]?.slice(0, 28);
    for (const ids of [await idsOf("b", 1), await idsOf("a", 2)]) {
      expect(ids[0]?.slice(0, 28)).not.toBe(begin);
    }
  });

  test("foreign events on the server are skipped, however many there are", async () => {
    const log = await open();
    const noise = EventStoreDBClient.connectionString(server.address);
    const append = (): Promise<unknown> =>
      noise.appendToStream(
        "orders",
        Array.from({ length: 700 }, () => jsonEvent({ type: "Order", data: {} })),
      );
    await append();
    await log.append([entry("a", -1, "a0")]);
    await append();
    await log.append([entry("a", 0, "a1")]);
    await append();
    for (const each of [log, await open({ prefix: "ord" })]) {
      const texts = each === log ? ["a0", "a1"] : [];
      expect((await readEverything(each)).map(text)).toEqual(texts);
      const backward = await each.readAll("end", { limit: 10, backward: true });
      expect(backward.map(text)).toEqual(texts.toReversed());
    }
    expect(await log.head()).toBe(last() && (await readEverything(log)).at(-1)?.position);
    await noise.dispose();
  });

  test("logs with different prefixes are separate", async () => {
    const [one, two] = [await open({ prefix: "one-" }), await open({ prefix: "two-" })];
    await one.append([entry("a", -1, "of one")]);
    await two.append([entry("a", -1, "of two").withId(1)]);
    expect(one.id).not.toBe(two.id);
    for (const [log, own] of [
      [one, "of one"],
      [two, "of two"],
    ] as const) {
      expect((await readEverything(log)).map(text)).toEqual([own]);
      expect(await log.listStreams("", { limit: 9 })).toEqual(["a"]);
      expect(await log.head()).toBe((await readEverything(log))[0]?.position);
    }
    expect(await one.findAppend("a", idOf(1))).toBeUndefined();
  });
});

describe("the log's id", () => {
  test("the first opener sets the id of the log, which stays the same and is not a record", async () => {
    const reader = await open({ readOnly: true });
    expect(reader.id).toBeUndefined();
    const logs = await Promise.all([open(), open(), open()]);
    expect(logs[0].id).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(logs.map((log) => log.id)).size).toBe(1);
    expect((await open({ readOnly: true })).id).toBe(logs[0].id);
    expect(await readEverything(logs[0])).toEqual([]);
    expect(await logs[0].head()).toBe(START);
    expect(await logs[0].listStreams("", { limit: 9 })).toEqual([]);
  });

  test("a reader may write nothing but the id", async () => {
    await (await open()).append([entry("a", -1, "a0")]);
    const reader = await open({ readOnly: true });
    expect((await readEverything(reader)).map(text)).toEqual(["a0"]);
    await expect(reader.append([entry("a", 0, "a1")])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/reading only/),
    });
  });
});

describe("the cache of stream names", () => {
  test("names are cached in a file, and reads continue at its end", async () => {
    using directory = temporaryDirectory("annals-names");
    const namesFile = join(directory.path, "names.sqlite");
    const log = await open({ namesFile });
    await log.append([entry("b", -1, "x"), entry("a", -1, "x")]);
    expect(await log.listStreams("", { limit: 9 })).toEqual(["a", "b"]);
    await log.close();
    const later = await open({ namesFile });
    const other = await open({ namesFile, readOnly: true });
    await later.append([entry("c", -1, "x")]);
    for (const each of [later, other]) {
      expect(await each.listStreams("", { limit: 9 })).toEqual(["a", "b", "c"]);
    }
    const kept = openStreamNames(namesFile, later.id);
    expect(kept.position()).toBe(await later.head());
    kept.close();
  });

  test("a list of names ends although others append during each read", async () => {
    const log = await open();
    await log.append([entry("a", -1, "x")]);
    const { all } = server.store;
    const event = last();
    let reads = 0;
    Object.defineProperty(server.store, "all", {
      get() {
        if (++reads < 100 && event !== undefined) {
          server.store.append("a", "any", [{ ...event, id: randomUUID() }]);
        }
        return all;
      },
    });
    expect(await log.listStreams("", { limit: 9 })).toEqual(["a"]);
    expect(reads).toBeLessThan(20);
  });

  test("the names of another log are discarded", () => {
    using directory = temporaryDirectory("annals-names");
    const file = join(directory.path, "names.sqlite");
    const first = openStreamNames(file, "one");
    first.add(new Set(["a"]), position(7));
    first.add(new Set(["b"]), position(3));
    expect(first.position()).toBe(7);
    first.close();
    const second = openStreamNames(file, "two");
    expect(second.position()).toBe(START);
    expect(second.list("", "", 9)).toEqual([]);
    second.close();
  });
});

describe("a truncated stream", () => {
  test("a truncated stream accepts appends, and reads skip its removed records, also from disk", async () => {
    const log = await open();
    for (let i = 0; i < 6; i++) {
      await log.append([entry("a", i - 1, `a${i}`), entry("b", i - 1, `b${i}`)]);
    }
    const before = await readEverything(log);
    await log.truncateBefore("a", 4);
    const rest = await log.readStream("a", revision(0), { limit: 9 });
    expect(rest.map((record) => [record.revision, text(record)])).toEqual([
      [4, "a4"],
      [5, "a5"],
    ]);
    server.store.scavenge();
    // From each former position, whether or not its record still exists.
    for (const [i, { position: at }] of before.entries()) {
      const kept = before
        .slice(i + 1)
        .filter(({ stream, revision: r }) => stream === "b" || r >= 4);
      expect(await log.readAll(at, { limit: 99 })).toEqual(kept);
      const stop = new AbortController();
      if (kept.length === 0) continue;
      for await (const page of log.tail(at, stop.signal)) {
        expect(page).toEqual(kept);
        stop.abort();
      }
    }
    expect(await log.append([entry("a", 5, "a6")])).toMatchObject([{ revision: 6 }]);
    await log.truncateBefore("a", 6);
    const [only] = await log.readStream("a", revision(0), { limit: 9 });
    expect(only && text(only)).toBe("a6");
  });

  test("scavenging removes the first records of a stream if all of them are truncated", async () => {
    const log = await open();
    for (let i = 0; i < 4; i++) {
      await log.append([entry("a", i - 1, `a${i}`), entry("b", i - 1, `b${i}`)]);
    }
    const before = await readEverything(log);
    const gone = before.filter(({ stream, revision: r }) => (stream === "a" ? r !== 2 : r < 9));
    expect(await log.scavenge?.(gone)).toEqual({ records: 6, bytes: 12 });
    expect(await log.scavenge?.(gone)).toEqual({ records: 0, bytes: 0 });
    expect((await readWholeStream(log, "a")).map(text)).toEqual(["a2", "a3"]);
    expect(await readWholeStream(log, "b")).toEqual([]);
    server.store.scavenge();
    const rest = before.filter(({ stream, revision: r }) => stream === "a" && r >= 2);
    expect(await readEverything(log)).toEqual(rest);
    expect(await log.append([entry("b", "any", "b4")])).toMatchObject([{ revision: 4 }]);
    expect((await readWholeStream(log, "b")).map(text)).toEqual(["b4"]);
  });

  test("a deleted stream is empty and may be written again; a tombstoned stream is gone", async () => {
    const log = await open();
    const operator = EventStoreDBClient.connectionString(server.address);
    await log.append([entry("a", -1, "a0"), entry("b", -1, "b0")]);
    await operator.deleteStream("a");
    await operator.tombstoneStream("b");
    await operator.dispose();
    for (const name of ["a", "b"]) {
      expect(await readWholeStream(log, name)).toEqual([]);
      expect(await log.readStream(name, "end", { limit: 1, backward: true })).toEqual([]);
    }
    await log.rejectGone?.("a");
    await log.rejectGone?.("none");
    await expect(log.rejectGone?.("b")).rejects.toMatchObject({ code: "gone" });
    expect(await log.append([entry("a", -1, "anew")])).toMatchObject([{ revision: 1 }]);
    await expect(log.append([entry("b", -1, "b1")])).rejects.toMatchObject({
      code: "gone",
      message: expect.stringMatching(/"b" is tombstoned/),
      hint: expect.stringMatching(/do not send the request again/),
    });
  });
});

describe("an append that is too large for the server", () => {
  test("the append is rejected before it is sent, and the error names the setting to raise", async () => {
    const log = await open();
    const append = log.append([entry("a", -1, "x".repeat(1_048_576))]);
    await expect(append).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/"a" has 1048602 bytes; at most 1048576 are allowed/),
      hint: expect.stringMatching(/MaxAppendSize.*maxAppendSize=/),
    });
  });

  test("the server rejects the append if the setting is higher than its own limit", async () => {
    const log = await open({ connection: `${server.address}&maxAppendSize=5000000` });
    const append = log.append([entry("a", -1, "x".repeat(2_000_000), "y")]);
    await expect(append).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/at most 1048576/),
    });
    expect(await log.append([entry("a", -1, "a0")])).toMatchObject([{ revision: 0 }]);
  });
});

describe("the address of the log", () => {
  test.each([
    ["esdb://h:2113?tls=false", "h:2113", false, false],
    ["esdb://u:p@h1,h2:2114/?TLS=true&max_append_size=7", "h1,h2:2114", true, true],
    ["esdb+discover://cluster.example?nodePreference=leader", "cluster.example", true, false],
    ["kurrentdb://u:p@h:2113?tls=false", "h:2113", false, true],
    ["kurrentdb+discover://cluster.example", "cluster.example", true, false],
    ["kdb://h?tlsVerifyCert=true", "h", true, false],
  ])("%s is parsed into the connection string of the client", (text, hosts, secure, user) => {
    expect(parseAddress(text)).toMatchObject({ hosts, secure, withCredentials: user });
    const { connection } = parseAddress(text);
    expect(connection).not.toMatch(/max/i);
    const discover = text.includes("+discover") ? "+discover" : "";
    expect(connection).toMatch(new RegExp(`^esdb${RegExp.escape(discover)}://`));
  });

  test.each(["kurrentdb", "kdb"])(
    "an address with the scheme %s opens the same log",
    async (scheme) => {
      await (await open()).append([entry("a", -1, "a0")]);
      const log = await open({ connection: server.address.replace("esdb:", `${scheme}:`) });
      expect((await readEverything(log)).map(text)).toEqual(["a0"]);
    },
  );

  test.each([
    ["http://user:secret@h", /is not an EventStoreDB connection string/],
    ["esdb://user:secret@h?tlsVerifyCert=false", /tlsVerifyCert=false, which the client does not/],
    ["esdb://user:secret@h?tlss=false", /unknown key "tlss"/],
    ["esdb://user:secret@h?maxAppendSize=much", /maxAppendSize "much"/],
    ["esdb://user:secret@h?defaultDeadline=soon", /malformed/],
    ["esdb://user:secret@h?tlsCAFile=no-such-file", /certificate/],
  ])("%s is rejected, and the error shows no password", async (connection, message) => {
    const opening = openEventStoreChangeLog({ connection });
    await expect(opening).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(message),
    });
    await opening.catch((error) => {
      expect(`${error.text} ${error.stack} ${error.cause}`).not.toContain("secret");
    });
  });
});

describe("with TLS and users", () => {
  let secure: EventStoreServer;
  const address = (user: string): string =>
    `${secure.address.replace("esdb://", `esdb://${user}@`)}&tlsCAFile=${encodeURIComponent(certificateFile)}`;

  beforeEach(async () => {
    const tls = { key: readFileSync(keyFile), certificate: readFileSync(certificateFile) };
    secure = await start({ tls, users: ["admin:ch:nge it"], operators: ["ops:o"] });
  });

  test("the log works for an authorized user", async () => {
    const log = await open({ connection: address(`admin:${encodeURIComponent("ch:nge it")}`) });
    await log.append([entry("a", -1, "a0")]);
    expect((await readEverything(log)).map(text)).toEqual(["a0"]);
    expect((await log.listStreams("", { limit: 9 })).length).toBe(1);
  });

  test("a connection to an IP address prints no warning", async () => {
    const module = new URL("../../src/log/eventstoredb/eventstore-change-log.ts", import.meta.url);
    const code = `
      import { openEventStoreChangeLog } from ${JSON.stringify(module.href)};
      const log = await openEventStoreChangeLog(${JSON.stringify({
        connection: address(`admin:${encodeURIComponent("ch:nge it")}`),
      })});
      console.log(await log.head());
      await log.close();`;
    const run = promisify(execFile);
    const args = ["--input-type=module", "--eval", code];
    expect(await run(process.execPath, args)).toEqual({ stdout: "0\n", stderr: "" });
  });

  test.each([
    ["a wrong password", () => address("admin:wrong"), /rejects the user or the password/],
    ["a missing user", () => address("").replace("@", ""), /denies access/],
    ["a user of $ops", () => address("ops:o"), /denies access/],
    ["no certificate", () => secure.address, /cannot reach/],
    ["no TLS", () => secure.address.replace("tls=true", "tls=false"), /cannot reach/],
  ])("the error for %s names the cause", async (_, connection, message) => {
    const opening = open({ connection: connection() }).then((log) => log.head());
    await expect(opening).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(message),
    });
  });
});

test("error messages of the client are reported as one sentence", () => {
  const failure = translated(new Error("Failed to discover after 10 attempts."), "a:2113");
  expect(failure).toMatchObject({ message: expect.stringMatching(/after 10 attempts$/) });
});

test("an error that the server sent is not reported as an unreachable server", async () => {
  const failure = (code: number, details: string) =>
    translated(Object.assign(new Error(details), { code, details }), "a:2113").message;
  expect(failure(2, "Unexpected ReadAllResult: Error")).toBe(
    "eventstoredb at a:2113 answered with an error: Unexpected ReadAllResult: Error",
  );
  expect(failure(13, "Internal")).toMatch(/answered with an error/);
  expect(failure(14, "No connection established")).toMatch(/cannot reach/);
});

describe("annals check", () => {
  test("the error of a wrong password names the password", async () => {
    const tls = { key: readFileSync(keyFile), certificate: readFileSync(certificateFile) };
    const secure = await start({ tls, users: ["admin:right"] });
    const connection = `${secure.address.replace("://", "://admin:wrong@")}&tlsCAFile=${encodeURIComponent(certificateFile)}`;
    await expect(checkEventStore({ connection })).rejects.toMatchObject({
      message: expect.stringMatching(/rejects the user or the password/),
    });
  });

  test("a healthy server has no findings, and the check leaves nothing there", async () => {
    const before = names();
    const checked = await checkEventStore({ connection: server.address });
    expect(checked).toEqual({ version: "24.10.0-test", findings: [] });
    expect(names()).toEqual(before);
  });

  test("the missing privileges of a user are reported", async () => {
    server.forbidden.add("$all");
    const { findings } = await checkEventStore({ connection: server.address });
    expect(findings).toEqual([expect.stringMatching(/may not read \$all/)]);
  });

  test("a user without TLS is reported, because the client does not send it", async () => {
    const connection = server.address.replace("esdb://", "esdb://admin:secret@");
    const { findings } = await checkEventStore({ connection });
    expect(findings).toEqual([expect.stringMatching(/tls=false/)]);
    expect(findings.join()).not.toContain("secret");
  });

  test("a release that is too old is reported", async () => {
    const old = await start({ version: "21.10.9" });
    const { version, findings } = await checkEventStore({ connection: old.address });
    expect(version).toBe("21.10.9");
    expect(findings).toEqual([expect.stringMatching(/release 21\.10\.9: upgrade it to 22\.10/)]);
  });

  test("the missing privileges of a read-only user are reported", async () => {
    server.faults.denied = true;
    const { findings } = await checkEventStore({ connection: server.address });
    expect(findings).toEqual([expect.stringMatching(/may not write the stream "annals-log"/)]);
  });

  test("the check rejects if no server answers", async () => {
    await server.stop();
    await expect(checkEventStore({ connection: server.address })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/127\.0\.0\.1/),
    });
  });
});

test("records are counted although positions are bytes, whatever foreign events there are", async () => {
  const log = await open({ prefix: "counted-" });
  const other = await open({ connection: server.address });
  const places: number[] = [];
  for (let n = 0; n < 300; n++) {
    const [{ position } = { position: 0 }] = await log.append([entry(`s${n % 7}`, "any", `r${n}`)]);
    places.push(position);
    if (n % 3 === 0) await other.append([entry("foreign", "any", "x".repeat(n))]);
  }
  const head = await log.head();
  const countBetween = log.countBetween ?? (() => -1);
  expect(countBetween(head, head)).toBe(0);
  const late = places.at(-51) ?? 0;
  expect(countBetween(late as never, head)).toBe(50);
  const all = countBetween(0 as never, head);
  expect(Math.abs(all - 300)).toBeLessThan(60);
});

test("two open logs are independent of each other", async () => {
  const second = await start();
  const one = await open();
  const two = await open({ connection: second.address, prefix: randomUUID() });
  second.faults.delayMs = 200;
  const slow = two.append([entry("a", -1, "two")]);
  await one.append([entry("a", -1, "one")]);
  await server.stop();
  expect(await slow).toMatchObject([{ revision: 0 }]);
});
