/**
 * What every graph promises (src/views/graph/graph.ts), whatever keeps it. Its sink's own promises are in
 * sink.contract.ts.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import type { Dump } from "../../src/storage/compare.ts";
import type {
  Direction,
  Edge,
  GraphReader,
  GraphRow,
  GraphSink,
  GraphWrite,
  Neighbour,
  Steps,
} from "../../src/views/graph/graph.ts";
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
  /** Every question costs much: fewer cases of what is held against a model, and smaller hubs. */
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

  /** What the aspect of an entity tells: destinations of edges of one type, or edges. */
  const tells = (
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
      test("are at the other end, in the direction asked for", async () => {
        await apply(tells(a, [b, c]), tells(b, [c]));
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        expect(await near(a, "INCOMING")).toEqual([]);
        expect(await near(c, "INCOMING")).toEqual([a, b]);
        expect(await near(b, "UNDIRECTED")).toEqual([c, a]);
      });

      test("come by type as asked for, then in the order of telling", async () => {
        const owners = ["urn:li:corpuser:z", "urn:li:corpGroup:a"];
        await apply(
          tells(a, [c, b]),
          tells(a, owners, { type: OWNED, aspect: "ownership" }),
          tells(b, [a]),
        );
        expect(await near(a, "OUTGOING", [OWNED, DOWNSTREAM])).toEqual([...owners, c, b]);
        expect(await near(a, "OUTGOING", [DOWNSTREAM, OWNED, DOWNSTREAM])).toEqual([
          ...[c, b],
          ...owners,
        ]);
        expect(await near(a, "UNDIRECTED", [OWNED, DOWNSTREAM])).toEqual([...owners, c, b]);
      });

      test("are told once per type, however many aspects and directions tell them", async () => {
        await apply(
          tells(a, [b, { destination: b, type: OWNED }]),
          tells(a, [c, b], { aspect: "other" }),
          tells(c, [{ source: a, destination: b }]),
          tells(b, [a]),
        );
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        expect(await near(a, "UNDIRECTED")).toEqual([b, c]);
        expect(await near(a, "UNDIRECTED", [OWNED, DOWNSTREAM])).toEqual([b, b, c]);
        expect(await total(a, "UNDIRECTED")).toBe(2);
      });

      test("may be the entity itself, and what does not exist", async () => {
        await apply(tells(a, [a, "urn:li:nothing:at all"]));
        expect(await near(a, "UNDIRECTED")).toEqual([a, "urn:li:nothing:at all"]);
        expect(await near("urn:li:nothing:at all", "INCOMING")).toEqual([a]);
      });

      test("tell what the first edge runs through", async () => {
        const via = "urn:li:query:q";
        await apply(
          tells(a, [{ destination: b, via }, c]),
          tells(a, [{ destination: c, via }], { aspect: "other" }),
        );
        const query = { urn: a, direction: "OUTGOING", types: [DOWNSTREAM] } as const;
        expect((await reader.neighbours({ ...query, start: 0, count: 9 })).neighbours).toEqual([
          { type: DOWNSTREAM, urn: b, via },
          { type: DOWNSTREAM, urn: c },
        ]);
      });

      test("are none of a urn, a type or a list of types that nothing has", async () => {
        await apply(tells(a, [b]));
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

      test("come in pages, each with the number of all", async () => {
        const owners = Array.from({ length: 7 }, (_, i) => `urn:li:corpuser:${i}`);
        await apply(
          tells(a, [b, c]),
          tells(a, owners, { type: OWNED, aspect: "ownership" }),
          tells(b, [a]),
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

      test("are all paged, none twice, while others are added and told again", async () => {
        const added = (i: number) => tells(dataset(i), [a], { stamp: { time: i, actor: ada } });
        await apply(...Array.from({ length: 250 }, (_, i) => added(i)));
        const seen: string[] = [];
        const count = harness.slow ? 25 : 10;
        for (;;) {
          const start = seen.length;
          const page = await near(a, "INCOMING", [DOWNSTREAM], { start, count });
          if (page.length === 0) break;
          seen.push(...page);
          if (start >= 400) continue;
          // Told again, told again by another, and new.
          await apply(
            added(start),
            tells(dataset(start + 1), [a], { aspect: "other" }),
            ...[0, 1, 2].map((i) => added(1_000 + start * 3 + i)),
          );
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.length).toBe(await total(a, "INCOMING"));
        expect(seen.slice(0, 250)).toEqual(Array.from({ length: 250 }, (_, i) => dataset(i)));
      });

      test("of a hub come from its far end as well", async () => {
        const size = harness.slow ? 2_000 : 12_000;
        const all = Array.from({ length: size }, (_, i) => dataset(i));
        await apply(...all.map((urn) => tells(urn, [a])), tells(b, all));
        expect(await near(a, "INCOMING", [DOWNSTREAM], { start: size - 10 })).toEqual(
          all.slice(-10),
        );
        expect(await near(b, "OUTGOING", [DOWNSTREAM], { start: 0, count: 20_000 })).toEqual(all);
        expect(await total(b, "UNDIRECTED", size - 1)).toBe(size);
        expect(await total(a, "INCOMING", 20_000)).toBe(size);
      });
    });

    describe("edges", () => {
      test("are replaced by the next telling of their aspect, and by no other's", async () => {
        await apply(
          tells(a, [b, c]),
          tells(a, [c], { aspect: "other" }),
          tells(b, [c], { aspect: "upstreamLineage" }),
        );
        await apply(tells(a, [b]));
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        await apply(tells(a, []));
        expect(await near(a, "OUTGOING")).toEqual([c]);
        await apply(tells(a, [], { aspect: "other" }));
        expect(await near(a, "OUTGOING")).toEqual([]);
        expect(await near(b, "OUTGOING")).toEqual([c]);
        expect(await total(c, "INCOMING")).toBe(1);
      });

      test("keep their place when they are told again, in whatever order", async () => {
        const d = dataset("d");
        await apply(tells(a, [b, c]), tells(a, [d, c, b]));
        expect(await near(a, "OUTGOING")).toEqual([b, c, d]);
        await apply(tells(a, [d, c]), tells(a, [b, c, d]));
        expect(await near(a, "OUTGOING")).toEqual([c, d, b]);
      });

      test("give their place to the next one of their pair when they go", async () => {
        const one = { aspect: "one" };
        const two = { aspect: "two" };
        await apply(tells(a, [b], one), tells(a, [c]), tells(a, [b], two));
        expect(await near(a, "OUTGOING")).toEqual([b, c]);
        await apply(tells(a, [], one));
        expect(await near(a, "OUTGOING")).toEqual([c, b]);
        await apply(tells(a, [b], one), tells(a, [], two));
        expect(await near(a, "OUTGOING")).toEqual([c, b]);
        expect(await total(b, "INCOMING")).toBe(1);
        await apply(tells(a, [], one));
        expect(await total(b, "INCOMING")).toBe(0);
      });

      test("keeps what another entity tells when both tellings of an entity go", async () => {
        const loop = [{ source: a, destination: a }];
        await apply(
          tells(a, loop, { aspect: "first" }),
          tells(a, loop, { aspect: "second" }),
          tells(b, loop),
          { op: "remove_entity", urn: a },
        );
        expect(await near(a, "OUTGOING")).toEqual([a]);
        expect(await near(a, "INCOMING")).toEqual([a]);
      });

      test("of an entity that is removed go, those of others to it stay", async () => {
        await apply(
          tells(a, [b]),
          tells(a, [{ source: c, destination: b }], { aspect: "other" }),
          tells(c, [a, b]),
        );
        await apply({ op: "remove_entity", urn: a });
        expect(await near(a, "OUTGOING")).toEqual([]);
        expect(await near(a, "INCOMING")).toEqual([c]);
        expect(await near(b, "INCOMING")).toEqual([c]);
        await apply(tells(a, [b]));
        expect(await near(a, "OUTGOING")).toEqual([b]);
      });

      test("of a urn that is forgotten go at both ends, until they are told anew", async () => {
        await apply(
          tells(a, [b]),
          tells(b, [c]),
          tells(c, [b, a]),
          tells(b, [{ source: a, destination: c }], { aspect: "other" }),
        );
        await apply({ op: "forget", urn: b });
        expect(await near(b, "UNDIRECTED")).toEqual([]);
        expect(await near(a, "UNDIRECTED")).toEqual([c]);
        await apply(tells(c, [a, b]));
        expect(await near(b, "UNDIRECTED")).toEqual([c]);
      });

      test("go without a trace when there were none, or are removed twice", async () => {
        await apply(tells(a, []), { op: "remove_entity", urn: b }, { op: "forget", urn: c });
        await apply(
          tells(a, [b]),
          { op: "remove_entity", urn: a },
          { op: "remove_entity", urn: a },
        );
        expect(await Array.fromAsync(reader.dump())).toEqual([]);
      });
    });

    describe("stamps", () => {
      const pair = { source: a, type: DOWNSTREAM, destination: b };
      const otto = "urn:li:corpuser:otto";

      test("are the edge's own, or those of the telling", async () => {
        const own = { createdOn: 1, createdActor: otto, updatedOn: 2, updatedActor: ada };
        const properties = { source: "UI", "a'b": "" };
        await apply(
          tells(a, [{ destination: b, ...own, properties }, c], {
            stamp: { time: 9, actor: otto },
          }),
        );
        expect(await reader.stamps([{ ...pair, destination: c }, pair])).toEqual([
          { createdOn: 9, createdActor: otto, updatedOn: 9, updatedActor: otto },
          { ...own, properties },
        ]);
      });

      test("keep who made the edge and tell who told it last", async () => {
        await apply(
          tells(a, [b], { stamp: { time: 1, actor: ada } }),
          tells(a, [b, c], { stamp: { time: 2, actor: otto } }),
        );
        const [stamps] = await reader.stamps([pair]);
        expect(stamps).toEqual({
          createdOn: 1,
          createdActor: ada,
          updatedOn: 2,
          updatedActor: otto,
        });
      });

      test("are those of the first edge of the pair, and none where there is no edge", async () => {
        await apply(tells(a, [b], { stamp: { time: 1, actor: ada } }));
        await apply(tells(a, [b], { aspect: "other", stamp: { time: 2, actor: otto } }));
        expect((await reader.stamps([pair]))[0]?.createdOn).toBe(1);
        await apply(tells(a, []));
        expect((await reader.stamps([pair]))[0]?.createdOn).toBe(2);
        await apply(tells(a, [], { aspect: "other" }));
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

      test("gives the edges of all urns, by urn, then by step, then as told", async () => {
        await apply(
          tells(a, [c, b]),
          tells(job, [b], { type: "Consumes" }),
          tells(job, [a], { type: "Produces", aspect: "other" }),
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

      test("leads to entities of the step's types alone", async () => {
        const field = `urn:li:schemaField:(${b},x)`;
        await apply(tells(a, [field, b, job, "urn:li:nobody:x"]), tells(field, [a]));
        const { edges } = await reader.follow([a, field, "urn:li:nobody:x", ""], steps, all);
        expect(edges.map(({ to }) => to)).toEqual([b]);
      });

      test("stops at the bound and says so", async () => {
        await apply(tells(a, [b, c]), tells(b, [c, a]));
        const upTo = async (edgesMax: number) => {
          const { edges, complete } = await reader.follow([a, b], steps, { edgesMax });
          return [edges.map(({ to }) => to), complete];
        };
        expect(await upTo(4)).toEqual([[b, c, c, a], true]);
        expect(await upTo(3)).toEqual([[b, c, c], false]);
        expect(await upTo(1)).toEqual([[b], false]);
      });

      test("comes through hubs and with many urns at once", async () => {
        const size = harness.slow ? 1_900 : 9_500;
        const many = Array.from({ length: size }, (_, i) => dataset(`n${i}`));
        await apply(
          tells(a, [job, ...many]),
          ...many.slice(0, 500).map((urn) => tells(urn, [b, c])),
          tells(b, [c]),
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

    describe("whatever happened", () => {
      test("holds what a naive recomputation gives", async () => {
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

    test("is unavailable when its reader is closed, which may be said twice", async () => {
      await reader.close();
      await reader.close();
      const unavailable = expect.objectContaining({ code: "unavailable" });
      const query = { urn: a, direction: "OUTGOING", types: [OWNED], start: 0, count: 1 } as const;
      await expect(reader.neighbours(query)).rejects.toEqual(unavailable);
      await expect(reader.follow([a], someSteps, { edgesMax: 1 })).rejects.toEqual(unavailable);
      const pair = { source: a, type: OWNED, destination: b };
      await expect(reader.stamps([pair])).rejects.toEqual(unavailable);
    });

    test("keeps names that mean something to a query language as they are", async () => {
      const told: Neighbour[] = urns.flatMap((urn) => types.map((type) => ({ type, urn })));
      await apply(
        tells(
          a,
          told.map(({ type, urn }) => ({ type, destination: urn })),
        ),
      );
      const query = { urn: a, direction: "OUTGOING", types, start: 0, count: 1_000 } as const;
      const { neighbours } = await reader.neighbours(query);
      expect(new Set(neighbours.map((one) => JSON.stringify(one)))).toEqual(
        new Set(told.map((one) => JSON.stringify(one))),
      );
    });
  });
}
