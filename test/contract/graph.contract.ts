/**
 * The contract of every graph view (src/views/graph/graph.ts). The contract of its sink is in
 * sink.contract.ts.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import type {
  Direction,
  Edge,
  GraphReader,
  GraphSink,
  GraphWrite,
  Neighbour,
  Steps,
} from "../../src/views/graph/graph.ts";
import type { Dump, GraphRow } from "../support/dumped-readers.ts";
import { createGraphModel, graphHistories, someSteps, types, urns } from "./graph-model.ts";

export interface GraphPlace {
  openSink(): Promise<GraphSink>;
  openReader(): Promise<GraphReader & Dump<GraphRow>>;
  remove(): Promise<void>;
}

const dataset = (name: string | number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const a = dataset("a");
const b = dataset("b");
const c = dataset("c");
const ada = "urn:li:corpuser:ada";
const OWNED = "OwnedBy";
const DOWNSTREAM = "DownstreamOf";
const directions: readonly Direction[] = ["OUTGOING", "INCOMING", "UNDIRECTED"];

interface GraphHarness {
  createPlace(): Promise<GraphPlace>;
  /** True if every query is slow: fewer random cases, and smaller hubs. */
  readonly slow?: boolean;
}

export function graphContract(name: string, harness: GraphHarness): void {
  let place: GraphPlace;
  let sink: GraphSink;
  let reader: GraphReader & Dump<GraphRow>;
  let last: Position;

  async function apply(...writes: readonly Partial<GraphWrite>[]): Promise<void> {
    const placed = writes.map((write) => {
      last = position(last + 1);
      return { ...write, position: last } as GraphWrite;
    });
    await sink.apply(placed, last);
  }

  /** A write of an aspect of an entity: destinations of edges of one type, or edges. */
  const writeOf = (
    urn: string,
    ends: readonly (string | Partial<Edge>)[],
    more: { type?: string; aspect?: string; stamp?: { time: number; actor: string } } = {},
  ): Partial<GraphWrite> => {
    const { type = DOWNSTREAM, aspect = "upstreamLineage", stamp = { time: 5, actor: ada } } = more;
    const edges = ends.map((end) => ({
      source: urn,
      type,
      path: "/upstreams/*/dataset",
      ...(typeof end === "string" ? { destination: end } : end),
    }));
    return { op: "replace", urn, aspect, stamp, edges: edges as Edge[] };
  };

  async function near(
    urn: string,
    direction: Direction,
    asked: readonly string[] = [DOWNSTREAM],
    { start = 0, count = 100 } = {},
  ): Promise<readonly string[]> {
    const page = { urn, direction, types: asked, start, count };
    return (await reader.neighbours(page)).neighbours.map((one) => one.urn);
  }

  const total = async (urn: string, direction: Direction, start = 0): Promise<number> =>
    (await reader.neighbours({ urn, direction, types: [DOWNSTREAM], start, count: 1 })).total;

  describe(`graph: ${name}`, () => {
    beforeEach(async () => {
      place = await harness.createPlace();
      sink = await place.openSink();
      reader = await place.openReader();
      last = position(0);
    });

    afterEach(async () => {
      await reader.close();
      await sink.close();
      await place.remove();
    });

    describe("neighbours", () => {
      test("neighbours are returned at the other end, in the requested direction", async () => {
        await apply(writeOf(a, [b, c]), writeOf(b, [c]));
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        expect(await near(a, "INCOMING")).toEqual([]);
        expect(await near(c, "INCOMING")).toEqual([a, b]);
        expect(await near(b, "UNDIRECTED")).toEqual([c, a]);
      });

      test("neighbours are sorted by the requested types, then by the order of the writes", async () => {
        const owners = ["urn:li:corpuser:z", "urn:li:corpGroup:a"];
        await apply(
          writeOf(a, [c, b]),
          writeOf(a, owners, { type: OWNED, aspect: "ownership" }),
          writeOf(b, [a]),
        );
        expect(await near(a, "OUTGOING", [OWNED, DOWNSTREAM])).toEqual([...owners, c, b]);
        expect(await near(a, "OUTGOING", [DOWNSTREAM, OWNED, DOWNSTREAM])).toEqual([
          ...[c, b],
          ...owners,
        ]);
        expect(await near(a, "UNDIRECTED", [OWNED, DOWNSTREAM])).toEqual([...owners, c, b]);
      });

      test("a neighbour is returned once per type, however many aspects and directions state the edge", async () => {
        await apply(
          writeOf(a, [b, { destination: b, type: OWNED }]),
          writeOf(a, [c, b], { aspect: "other" }),
          writeOf(c, [{ source: a, destination: b }]),
          writeOf(b, [a]),
        );
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        expect(await near(a, "UNDIRECTED")).toEqual([b, c]);
        expect(await near(a, "UNDIRECTED", [OWNED, DOWNSTREAM])).toEqual([b, b, c]);
        expect(await total(a, "UNDIRECTED")).toBe(2);
      });

      test("an entity may be its own neighbour, and a neighbour need not exist", async () => {
        await apply(writeOf(a, [a, "urn:li:nothing:at all"]));
        expect(await near(a, "UNDIRECTED")).toEqual([a, "urn:li:nothing:at all"]);
        expect(await near("urn:li:nothing:at all", "INCOMING")).toEqual([a]);
      });

      test("a neighbour has the via entity of its first edge", async () => {
        const via = "urn:li:query:q";
        await apply(
          writeOf(a, [{ destination: b, via }, c]),
          writeOf(a, [{ destination: c, via }], { aspect: "other" }),
        );
        const query = { urn: a, direction: "OUTGOING", types: [DOWNSTREAM] } as const;
        expect((await reader.neighbours({ ...query, start: 0, count: 9 })).neighbours).toEqual([
          { type: DOWNSTREAM, urn: b, via },
          { type: DOWNSTREAM, urn: c },
        ]);
      });

      test("unknown urns, unknown types and empty lists of types have no neighbours", async () => {
        await apply(writeOf(a, [b]));
        const none = { neighbours: [], total: 0 };
        const page = { start: 0, count: 10 };
        for (const direction of directions) {
          for (const urn of [dataset("unknown"), "urn:li:unknown:a", "nonsense", ""]) {
            const query = { urn, direction, types: [DOWNSTREAM], ...page };
            expect(await reader.neighbours(query)).toEqual(none);
          }
          for (const asked of [[], ["Marries"], ["downstreamof"], [""]]) {
            expect(await reader.neighbours({ urn: a, direction, types: asked, ...page })).toEqual(
              none,
            );
          }
        }
      });

      test("pages of neighbours contain the total", async () => {
        const owners = Array.from({ length: 7 }, (_, i) => `urn:li:corpuser:${i}`);
        await apply(
          writeOf(a, [b, c]),
          writeOf(a, owners, { type: OWNED, aspect: "ownership" }),
          writeOf(b, [a]),
        );
        const asked = [DOWNSTREAM, OWNED];
        const all = [b, c, ...owners];
        for (const count of [0, 1, 2, 3, 8, 9, 100]) {
          for (let start = 0; start < 12; start++) {
            const query = { urn: a, direction: "UNDIRECTED", types: asked, start, count } as const;
            const { neighbours, total } = await reader.neighbours(query);
            expect(total).toBe(9);
            expect(neighbours.map((one) => one.urn)).toEqual(all.slice(start, start + count));
          }
        }
      });

      test("paging returns every neighbour once, while edges are added and written again", async () => {
        const added = (i: number) => writeOf(dataset(i), [a], { stamp: { time: i, actor: ada } });
        await apply(...Array.from({ length: 250 }, (_, i) => added(i)));
        const seen: string[] = [];
        const count = harness.slow ? 25 : 10;
        for (;;) {
          const start = seen.length;
          const page = await near(a, "INCOMING", [DOWNSTREAM], { start, count });
          if (page.length === 0) break;
          seen.push(...page);
          if (start >= 400) continue;
          // The same edge again, the same edge of another aspect, and a new edge.
          await apply(
            added(start),
            writeOf(dataset(start + 1), [a], { aspect: "other" }),
            ...[0, 1, 2].map((i) => added(1_000 + start * 3 + i)),
          );
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.length).toBe(await total(a, "INCOMING"));
        expect(seen.slice(0, 250)).toEqual(Array.from({ length: 250 }, (_, i) => dataset(i)));
      });

      test("the neighbours of a hub are also found from the far end", async () => {
        const size = harness.slow ? 2_000 : 12_000;
        const all = Array.from({ length: size }, (_, i) => dataset(i));
        await apply(...all.map((urn) => writeOf(urn, [a])), writeOf(b, all));
        expect(await near(a, "INCOMING", [DOWNSTREAM], { start: size - 10 })).toEqual(
          all.slice(-10),
        );
        expect(await near(b, "OUTGOING", [DOWNSTREAM], { start: 0, count: 20_000 })).toEqual(all);
        expect(await total(b, "UNDIRECTED", size - 1)).toBe(size);
        expect(await total(a, "INCOMING", 20_000)).toBe(size);
      });
    });

    describe("edges", () => {
      test("a write replaces the edges of its aspect, and no others", async () => {
        await apply(
          writeOf(a, [b, c]),
          writeOf(a, [c], { aspect: "other" }),
          writeOf(b, [c], { aspect: "upstreamLineage" }),
        );
        await apply(writeOf(a, [b]));
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        await apply(writeOf(a, []));
        expect(await near(a, "OUTGOING")).toEqual([c]);
        await apply(writeOf(a, [], { aspect: "other" }));
        expect(await near(a, "OUTGOING")).toEqual([]);
        expect(await near(b, "OUTGOING")).toEqual([c]);
        expect(await total(c, "INCOMING")).toBe(1);
      });

      test("edges keep their order when they are written again in any order", async () => {
        const d = dataset("d");
        await apply(writeOf(a, [b, c]), writeOf(a, [d, c, b]));
        expect(await near(a, "OUTGOING")).toEqual([b, c, d]);
        await apply(writeOf(a, [d, c]), writeOf(a, [b, c, d]));
        expect(await near(a, "OUTGOING")).toEqual([c, d, b]);
      });

      test("a removed edge gives its position to the next edge of the same pair", async () => {
        const one = { aspect: "one" };
        const two = { aspect: "two" };
        await apply(writeOf(a, [b], one), writeOf(a, [c]), writeOf(a, [b], two));
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        await apply(writeOf(a, [], one));
        expect(await near(a, "OUTGOING")).toEqual([c, b]);
        await apply(writeOf(a, [b], one), writeOf(a, [], two));
        expect(await near(a, "OUTGOING")).toEqual([c, b]);
        expect(await total(b, "INCOMING")).toBe(1);
        await apply(writeOf(a, [], one));
        expect(await total(b, "INCOMING")).toBe(0);
      });

      test("an edge that another entity states stays when both aspects of an entity are replaced", async () => {
        const loop = [{ source: a, destination: a }];
        await apply(
          writeOf(a, loop, { aspect: "first" }),
          writeOf(a, loop, { aspect: "second" }),
          writeOf(b, loop),
          { op: "remove_entity", urn: a },
        );
        expect(await near(a, "OUTGOING")).toEqual([a]);
        expect(await near(a, "INCOMING")).toEqual([a]);
      });

      test("the edges of a removed entity are deleted, and edges of other entities to it stay", async () => {
        await apply(
          writeOf(a, [b]),
          writeOf(a, [{ source: c, destination: b }], { aspect: "other" }),
          writeOf(c, [a, b]),
        );
        await apply({ op: "remove_entity", urn: a });
        expect(await near(a, "OUTGOING")).toEqual([]);
        expect(await near(a, "INCOMING")).toEqual([c]);
        expect(await near(b, "INCOMING")).toEqual([c]);
        await apply(writeOf(a, [b]));
        expect(await near(a, "OUTGOING")).toEqual([b]);
      });

      test("the edges of a forgotten urn are deleted at both ends until they are written again", async () => {
        await apply(
          writeOf(a, [b]),
          writeOf(b, [c]),
          writeOf(c, [b, a]),
          writeOf(b, [{ source: a, destination: c }], { aspect: "other" }),
        );
        await apply({ op: "forget", urn: b });
        expect(await near(b, "UNDIRECTED")).toEqual([]);
        expect(await near(a, "UNDIRECTED")).toEqual([c]);
        await apply(writeOf(c, [a, b]));
        expect(await near(b, "UNDIRECTED")).toEqual([c]);
      });

      test("removing an entity without edges, or twice, leaves no trace", async () => {
        await apply(writeOf(a, []), { op: "remove_entity", urn: b }, { op: "forget", urn: c });
        await apply(
          writeOf(a, [b]),
          { op: "remove_entity", urn: a },
          { op: "remove_entity", urn: a },
        );
        expect(await Array.fromAsync(reader.dump())).toEqual([]);
      });
    });

    describe("stamps", () => {
      const pair = { source: a, type: DOWNSTREAM, destination: b };
      const otto = "urn:li:corpuser:otto";

      test("an edge has its own stamps, or those of its write", async () => {
        const own = { createdOn: 1, createdActor: otto, updatedOn: 2, updatedActor: ada };
        const properties = { source: "UI", "a'b": "" };
        await apply(
          writeOf(a, [{ destination: b, ...own, properties }, c], {
            stamp: { time: 9, actor: otto },
          }),
        );
        expect(await reader.stamps([{ ...pair, destination: c }, pair])).toEqual([
          { createdOn: 9, createdActor: otto, updatedOn: 9, updatedActor: otto },
          { ...own, properties },
        ]);
      });

      test("an edge keeps its creation stamp, and its update stamp is that of the last write", async () => {
        await apply(
          writeOf(a, [b], { stamp: { time: 1, actor: ada } }),
          writeOf(a, [b, c], { stamp: { time: 2, actor: otto } }),
        );
        const [stamps] = await reader.stamps([pair]);
        expect(stamps).toEqual({
          createdOn: 1,
          createdActor: ada,
          updatedOn: 2,
          updatedActor: otto,
        });
      });

      test("stamps are those of the first edge of the pair, and absent without an edge", async () => {
        await apply(writeOf(a, [b], { stamp: { time: 1, actor: ada } }));
        await apply(writeOf(a, [b], { aspect: "other", stamp: { time: 2, actor: otto } }));
        expect((await reader.stamps([pair]))[0]?.createdOn).toBe(1);
        await apply(writeOf(a, []));
        expect((await reader.stamps([pair]))[0]?.createdOn).toBe(2);
        await apply(writeOf(a, [], { aspect: "other" }));
        const unknown = { ...pair, source: dataset("unknown") };
        expect(await reader.stamps([pair, unknown, { ...pair, type: "?" }])).toEqual([
          ...[undefined, undefined, undefined],
        ]);
        expect(await reader.stamps([])).toEqual([]);
      });
    });

    describe("following", () => {
      const job = "urn:li:dataJob:(urn:li:dataFlow:(x,y,z),j)";
      const steps: Steps = new Map([
        [
          "dataset",
          [
            { direction: "INCOMING", type: "Produces", to: new Set(["dataJob"]) },
            { direction: "OUTGOING", type: DOWNSTREAM, to: new Set(["dataset"]) },
          ],
        ],
        ["dataJob", [{ direction: "OUTGOING", type: "Consumes", to: new Set(["dataset"]) }]],
      ]);
      const all = { edgesMax: 100_000 };

      test("lineage returns the edges of all urns, by urn, then by step, then in the order of the writes", async () => {
        await apply(
          writeOf(a, [c, b]),
          writeOf(job, [b], { type: "Consumes" }),
          writeOf(job, [a], { type: "Produces", aspect: "other" }),
        );
        const { edges, complete } = await reader.follow([job, b, a], steps, all);
        expect(complete).toBe(true);
        expect(edges.map(({ from, to, type }) => [from, type, to])).toEqual([
          [job, "Consumes", b],
          [a, "Produces", job],
          [a, DOWNSTREAM, c],
          [a, DOWNSTREAM, b],
        ]);
        expect(edges.map(({ direction }) => direction)).toEqual([
          ...["OUTGOING", "INCOMING", "OUTGOING", "OUTGOING"],
        ]);
      });

      test("lineage follows edges only to entities of the step's types", async () => {
        const field = `urn:li:schemaField:(${b},x)`;
        await apply(writeOf(a, [field, b, job, "urn:li:nobody:x"]), writeOf(field, [a]));
        const { edges } = await reader.follow([a, field, "urn:li:nobody:x", ""], steps, all);
        expect(edges.map(({ to }) => to)).toEqual([b]);
      });

      test("lineage stops at its limit and reports that", async () => {
        await apply(writeOf(a, [b, c]), writeOf(b, [c, a]));
        const upTo = async (edgesMax: number) => {
          const { edges, complete } = await reader.follow([a, b], steps, { edgesMax });
          return [edges.map(({ to }) => to), complete];
        };
        expect(await upTo(4)).toEqual([[b, c, c, a], true]);
        expect(await upTo(3)).toEqual([[b, c, c], false]);
        expect(await upTo(1)).toEqual([[b], false]);
      });

      test("lineage passes hubs, and starts from many urns at once", async () => {
        const size = harness.slow ? 1_900 : 9_500;
        const many = Array.from({ length: size }, (_, i) => dataset(`n${i}`));
        await apply(
          writeOf(a, [job, ...many]),
          ...many.slice(0, 500).map((urn) => writeOf(urn, [b, c])),
          writeOf(b, [c]),
        );
        const from = [b, a, ...many.slice(0, 498)];
        const { edges, complete } = await reader.follow(from, steps, all);
        expect(complete).toBe(true);
        expect(edges.map(({ to }) => to)).toEqual([
          ...[c, ...many],
          ...many.slice(0, 498).flatMap(() => [b, c]),
        ]);
        const some = await reader.follow(from, steps, { edgesMax: size - 499 });
        expect(some.complete).toBe(false);
        expect(some.edges).toEqual(edges.slice(0, size - 499));
      });
    });

    describe("any history", () => {
      test("the graph equals a naive recomputation", async () => {
        await fc.assert(
          fc.asyncProperty(graphHistories(1, 60), async (history) => {
            await sink.reset();
            const model = createGraphModel();
            for (const write of history) model.apply(write);
            for (let from = 0; from < history.length; from += 7) {
              const batch = history.slice(from, from + 7);
              await sink.apply(batch, batch.at(-1)?.position ?? position(0));
            }
            expect(await Array.fromAsync(reader.dump())).toEqual(model.rows());
            for (const urn of urns) {
              const questions = directions.flatMap((direction) => {
                const asked = { urn, direction, types, start: 0, count: 1_000 };
                return [asked, { ...asked, types: types.toReversed(), start: 1, count: 2 }];
              });
              const answers = await Promise.all(questions.map(reader.neighbours));
              expect(answers).toEqual(questions.map(model.neighbours));
            }
            const { edges } = await reader.follow(urns, someSteps, { edgesMax: 10_000 });
            expect(edges).toEqual(model.follow(urns, someSteps));
            const pairs = model.rows();
            expect(await reader.stamps(pairs)).toEqual(pairs.map(model.stamps));
          }),
          { numRuns: harness.slow ? 3 : 40 },
        );
      });
    });

    test("a closed reader is unavailable, and closing twice is allowed", async () => {
      await reader.close();
      await reader.close();
      const unavailable = expect.objectContaining({ code: "unavailable" });
      const query = { urn: a, direction: "OUTGOING", types: [OWNED], start: 0, count: 1 } as const;
      await expect(reader.neighbours(query)).rejects.toEqual(unavailable);
      await expect(reader.follow([a], someSteps, { edgesMax: 1 })).rejects.toEqual(unavailable);
      const pair = { source: a, type: OWNED, destination: b };
      await expect(reader.stamps([pair])).rejects.toEqual(unavailable);
    });

    test("names with special characters of query languages are stored unchanged", async () => {
      const written: Neighbour[] = urns.flatMap((urn) => types.map((type) => ({ type, urn })));
      await apply(
        writeOf(
          a,
          written.map(({ type, urn }) => ({ type, destination: urn })),
        ),
      );
      const query = { urn: a, direction: "OUTGOING", types, start: 0, count: 1_000 } as const;
      const { neighbours } = await reader.neighbours(query);
      expect(new Set(neighbours.map((one) => JSON.stringify(one)))).toEqual(
        new Set(written.map((one) => JSON.stringify(one))),
      );
    });
  });
}
