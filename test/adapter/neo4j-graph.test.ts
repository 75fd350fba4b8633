import { createServer } from "node:net";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Position, position, START } from "../../src/core/position.ts";
import type { ViewOrigin } from "../../src/storage/view-origin.ts";
import type { GraphSink, GraphWrite, NeighboursQuery } from "../../src/views/graph/graph.ts";
import { checkNeo4j } from "../../src/views/graph/neo4j/check.ts";
import { openNeo4jGraphReader } from "../../src/views/graph/neo4j/neo4j-graph-reader.ts";
import { openNeo4jGraphSink } from "../../src/views/graph/neo4j/neo4j-graph-sink.ts";
import { graphContract } from "../contract/graph.contract.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { createNeo4jPlace } from "./neo4j-place.ts";

const store = await reachStore("neo4j");
const url = "skipped" in store ? "" : store.url;
const title = storeTitle("neo4j", store);
const { createPlace, close } = createNeo4jPlace(url);

const ada = "urn:li:corpuser:ada";
const DOWNSTREAM = "DownstreamOf";
const dataset = (name: string | number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;

function writeOf(at: number, urn: string, ends: readonly string[], source = urn): GraphWrite {
  const edges = ends.map((destination) => ({
    ...{ source, type: DOWNSTREAM, destination, path: "/upstreams/*/dataset" },
  }));
  const by = { stamp: { time: at, actor: ada }, edges };
  return { op: "replace", urn, aspect: "upstreamLineage", position: position(at), ...by };
}

const near = (urn: string): NeighboursQuery => ({
  ...{ urn, types: [DOWNSTREAM], start: 0, count: 100 },
  direction: "OUTGOING",
});

// The title says why the suite is skipped without a server.
describe.skipIf("skipped" in store)(title, () => {
  afterAll(close);

  graphContract(title, { createPlace, slow: true });

  describe("a graph in a server", () => {
    type Place = Awaited<ReturnType<typeof createPlace>>;
    let place: Place;
    let opened: { close(): Promise<void> }[];

    beforeEach(async () => {
      place = await createPlace();
      opened = [];
    });

    afterEach(async () => {
      for (const one of opened) await one.close();
      await place.remove();
    });

    async function sinkOf(origin?: ViewOrigin): Promise<GraphSink> {
      const sink = await place.openSink(origin);
      opened.push(sink);
      return sink;
    }

    async function readerOf() {
      const reader = await place.openReader();
      opened.push(reader);
      return reader;
    }

    const neighboursOf = async (
      reader: Awaited<ReturnType<typeof readerOf>>,
      urn: string,
    ): Promise<readonly string[]> =>
      (await reader.neighbours(near(urn))).neighbours.map((one) => one.urn);

    const labels = async (): Promise<readonly unknown[]> =>
      (await place.ask("SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name"))
        .map((row) => String(row.name))
        .filter((name) => name.startsWith(`${place.name}_graph`));

    test("a graph without a sink is empty for readers", async () => {
      const reader = await readerOf();
      expect(await reader.neighbours(near(dataset("a")))).toEqual({ neighbours: [], total: 0 });
      const steps = new Map([
        [
          "dataset",
          [{ direction: "OUTGOING", type: DOWNSTREAM, to: new Set(["dataset"]) }] as const,
        ],
      ]);
      expect(await reader.follow([dataset("a")], steps, { edgesMax: 5 })).toEqual({
        edges: [],
        complete: true,
      });
      const pair = { source: dataset("a"), type: DOWNSTREAM, destination: dataset("b") };
      expect(await reader.stamps([pair])).toEqual([undefined]);
      expect(await Array.fromAsync(reader.dump())).toEqual([]);
      await (await sinkOf()).apply([writeOf(1, dataset("a"), [dataset("b")])], position(1));
      expect(await neighboursOf(reader, dataset("a"))).toEqual([dataset("b")]);
    });

    test("nodes are deleted with their last edges", async () => {
      const sink = await sinkOf();
      const writes = [
        writeOf(1, dataset("a"), [dataset("b")]),
        writeOf(2, dataset("c"), [ada], ada),
      ];
      await sink.apply(writes, position(2));
      const urns = async () =>
        (
          await place.ask(`MATCH (n) WHERE n.urn IS NOT NULL AND labels(n)[0] STARTS WITH
          '${place.name}_graph_' RETURN n.urn AS urn ORDER BY urn`)
        ).map((row) => row.urn);
      expect(await urns()).toEqual([ada, dataset("a"), dataset("b"), dataset("c")]);
      await sink.apply([writeOf(3, dataset("c"), [dataset("a")])], position(3));
      expect(await urns()).toEqual([dataset("a"), dataset("b"), dataset("c")]);
      const gone: GraphWrite[] = ["a", "c"].map((name, i) => ({
        ...{ op: "remove_entity", urn: dataset(name), position: position(4 + i) },
      }));
      await sink.apply(gone, position(5));
      expect(await urns()).toEqual([]);
    });

    test("one of two projectors writes at a time, and the other gets a conflict", async () => {
      const one = await sinkOf();
      const other = await sinkOf();
      await one.apply([writeOf(1, dataset("a"), [dataset("b")])], position(1));
      const conflict = expect.objectContaining({
        code: "conflict",
        message: 'the view "graph" was moved to position 1 by another projector',
      });
      const write = writeOf(1, dataset("a"), [dataset("c")]);
      await expect(other.apply([write], position(1))).rejects.toEqual(conflict);
      const again = expect.objectContaining({ code: "conflict" });
      await expect(other.apply([write], position(1))).rejects.toEqual(again);
      expect(await other.position()).toBe(1);
      await other.apply([writeOf(2, dataset("a"), [dataset("c")])], position(2));
      await expect(one.restore(dataset("a"), [])).rejects.toEqual(again);
      expect(await one.position()).toBe(2);
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([dataset("c")]);
    });

    test("two concurrent projectors give the same graph as one", async () => {
      const sinks = [await sinkOf(), await sinkOf()];
      const writes = Array.from({ length: 60 }, (_, i) =>
        writeOf(i + 1, dataset(i % 7), [dataset(i), dataset(i + 1)]),
      );
      const project = async (sink: GraphSink): Promise<void> => {
        for (let at: Position = await sink.position(); at < 60; at = await sink.position()) {
          const batch = writes.slice(at, at + 4);
          try {
            await sink.apply(batch, batch.at(-1)?.position ?? at);
          } catch (error) {
            expect(error).toMatchObject({ code: "conflict" });
          }
        }
      };
      await Promise.all(sinks.map(project));
      const rows = await Array.fromAsync((await readerOf()).dump());
      const alone = await createPlace();
      const sink = await alone.openSink();
      await sink.apply(writes, position(60));
      await sink.close();
      const reader = await alone.openReader();
      expect(rows).toEqual(await Array.fromAsync(reader.dump()));
      await reader.close();
      await alone.remove();
    });

    test("a graph that was emptied is detected, and built again", async () => {
      const sink = await sinkOf();
      const writes = [writeOf(1, dataset("a"), [dataset("b")]), writeOf(2, dataset("b"), [ada])];
      await sink.apply(writes, position(2));
      for (const label of await labels()) {
        await place.ask(`MATCH (n:${label}) DETACH DELETE n`);
        await place.ask(`DROP CONSTRAINT ${label}`);
      }
      await expect(sink.apply([], position(3))).rejects.toMatchObject({ code: "conflict" });
      expect(await sink.position()).toBe(START);
      await sink.apply(writes, position(2));
      expect(await neighboursOf(await readerOf(), dataset("b"))).toEqual([ada]);
      expect((await labels()).length).toBe(2);
    });

    test("a graph of another model or log is rebuilt, but not if the log may have been lost", async () => {
      const emptied: string[] = [];
      const under = async (model: string, id: string, head: number): Promise<Position> => {
        const log = { id, head: position(head) };
        const onEmptied = (why: string) => emptied.push(why);
        const sink = await place.openSink({ model, log, onEmptied });
        const at = await sink.position();
        if (at === 0) await sink.apply([writeOf(1, dataset("a"), [ada])], position(7));
        await sink.close();
        return at;
      };
      expect(await under("m", "log", 9)).toBe(START);
      expect(await under("m", "log", 9)).toBe(7);
      expect(await under("other", "log", 9)).toBe(START);
      expect(await under("other", "another", 9)).toBe(START);
      expect(await under("other", "lost", 3)).toBe(7);
      expect(await under("other", "another", 9)).toBe(7);
      expect(emptied).toEqual(["another model", "another log"]);
    });

    test("a graph of another model is kept on request until a rebuild replaces it", async () => {
      const openAs = (model: string, notified: unknown[] = [], bulk = false) =>
        place.openSink({
          ...{ model, bulk, log: { id: "log", head: position(9) } },
          onStale: (stale: boolean) => void notified.push(stale),
          onEmptied: (why: string) => void notified.push(why),
        });
      const writeNumber = (n: number) => writeOf(n, dataset(n), [ada]);
      const first = await openAs("m1");
      await first.apply([writeNumber(1)], position(3));
      const notified: unknown[] = [];
      const second = await openAs("m2", notified);
      expect([await second.position(), new Set(notified)]).toEqual([3, new Set([true])]);
      // The process with the first model continues to project.
      await first.apply([writeNumber(4)], position(4));
      const rebuilt = await openAs("m2", [], true);
      await rebuilt.apply([writeNumber(1), writeNumber(4)], position(4));
      await rebuilt.close("keep");
      await expect(first.apply([], position(5))).rejects.toMatchObject({ code: "conflict" });
      expect([await second.position(), notified.at(-1)]).toEqual([4, false]);
      expect([await first.position(), await (await openAs("m1", notified)).position()]).toEqual([
        4, 4,
      ]);
      expect(notified.at(-1)).toBe(true);
      // A graph with records projected by both models belongs to neither.
      await first.apply([], position(6));
      for (const model of ["m1", "m2"]) {
        const again: unknown[] = [];
        expect(await (await openAs(model, again)).position()).toBe(6);
        expect(again.at(-1)).toBe(true);
      }
    });

    test("a staging generation is built next to the live one, and replaces it under readers", async () => {
      const live = await sinkOf();
      const many = Array.from({ length: 300 }, (_, i) => dataset(i));
      await live.apply([writeOf(1, dataset("a"), many.slice(0, 90))], position(1));
      const reader = await readerOf();
      const seen = new Set<number>();
      let growing = true;
      const reading = (async () => {
        while (growing) seen.add((await neighboursOf(reader, dataset("a"))).length);
      })();
      for (const size of [80, 70]) {
        const bulk = await place.openSink({ bulk: true });
        expect(await bulk.position()).toBe(START);
        await bulk.apply([writeOf(1, dataset("a"), many.slice(0, size))], position(1_000 - size));
        await bulk.close("keep");
      }
      const discarded = await place.openSink({ bulk: true });
      await discarded.apply([writeOf(1, dataset("a"), many.slice(0, 10))], position(500));
      await discarded.close("discard");
      growing = false;
      await reading;
      expect([...seen].filter((size) => ![90, 80, 70].includes(size))).toEqual([]);
      expect(await neighboursOf(reader, dataset("a"))).toEqual(many.slice(0, 70));
      expect((await labels()).length).toBe(2);
      // The sink of the old generation gets a conflict.
      await expect(live.apply([], position(600))).rejects.toMatchObject({ code: "conflict" });
      expect(await live.position()).toBe(930);
    });

    test("a rebuild replaces a graph that covers records beyond the end of the log", async () => {
      const live = await sinkOf();
      await live.apply([writeOf(1, dataset("a"), [ada])], position(9));
      const bulk = await place.openSink({ bulk: true });
      await bulk.apply([writeOf(1, dataset("a"), [dataset("b")])], position(5));
      const conflict = { code: "conflict" };
      await expect(bulk.publish?.(position(9))).rejects.toMatchObject(conflict);
      await bulk.publish?.(position(5));
      await bulk.close("keep");
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([dataset("b")]);
    });

    test("an unfinished rebuild does not affect the graph, and the next one deletes its rest", async () => {
      const live = await sinkOf();
      await live.apply([writeOf(1, dataset("a"), [ada])], position(1));
      const dead = await sinkOf({ bulk: true });
      await dead.apply([writeOf(1, dataset("a"), [dataset("b")])], position(9));
      expect((await labels()).length).toBe(3);
      const next = await place.openSink({ bulk: true });
      await next.apply([writeOf(1, dataset("a"), [dataset("c")])], position(9));
      await expect(dead.apply([], position(10))).rejects.toMatchObject({ code: "conflict" });
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([ada]);
      await expect(dead.close("keep")).rejects.toMatchObject({ code: "conflict" });
      await next.close("keep");
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([dataset("c")]);
      expect((await labels()).length).toBe(2);
    });

    test("a graph of another release is rejected with the fix", async () => {
      await (await sinkOf()).apply([writeOf(1, dataset("a"), [ada])], position(1));
      await place.ask(`MATCH (v:${place.name}_graph) SET v.version = 99`);
      const rejected = { code: "unavailable", hint: expect.stringContaining("rebuild graph") };
      await expect((await readerOf()).neighbours(near(ada))).rejects.toMatchObject(rejected);
      await expect(place.openSink()).rejects.toMatchObject(rejected);
      const rebuilt = await place.openSink({ bulk: true });
      await rebuilt.apply([], position(1));
      await rebuilt.close("keep");
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([]);
    });

    test("a check reports nothing for a suitable server", async () => {
      const before = await labels();
      const { version, findings } = await checkNeo4j({ url, name: place.name });
      expect(version).toMatch(/^\d+\.\d+/);
      expect(findings).toEqual([]);
      expect(await labels()).toEqual(before);
    });
  });
});

describe("a graph in a server that cannot be reached", () => {
  const secret = "s3cret";

  test("the error names the server and the fix, but no user or password", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    try {
      for (const where of ["127.0.0.1:1", `127.0.0.1:${port}`]) {
        const place = { url: `bolt://ada:${secret}@${where}`, name: "nowhere" };
        const reader = await openNeo4jGraphReader(place);
        const failures = await Promise.all(
          [openNeo4jGraphSink(place), reader.neighbours(near(ada)), checkNeo4j(place)].map(
            (asked) =>
              asked.then(
                () => undefined,
                (error: Error) => error,
              ),
          ),
        );
        for (const failure of failures) {
          const hint = expect.stringContaining("ANNALS_GRAPH");
          const message = expect.stringContaining(where);
          expect(failure).toMatchObject({ code: "unavailable", message, hint });
          expect(JSON.stringify(failure) + failure?.message).not.toContain(secret);
        }
        await reader.close();
      }
    } finally {
      silent.close();
    }
  });

  test("an invalid address is rejected at once", async () => {
    for (const wrong of ["bolt:/nothing", "http://ada:s3cret@host", "host:7687", ""]) {
      const rejected = openNeo4jGraphReader({ url: wrong, name: "nowhere" });
      await expect(rejected).rejects.toMatchObject({
        code: "invalid",
        message: expect.not.stringContaining(secret),
      });
    }
  });
});
