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

function tells(at: number, urn: string, ends: readonly string[], source = urn): GraphWrite {
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

// A newcomer has no server: what is left out says why in its name.
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

    test("is empty to a reader before there is one", async () => {
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
      await (await sinkOf()).apply([tells(1, dataset("a"), [dataset("b")])], position(1));
      expect(await neighboursOf(reader, dataset("a"))).toEqual([dataset("b")]);
    });

    test("loses its nodes with their last edges", async () => {
      const sink = await sinkOf();
      const writes = [tells(1, dataset("a"), [dataset("b")]), tells(2, dataset("c"), [ada], ada)];
      await sink.apply(writes, position(2));
      const urns = async () =>
        (
          await place.ask(`MATCH (n) WHERE n.urn IS NOT NULL AND labels(n)[0] STARTS WITH
          '${place.name}_graph_' RETURN n.urn AS urn ORDER BY urn`)
        ).map((row) => row.urn);
      expect(await urns()).toEqual([ada, dataset("a"), dataset("b"), dataset("c")]);
      await sink.apply([tells(3, dataset("c"), [dataset("a")])], position(3));
      expect(await urns()).toEqual([dataset("a"), dataset("b"), dataset("c")]);
      const gone: GraphWrite[] = ["a", "c"].map((name, i) => ({
        ...{ op: "remove_entity", urn: dataset(name), position: position(4 + i) },
      }));
      await sink.apply(gone, position(5));
      expect(await urns()).toEqual([]);
    });

    test("is written by one of two projectors at a time, and the other is told", async () => {
      const one = await sinkOf();
      const other = await sinkOf();
      await one.apply([tells(1, dataset("a"), [dataset("b")])], position(1));
      const conflict = expect.objectContaining({
        code: "conflict",
        message: 'the view "graph" was moved to position 1 by another projector',
      });
      const write = tells(1, dataset("a"), [dataset("c")]);
      await expect(other.apply([write], position(1))).rejects.toEqual(conflict);
      const again = expect.objectContaining({ code: "conflict" });
      await expect(other.apply([write], position(1))).rejects.toEqual(again);
      expect(await other.position()).toBe(1);
      await other.apply([tells(2, dataset("a"), [dataset("c")])], position(2));
      await expect(one.restore(dataset("a"), [])).rejects.toEqual(again);
      expect(await one.position()).toBe(2);
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([dataset("c")]);
    });

    test("comes to the same under two projectors at once", async () => {
      const sinks = [await sinkOf(), await sinkOf()];
      const writes = Array.from({ length: 60 }, (_, i) =>
        tells(i + 1, dataset(i % 7), [dataset(i), dataset(i + 1)]),
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

    test("that came back empty is noticed, and grown again", async () => {
      const sink = await sinkOf();
      const writes = [tells(1, dataset("a"), [dataset("b")]), tells(2, dataset("b"), [ada])];
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

    test("is grown again under another model or log, but not when the log may be lost", async () => {
      const emptied: string[] = [];
      const under = async (model: string, id: string, head: number): Promise<Position> => {
        const log = { id, head: position(head) };
        const onEmptied = (why: string) => emptied.push(why);
        const sink = await place.openSink({ model, log, onEmptied });
        const at = await sink.position();
        if (at === 0) await sink.apply([tells(1, dataset("a"), [ada])], position(7));
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

    test("of another model is kept where that is wanted, until one is grown beside it", async () => {
      const openAs = (model: string, told: unknown[] = [], bulk = false) =>
        place.openSink({
          ...{ model, bulk, log: { id: "log", head: position(9) } },
          onStale: (stale: boolean) => void told.push(stale),
          onEmptied: (why: string) => void told.push(why),
        });
      const tell = (n: number) => tells(n, dataset(n), [ada]);
      const first = await openAs("m1");
      await first.apply([tell(1)], position(3));
      const told: unknown[] = [];
      const second = await openAs("m2", told);
      expect([await second.position(), new Set(told)]).toEqual([3, new Set([true])]);
      // Its own process goes on with it.
      await first.apply([tell(4)], position(4));
      const grown = await openAs("m2", [], true);
      await grown.apply([tell(1), tell(4)], position(4));
      await grown.close("keep");
      await expect(first.apply([], position(5))).rejects.toMatchObject({ code: "conflict" });
      expect([await second.position(), told.at(-1)]).toEqual([4, false]);
      expect([await first.position(), await (await openAs("m1", told)).position()]).toEqual([4, 4]);
      expect(told.at(-1)).toBe(true);
      // What both have fed is of neither.
      await first.apply([], position(6));
      for (const model of ["m1", "m2"]) {
        const again: unknown[] = [];
        expect(await (await openAs(model, again)).position()).toBe(6);
        expect(again.at(-1)).toBe(true);
      }
    });

    test("is regrown beside the live one and takes its place under readers", async () => {
      const live = await sinkOf();
      const many = Array.from({ length: 300 }, (_, i) => dataset(i));
      await live.apply([tells(1, dataset("a"), many.slice(0, 90))], position(1));
      const reader = await readerOf();
      const seen = new Set<number>();
      let growing = true;
      const reading = (async () => {
        while (growing) seen.add((await neighboursOf(reader, dataset("a"))).length);
      })();
      for (const size of [80, 70]) {
        const bulk = await place.openSink({ bulk: true });
        expect(await bulk.position()).toBe(START);
        await bulk.apply([tells(1, dataset("a"), many.slice(0, size))], position(1_000 - size));
        await bulk.close("keep");
      }
      const discarded = await place.openSink({ bulk: true });
      await discarded.apply([tells(1, dataset("a"), many.slice(0, 10))], position(500));
      await discarded.close("discard");
      growing = false;
      await reading;
      expect([...seen].filter((size) => ![90, 80, 70].includes(size))).toEqual([]);
      expect(await neighboursOf(reader, dataset("a"))).toEqual(many.slice(0, 70));
      expect((await labels()).length).toBe(2);
      // The one that was written before is another now.
      await expect(live.apply([], position(600))).rejects.toMatchObject({ code: "conflict" });
      expect(await live.position()).toBe(930);
    });

    test("replaces a view that covers records beyond the end of the log", async () => {
      const live = await sinkOf();
      await live.apply([tells(1, dataset("a"), [ada])], position(9));
      const bulk = await place.openSink({ bulk: true });
      await bulk.apply([tells(1, dataset("a"), [dataset("b")])], position(5));
      const conflict = { code: "conflict" };
      await expect(bulk.publish?.(position(9))).rejects.toMatchObject(conflict);
      await bulk.publish?.(position(5));
      await bulk.close("keep");
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([dataset("b")]);
    });

    test("is not disturbed by what a dead rebuild left, which the next one clears", async () => {
      const live = await sinkOf();
      await live.apply([tells(1, dataset("a"), [ada])], position(1));
      const dead = await sinkOf({ bulk: true });
      await dead.apply([tells(1, dataset("a"), [dataset("b")])], position(9));
      expect((await labels()).length).toBe(3);
      const next = await place.openSink({ bulk: true });
      await next.apply([tells(1, dataset("a"), [dataset("c")])], position(9));
      await expect(dead.apply([], position(10))).rejects.toMatchObject({ code: "conflict" });
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([ada]);
      await expect(dead.close("keep")).rejects.toMatchObject({ code: "conflict" });
      await next.close("keep");
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([dataset("c")]);
      expect((await labels()).length).toBe(2);
    });

    test("of another release is refused, with what to do", async () => {
      await (await sinkOf()).apply([tells(1, dataset("a"), [ada])], position(1));
      await place.ask(`MATCH (v:${place.name}_graph) SET v.version = 99`);
      const refused = { code: "unavailable", hint: expect.stringContaining("rebuild graph") };
      await expect((await readerOf()).neighbours(near(ada))).rejects.toMatchObject(refused);
      await expect(place.openSink()).rejects.toMatchObject(refused);
      const grown = await place.openSink({ bulk: true });
      await grown.apply([], position(1));
      await grown.close("keep");
      expect(await neighboursOf(await readerOf(), dataset("a"))).toEqual([]);
    });

    test("is found good by its check", async () => {
      const before = await labels();
      const { version, findings } = await checkNeo4j({ url, name: place.name });
      expect(version).toMatch(/^\d+\.\d+/);
      expect(findings).toEqual([]);
      expect(await labels()).toEqual(before);
    });
  });
});

describe("a graph in a server that is not there", () => {
  const secret = "s3cret";

  test("says which one, what to do, and nothing of who logs in", async () => {
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

  test("is refused at once when its address is none", async () => {
    for (const wrong of ["bolt:/nothing", "http://ada:s3cret@host", "host:7687", ""]) {
      const refused = openNeo4jGraphReader({ url: wrong, name: "nowhere" });
      await expect(refused).rejects.toMatchObject({
        code: "invalid",
        message: expect.not.stringContaining(secret),
      });
    }
  });
});
