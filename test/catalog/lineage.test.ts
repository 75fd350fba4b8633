/** Lineage walks over a real graph: common shapes, and limits that end a walk. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lineageSteps } from "../../projections/graph/lineage.ts";
import {
  createLineage,
  type LineageBounds,
  type LineageDirection,
  lineageBounds,
  pathTo,
  type TimeWindow,
  timesOf,
  type Walk,
} from "../../src/catalog/graph/lineage.ts";
import { type Position, position } from "../../src/core/position.ts";
import type { Edge, GraphReader, GraphSink, GraphWrite } from "../../src/views/graph/graph.ts";
import { openSqliteGraphReader } from "../../src/views/graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteGraphSink } from "../../src/views/graph/sqlite/sqlite-graph-sink.ts";
import { createSqlitePlace } from "../adapter/sqlite-place.ts";
import { defaultModel } from "../model/default-model.ts";

const createStore = createSqlitePlace({
  openSink: openSqliteGraphSink,
  openReader: openSqliteGraphReader,
});
const steps = lineageSteps(defaultModel);
const dataset = (name: string | number) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;

let store: Awaited<ReturnType<typeof createStore>>;
let sink: GraphSink;
let reader: GraphReader;
let last: Position;
let clock: number;

beforeEach(async () => {
  store = await createStore();
  sink = await store.openSink();
  reader = await store.openReader();
  last = position(0);
  clock = 0;
});
afterEach(async () => {
  await reader.close();
  await sink.close();
  await store.remove();
});

type End = string | Partial<Edge>;

/** Every entity of `sources` gets edges of a type to its ends. */
async function writeEdges(
  sources: readonly (readonly [urn: string, ends: readonly End[]])[],
  type = "DownstreamOf",
) {
  const writes = sources.map(([urn, ends]): GraphWrite => {
    last = position(last + 1);
    const edges = ends.map((end) => ({
      ...{ source: urn, type, path: "/upstreams/*/dataset" },
      ...(typeof end === "string" ? { destination: end } : end),
    }));
    return {
      ...{ op: "replace", urn, aspect: type, position: last },
      stamp: { time: 1, actor: "urn:li:corpuser:ada" },
      edges: edges as Edge[],
    };
  });
  await sink.apply(writes, last);
}

function walk(
  urn: string,
  options: {
    direction?: LineageDirection;
    hops?: number;
    bounds?: Partial<LineageBounds>;
    times?: TimeWindow;
  } = {},
) {
  const { direction = "UPSTREAM", hops = 1_000, times } = options;
  const bounds = { ...lineageBounds, ...options.bounds };
  return createLineage({ reader, steps, bounds, now: () => clock++ })({
    ...{ urn, direction, hops, times },
  });
}

const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(dataset) as [
  string,
  string,
  string,
  string,
  string,
];

describe("lineage", () => {
  test("lineage lists the nearest entities first, each with its degree, path and last edge", async () => {
    await writeEdges([
      [a, [b, c]],
      [b, [d]],
      [c, [d, e]],
    ]);
    const { reached, partial } = await walk(a);
    expect(partial).toBe(false);
    expect(reached.map(({ urn, degree }) => [urn, degree])).toEqual([
      [b, 1],
      [c, 1],
      [d, 2],
      [e, 2],
    ]);
    expect(reached.map((one) => pathTo(a, one))).toEqual([
      [a, b],
      [a, c],
      [a, b, d],
      [a, c, e],
    ]);
    expect(reached.map(({ edge }) => edge.from)).toEqual([a, a, b, c]);
    expect(reached.every(({ explored, truncatedChildren }) => explored && !truncatedChildren)).toBe(
      true,
    );
  });

  test("downstream lineage follows edges in the opposite direction", async () => {
    await writeEdges([
      [a, [b]],
      [b, [c]],
      [d, [b]],
    ]);
    const { reached } = await walk(c, { direction: "DOWNSTREAM" });
    expect(reached.map(({ urn }) => urn)).toEqual([b, a, d]);
  });

  test("lineage follows only edges that are lineage between the types of their ends", async () => {
    const chart = "urn:li:chart:(looker,c)";
    const job = "urn:li:dataJob:(urn:li:dataFlow:(x,y,z),j)";
    await writeEdges([[a, [`urn:li:schemaField:(${b},x)`, b]]]);
    await writeEdges([[job, [a]]], "Produces");
    await writeEdges(
      [
        [job, [c]],
        [chart, [a]],
      ],
      "Consumes",
    );
    await writeEdges([[a, ["urn:li:corpuser:ada"]]], "OwnedBy");
    expect((await walk(a)).reached.map(({ urn }) => urn)).toEqual([b, job, c]);
    const down = await walk(c, { direction: "DOWNSTREAM" });
    expect(down.reached.map(({ urn }) => urn)).toEqual([job, a, chart]);
  });

  test("lineage ends at the requested number of hops, and is not partial", async () => {
    await writeEdges([
      [a, [b]],
      [b, [c]],
      [c, [d]],
    ]);
    const { reached, partial } = await walk(a, { hops: 2 });
    expect(reached.map(({ urn, explored }) => [urn, explored])).toEqual([
      [b, true],
      [c, false],
    ]);
    expect(partial).toBe(false);
  });

  test("lineage with cycles, diamonds and self-edges ends", async () => {
    await writeEdges([
      [a, [a, b, c]],
      [b, [d, a]],
      [c, [d, b]],
      [d, [a, c]],
    ]);
    const { reached, partial } = await walk(a);
    expect(reached.map(({ urn, degree }) => [urn, degree])).toEqual([
      [b, 1],
      [c, 1],
      [d, 2],
    ]);
    expect(partial).toBe(false);
  });

  test("lineage includes the entities that edges go through, marked as between", async () => {
    const query = "urn:li:query:q";
    await writeEdges([
      [
        a,
        [
          { destination: b, via: query },
          { destination: c, via: query },
        ],
      ],
      [b, [{ destination: d, via: a }]],
    ]);
    const { reached } = await walk(a);
    expect(reached.map(({ urn, degree, between }) => [urn, degree, between])).toEqual([
      [query, 1, true],
      [b, 1, false],
      [c, 1, false],
      [d, 2, false],
    ]);
    expect(reached.map((one) => pathTo(a, one))).toEqual([
      [a, query],
      [a, query, b],
      [a, query, c],
      [a, query, b, a, d],
    ]);
  });

  test("lineage continues from a between entity at the entity's own degree", async () => {
    await writeEdges([
      [a, [{ destination: b, via: c }]],
      [b, [c]],
      [c, [d]],
    ]);
    const { reached } = await walk(a);
    expect(reached.map(({ urn, degree }) => [urn, degree])).toEqual([
      [c, 1],
      [b, 1],
      [d, 3],
    ]);
    expect(pathTo(a, reached[2] as (typeof reached)[number])).toEqual([a, c, b, c, d]);
  });

  test("lineage of an entity without edges is empty", async () => {
    for (const urn of [a, "urn:li:corpuser:ada", "urn:li:unknown:x"]) {
      expect(await walk(urn)).toEqual({ reached: [], partial: false });
    }
  });
});

describe("lineage in a time window", () => {
  const times = (createdOn: number, updatedOn = createdOn, more: object = {}) => ({
    ...{ createdOn, updatedOn, ...more },
  });
  const ends = async (from: number, to: number, urn = a) => {
    const { reached } = await walk(urn, { times: { from, to } });
    return reached.map((one) => one.urn);
  };

  test("lineage follows edges that were created or updated in the window, ends included", async () => {
    await writeEdges([
      [
        a,
        [
          { destination: b, ...times(10, 30) },
          { destination: c, ...times(20) },
        ],
      ],
      [b, [{ destination: d, ...times(20) }]],
      [c, [{ destination: e, ...times(40) }]],
    ]);
    expect(await ends(0, 100)).toEqual([b, c, d, e]);
    expect(await ends(10, 10)).toEqual([b]);
    expect(await ends(11, 19)).toEqual([]);
    expect(await ends(20, 20)).toEqual([c]);
    // An entity behind an edge outside of the window is not reached.
    expect(await ends(20, 30)).toEqual([b, c, d]);
    expect(await ends(40, Number.POSITIVE_INFINITY)).toEqual([]);
    const { reached } = await walk(d, { direction: "DOWNSTREAM", times: { from: 15, to: 25 } });
    expect(reached.map(({ urn }) => urn)).toEqual([b]);
  });

  test("lineage follows edges that users drew, whatever their time", async () => {
    const drawn = { properties: { source: "UI" } };
    await writeEdges([
      [
        a,
        [
          { destination: b, ...times(10, 10, drawn) },
          { destination: c, ...times(10, 10, { properties: { source: "job" } }) },
        ],
      ],
    ]);
    expect(await ends(500, 600)).toEqual([b]);
  });

  test("a time window must end after its start", () => {
    expect(timesOf({})).toBeUndefined();
    expect(timesOf({ startTimeMillis: 0, endTimeMillis: 0 })).toBeUndefined();
    expect(timesOf({ startTimeMillis: 5 })).toEqual({ from: 5, to: Infinity });
    expect(timesOf({ endTimeMillis: 5 })).toEqual({ from: 0, to: 5 });
    expect(timesOf({ startTimeMillis: 5, endTimeMillis: 5 })).toEqual({ from: 5, to: 5 });
    expect(() => timesOf({ startTimeMillis: 6, endTimeMillis: 5 })).toThrow("is after");
  });
});

describe("lineage limits", () => {
  const whole = ({ reached, partial }: Walk) => [reached.length, partial];

  test("the hop limit allows the longest chain, and a longer one is partial", async () => {
    const chain = Array.from({ length: 1_002 }, (_, i) => dataset(i));
    await writeEdges(chain.slice(1).map((urn, i) => [chain[i] as string, [urn]] as const));
    const whole = await walk(chain[1] as string, { hops: 2_000 });
    expect(whole.reached.at(-1)).toMatchObject({ urn: chain[1_001], degree: 1_000 });
    expect(pathTo(chain[1] as string, whole.reached[999] as never)).toHaveLength(1_001);
    expect(await walk(chain[2] as string, { hops: 2_000 })).toMatchObject({ partial: false });
    const cut = await walk(chain[0] as string, { hops: 2_000 });
    expect(cut.reached).toHaveLength(1_000);
    expect(cut.partial).toBe(true);
    expect((await walk(chain[0] as string, { hops: 1_000 })).partial).toBe(false);
  });

  test("lineage that ends exactly at the hop limit is not partial", async () => {
    const chain = Array.from({ length: 1_001 }, (_, i) => dataset(i));
    await writeEdges(chain.slice(1).map((urn, i) => [chain[i] as string, [urn]] as const));
    expect(whole(await walk(chain[0] as string, { hops: 2_000 }))).toEqual([1_000, false]);
    const [last = "", ring = ""] = [chain[1_000], chain[7]];
    await writeEdges([[last, [ring]]]);
    expect(whole(await walk(chain[0] as string, { hops: 2_000 }))).toEqual([1_000, false]);
    await writeEdges([[last, [ring, a]]]);
    expect(whole(await walk(chain[0] as string, { hops: 2_000 }))).toEqual([1_000, true]);
  });

  test("the entity limit allows the largest hub, and a larger one is partial", async () => {
    const largest = Array.from({ length: 100_000 }, (_, i) => dataset(i));
    await writeEdges([[a, largest]]);
    const { reached, partial } = await walk(a);
    expect(reached.map(({ urn }) => urn)).toEqual(largest);
    expect(partial).toBe(false);
    const page = {
      types: ["DownstreamOf"],
      direction: "OUTGOING",
      start: 99_998,
      count: 10,
    } as const;
    const { neighbours, total } = await reader.neighbours({ urn: a, ...page });
    expect([neighbours.map(({ urn }) => urn), total]).toEqual([largest.slice(-2), 100_000]);
    const fewer = { bounds: { entitiesMax: 99_999 } };
    expect(whole(await walk(a, fewer))).toEqual([99_999, true]);
  });

  test("the entity limit can end a walk inside a hub, which is marked as truncated", async () => {
    const many = Array.from({ length: 6_000 }, (_, i) => dataset(i));
    await writeEdges([
      [a, [b, c]],
      [b, many],
      [c, [d]],
    ]);
    const { reached, partial } = await walk(a, { bounds: { entitiesMax: 5_000 } });
    expect(partial).toBe(true);
    expect(reached).toHaveLength(5_000);
    expect(reached.map(({ urn }) => urn)).toEqual([b, c, ...many.slice(0, 4_998)]);
    expect(reached[0]).toMatchObject({ explored: true, truncatedChildren: true });
    expect(reached[1]).toMatchObject({ explored: false, truncatedChildren: false });
    const whole = await walk(a);
    expect(whole.reached).toHaveLength(6_003);
    expect(whole.partial).toBe(false);
  });

  test("the edge limit ends a walk in a dense neighbourhood", async () => {
    const many = Array.from({ length: 40 }, (_, i) => dataset(i));
    await writeEdges(many.map((urn) => [urn, many] as const));
    const { reached, partial } = await walk(dataset(0), { bounds: { edgesMax: 100 } });
    expect(partial).toBe(true);
    expect(reached).toHaveLength(39);
    expect(reached[1]).toMatchObject({ urn: dataset(2), explored: true, truncatedChildren: true });
    expect(reached[2]).toMatchObject({ explored: false });
    expect((await walk(dataset(0))).partial).toBe(false);
  });

  test("the time limit ends a long walk", async () => {
    const chain = Array.from({ length: 50 }, (_, i) => dataset(i));
    await writeEdges(chain.slice(1).map((urn, i) => [chain[i] as string, [urn]] as const));
    // Every reading of the clock advances it by a millisecond.
    const { reached, partial } = await walk(dataset(0), { bounds: { millisMax: 10 } });
    expect(partial).toBe(true);
    expect(reached).toHaveLength(10);
    expect(reached.at(-1)).toMatchObject({ explored: false, truncatedChildren: false });
  });

  test("a single layer may hold many thousands of entities", async () => {
    const layer = Array.from({ length: 1_200 }, (_, i) => dataset(i));
    await writeEdges([
      [a, layer],
      ...layer.map((urn, i) => [urn, [dataset(`far${i % 700}`)]] as const),
    ]);
    const { reached, partial } = await walk(a);
    expect(partial).toBe(false);
    expect(reached.map(({ urn }) => urn)).toEqual([
      ...layer,
      ...Array.from({ length: 700 }, (_, i) => dataset(`far${i}`)),
    ]);
  });
});
