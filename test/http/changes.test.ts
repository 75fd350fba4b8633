/**
 * /changes over HTTP: its calls of the catalog, and its limits on the number and speed of readers.
 */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Catalog, ChangeEntry, ChangePage } from "../../src/catalog/catalog.ts";
import { position, revision } from "../../src/core/position.ts";
import { changeText, eventStream, jsonLines } from "../../src/http/response/change-text.ts";
import { feedTexts } from "../../src/http/response/feed-texts.ts";
import type { StreamLimits } from "../../src/http/response/streams.ts";
import { follow } from "../support/feed-client.ts";
import { openTestServer, rejection, type TestServer } from "./test-server.ts";

const entryAt = (at: number, value = '{"removed":false}'): ChangeEntry => ({
  change: {
    ...{ urn: "urn:li:tag:ä", entityType: "tag", aspect: "status", changeType: "UPSERT", value },
    ...{ created: { time: 1, actor: "urn:li:corpuser:mira" }, timeseries: false },
    ...{ system: { lastObserved: 1, runId: "r" }, revision: revision(0), position: position(at) },
  },
});

let api: TestServer;
beforeEach(() => {
  api = openTestServer();
});
afterEach(() => api.app.close());

/** Starts the server and returns its address. */
async function listening(limits?: StreamLimits): Promise<string> {
  await api.app.close();
  api = openTestServer({}, undefined, limits);
  await api.app.listen({ host: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
}

const limits: StreamLimits = {
  atOnceMax: 2,
  perUserMax: 0,
  lifeMsMax: 60_000,
  stalledMsMax: 60_000,
};

describe("the catalog is asked for", () => {
  const asked = async (query: string, headers: Record<string, string> = {}) => {
    await api.app.inject({ url: `/changes${query}`, headers });
    return api.catalog.calls.at(-1);
  };

  test("a page from the start by default", async () => {
    expect(await asked("")).toEqual({
      method: "readChanges",
      args: [{ previous: undefined, after: undefined }],
    });
    const query =
      "?after=7&limit=3&previous=true&urn=urn:li:tag:a&urn=urn:li:tag:b&aspect=List(x,y)";
    expect((await asked(query))?.args).toEqual([
      {
        ...{ after: 7, limit: 3, previous: true, entityTypes: undefined },
        ...{ urns: ["urn:li:tag:a", "urn:li:tag:b"], aspects: ["x", "y"] },
      },
    ]);
    expect((await asked("?from=start"))?.args).toMatchObject([{ after: 0 }]);
    expect((await asked("?from=end&limit=3"))?.args).toMatchObject([{ before: "end", limit: 3 }]);
    expect((await asked("?before=7"))?.args).toMatchObject([{ before: 7 }]);
  });

  test("the position in Last-Event-ID, which overrides the query unless it is empty", async () => {
    expect((await asked("?after=7", { "last-event-id": "9" }))?.args).toMatchObject([{ after: 9 }]);
    expect((await asked("?after=7", { "last-event-id": "" }))?.args).toMatchObject([{ after: 7 }]);
    const reply = await api.app.inject({ url: "/changes", headers: { "last-event-id": "x" } });
    expect(reply.json()).toEqual(
      rejection(400, "malformed", expect.stringContaining('header Last-Event-ID is "x"')),
    );
  });

  test("a stream from now on, which ends with the stream of the catalog", async () => {
    const reply = await api.app.inject({
      url: "/changes?entityType=tag",
      headers: { accept: "text/html, text/event-stream;q=0.9" },
    });
    expect(api.catalog.calls).toMatchObject([
      { method: "followChanges", args: [{ after: undefined, entityTypes: ["tag"] }, {}] },
    ]);
    expect(reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(reply.payload).toMatch(
      /^retry: 2000\nid: 3\n\nid: 5\nevent: change\ndata: \{"position":5,/,
    );
    expect(api.observed).toEqual([]);
  });

  test("no stream before a position", async () => {
    const headers = { accept: "text/event-stream" };
    const reply = await api.app.inject({ url: "/changes?before=7", headers });
    expect(reply.json()).toEqual(
      rejection(400, "malformed", expect.stringContaining("no changes before a position")),
    );
  });

  test("nothing for HEAD", async () => {
    const reply = await api.app.inject({
      method: "HEAD",
      url: "/changes",
      headers: { accept: "text/event-stream" },
    });
    expect(reply.statusCode).toBe(200);
    expect(api.catalog.calls).toEqual([]);
  });
});

describe("the text of a change", () => {
  test("is one line for any value", () => {
    const odd = entryAt(5, '{\n  "removed":\r\n false, "é\\n": "\\r"}');
    const text = changeText(odd);
    expect(text).not.toMatch(/[\r\n]/);
    expect(JSON.parse(text).aspect.value).toEqual({ removed: false, "é\n": "\r" });
    expect(eventStream.change(odd).split("\n")).toHaveLength(5);
    expect(jsonLines.change(odd)).toBe(`${text}\n`);
  });

  test("has heartbeats with the current position in between", async () => {
    const more = Promise.withResolvers<void>();
    const ending = new AbortController();
    async function* pages(): AsyncIterable<ChangePage> {
      yield { changes: [], position: position(3) };
      yield { changes: [], position: position(9) };
      await more.promise;
      yield { changes: [entryAt(11)], position: position(12) };
    }
    const texts: string[] = [];
    for await (const text of feedTexts(pages(), jsonLines, {
      signal: ending.signal,
      heartbeatMs: 5,
    })) {
      texts.push(text);
      if (texts.length === 4) more.resolve();
    }
    expect(texts.slice(0, 4)).toEqual([3, 9, 9, 9].map((at) => `{"position":${at}}\n`));
    expect(texts.at(-1)).toBe(jsonLines.change(entryAt(11)));
  });
});

describe("change streams", () => {
  /** A source of pages of 64 KiB, with the number of its pages so far. */
  function endless(): { made: number; follow: Catalog["followChanges"] } {
    const source = {
      made: 0,
      follow: async (_: unknown, signal: AbortSignal) =>
        (async function* () {
          while (!signal.aborted) {
            source.made++;
            const change = entryAt(source.made, JSON.stringify("x".repeat(65_536)));
            yield { changes: [change], position: position(source.made) };
            await new Promise(setImmediate);
          }
        })(),
    };
    return source;
  }

  /** A stream without changes that ends with its signal. */
  const quiet: Catalog["followChanges"] = async (_, signal) =>
    (async function* () {
      yield { changes: [], position: position(1) };
      await once(signal, "abort");
    })();

  /** Opens a stream, reads its head and then stops reading. */
  async function stuck(address: string) {
    const socket = connect(Number(new URL(address).port), "127.0.0.1");
    socket.write("GET /changes HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n\r\n");
    await once(socket, "data");
    socket.pause();
    return socket;
  }

  const eventually = async (holds: () => boolean | Promise<boolean>) => {
    for (let n = 0; n < 200; n++) {
      if (await holds()) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect.unreachable("the condition was never met");
  };

  test("are limited in number, and a stream that ends frees its place", async () => {
    const address = await listening(limits);
    api.catalog.followChanges = quiet;
    const first = await follow(`${address}/changes`);
    await follow(`${address}/changes`);
    const rejected = await follow(`${address}/changes`);
    expect(rejected.response.status).toBe(429);
    expect(rejected.response.headers.get("retry-after")).toBe("10");
    expect(await rejected.response.json()).toEqual(
      rejection(429, "rate_limited", expect.stringContaining("2 feeds are open")),
    );
    // Pages are not streams.
    expect((await fetch(`${address}/changes`)).status).toBe(200);
    first.leave();
    await eventually(async () => (await follow(`${address}/changes`)).response.status === 200);
  });

  test("of one client cannot use up the streams of others", async () => {
    const address = await listening({ ...limits, atOnceMax: 3, perUserMax: 2 });
    api.catalog.followChanges = quiet;
    const as = (actor: string) => follow(`${address}/changes`, { "X-Service-Actor": actor });
    await as("mira");
    const second = await as("mira");
    const rejected = await as("mira");
    expect(rejected.response.status).toBe(429);
    expect(await rejected.response.json()).toEqual(
      rejection(
        429,
        "rate_limited",
        expect.stringContaining('"127.0.0.1" has 2 open change feeds; at most 2 are allowed'),
      ),
    );
    // Without tokens, the actor is only a claim.
    expect((await as("otto")).response.status).toBe(429);
    second.leave();
    await eventually(async () => (await as("otto")).response.status === 200);
  });

  test("that the catalog rejects do not count", async () => {
    const address = await listening({ ...limits, atOnceMax: 1 });
    const { followChanges } = api.catalog;
    for (let n = 0; n < 3; n++) {
      api.catalog.fault = new Error("no");
      api.catalog.followChanges = followChanges;
      expect((await follow(`${address}/changes`)).response.status).toBe(500);
    }
    api.catalog.followChanges = quiet;
    expect((await follow(`${address}/changes`)).response.status).toBe(200);
  });

  test("produce no more than a slow reader reads, and a stalled reader is disconnected", async () => {
    const address = await listening({ ...limits, stalledMsMax: 400 });
    const source = endless();
    api.catalog.followChanges = source.follow;
    const socket = await stuck(address);
    await eventually(async () => {
      const before = source.made;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return source.made === before;
    });
    // What the buffers of both sides of a connection hold, and some more.
    expect(source.made).toBeLessThan(400);
    await new Promise((resolve) => setTimeout(resolve, 800));
    const { made } = source;
    socket.on("error", () => undefined).resume();
    await once(socket, "close");
    expect(source.made).toBe(made);
  });

  test("end after their maximum life, so that clients authorize again", async () => {
    const address = await listening({ ...limits, lifeMsMax: 100 });
    api.catalog.followChanges = quiet;
    const feed = await follow(`${address}/changes`);
    expect(await feed.next()).toBeUndefined();
    expect(feed.lastId()).toBe("1");
  });

  test("end with the server, also without a reader", async () => {
    const address = await listening(limits);
    api.catalog.followChanges = quiet;
    const feed = await follow(`${address}/changes`);
    await api.app.close();
    expect(await feed.next()).toBeUndefined();
  });

  test("that fail abort the connection, so that clients do not take them for complete", async () => {
    const address = await listening(limits);
    api.catalog.followChanges = async () =>
      (async function* () {
        yield { changes: [entryAt(4)], position: position(4) };
        throw new Error("the log is damaged");
      })();
    const feed = await follow(`${address}/changes`);
    const events = async () => {
      while ((await feed.next()) !== undefined);
    };
    await expect(events()).rejects.toThrow();
    expect(api.log.map(([, message]) => message)).toEqual(["a feed failed"]);
  });
});
