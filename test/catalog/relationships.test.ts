/** Relationships read from a real graph, at view positions that the test sets. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lineageSteps } from "../../projections/graph/lineage.ts";
import { createAddresses } from "../../src/catalog/address.ts";
import { createLineage } from "../../src/catalog/graph/lineage.ts";
import { createRelationships } from "../../src/catalog/graph/relationships.ts";
import type { Change } from "../../src/core/change.ts";
import { type AspectState, type EntityState, unknownEntity } from "../../src/core/entity-state.ts";
import { position, revision } from "../../src/core/position.ts";
import { defaultUrnLimits } from "../../src/core/urn.ts";
import type { GraphReader, GraphSink } from "../../src/views/graph/graph.ts";
import { openSqliteGraphReader } from "../../src/views/graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteGraphSink } from "../../src/views/graph/sqlite/sqlite-graph-sink.ts";
import { createSqlitePlace } from "../adapter/sqlite-place.ts";
import { defaultModel } from "../model/default-model.ts";

const createStore = createSqlitePlace({
  openSink: openSqliteGraphSink,
  openReader: openSqliteGraphReader,
});
const ada = "urn:li:corpuser:ada";
const tag = (name: string | number): string => `urn:li:tag:${name}`;

let store: Awaited<ReturnType<typeof createStore>>;
let sink: GraphSink;
let reader: GraphReader;
let reads: number;
let at = 0;
let lacking = false;
let appended: Change[];
let softDeleted: Set<string>;

beforeEach(async () => {
  store = await createStore();
  sink = await store.openSink();
  reader = await store.openReader();
  [reads, at, appended, lacking] = [0, 0, [], false];
  softDeleted = new Set();
});
afterEach(async () => {
  await reader.close();
  await sink.close();
  await store.remove();
});

async function writeEdges(urn: string, destinations: readonly string[]): Promise<void> {
  const edges = destinations.map((destination) => ({
    ...{ source: urn, type: "TaggedWith", destination, path: "/tags/*/tag" },
  }));
  const stamp = { time: 1, actor: ada };
  const write = {
    op: "replace",
    urn,
    aspect: "globalTags",
    position: position(++at),
    stamp,
    edges,
  };
  await sink.apply([write as never], position(at));
}

const removed: AspectState = {
  ...{ name: "status", version: 1, value: JSON.stringify({ removed: true }), removed: false },
  ...{ time: 1, actor: ada, system: { lastObserved: 1, runId: "no-run-id-provided" } },
};

function stateOf(urn: string): EntityState {
  if (!softDeleted.has(urn)) return unknownEntity(urn);
  return { urn, revision: revision(0), aspects: new Map([["status", removed]]) };
}

function open() {
  const counted: GraphReader = {
    ...reader,
    neighbours(query) {
      reads++;
      return reader.neighbours(query);
    },
  };
  return createRelationships({
    model: defaultModel,
    reader: counted,
    walk: createLineage({ reader, steps: lineageSteps(defaultModel), now: () => 0 }),
    states: { read: async (urns) => urns.map(stateOf) },
    namespace: "li",
    addresses: createAddresses(defaultModel, { namespace: "li", limits: defaultUrnLimits }),
    systemActor: "urn:li:corpuser:system",
    now: () => 1_700_000_000_000,
    caughtUp: async () => {},
    version: () => (lacking ? undefined : at),
    append: async (change) => {
      appended.push(change);
      return { position: position(at + 1) };
    },
  });
}

const tagged = { urn: ada, direction: "OUTGOING", types: ["TaggedWith"] };

describe("relationships", () => {
  test("pages omit soft-deleted entities on request, whatever is cached", async () => {
    const { listRelationships } = open();
    await writeEdges(ada, [1, 2, 3].map(tag));
    const listed = async (more: object) => {
      const page = await listRelationships({ ...tagged, ...more });
      return [page.count, page.total, page.relationships.map(({ urn }) => urn)];
    };
    const all = [3, 3, [1, 2, 3].map(tag)];
    expect(await listed({ includeSoftDeleted: false })).toEqual(all);
    softDeleted.add(tag(2));
    expect(await listed({})).toEqual(all);
    expect(await listed({ includeSoftDeleted: true })).toEqual(all);
    expect(await listed({ includeSoftDeleted: false })).toEqual([2, 2, [1, 3].map(tag)]);
    expect(await listed({ includeSoftDeleted: false, start: 1, count: 1 })).toEqual([0, 2, []]);
    expect(reads).toBe(2);
  });

  test("a page is cached as long as the position of the view stays the same", async () => {
    const { listRelationships } = open();
    await writeEdges(ada, [tag(1)]);
    const first = await listRelationships(tagged);
    expect(await listRelationships(tagged)).toEqual(first);
    expect(reads).toBe(1);
    await listRelationships({ ...tagged, start: 1 });
    await listRelationships({ ...tagged, direction: "INCOMING" });
    await listRelationships({ ...tagged, types: ["TaggedWith", "A"] });
    expect(reads).toBe(4);
    await writeEdges(ada, [tag(1), tag(2)]);
    expect((await listRelationships(tagged)).total).toBe(2);
    expect(reads).toBe(5);
  });

  test("the cache holds all pages of a urn", async () => {
    const { listRelationships } = open();
    await writeEdges(
      ada,
      Array.from({ length: 40 }, (_, n) => tag(n)),
    );
    const page = async (start: number) => {
      const { relationships } = await listRelationships({ ...tagged, start, count: 1 });
      expect(relationships).toEqual([{ type: "TaggedWith", urn: tag(start) }]);
    };
    for (let start = 0; start < 40; start++) await page(start);
    await page(39);
    expect(reads).toBe(40);
    await page(0);
    expect(reads).toBe(40);
  });

  test("a page is not cached if the view moves during the read", async () => {
    const { listRelationships } = open();
    await writeEdges(ada, [tag(1)]);
    const reading = listRelationships(tagged);
    at++;
    await reading;
    at--;
    await listRelationships(tagged);
    expect(reads).toBe(2);
  });

  test("a page is not cached while the view lacks acknowledged writes", async () => {
    const { listRelationships } = open();
    await writeEdges(ada, [tag(1)]);
    await listRelationships(tagged);
    lacking = true;
    await listRelationships(tagged);
    await listRelationships(tagged);
    expect(reads).toBe(3);
    lacking = false;
    await listRelationships(tagged);
    expect(reads).toBe(4);
    expect(listRelationships(tagged)).not.toBeInstanceOf(Promise);
    expect(reads).toBe(4);
  });

  test("a page has at most ten thousand relationships, and a hundred by default", async () => {
    const { listRelationships } = open();
    await writeEdges(
      ada,
      Array.from({ length: 10_001 }, (_, i) => tag(i)),
    );
    expect(await listRelationships(tagged)).toMatchObject({ start: 0, count: 100, total: 10_001 });
    const most = await listRelationships({ ...tagged, start: 0, count: 20_000 });
    expect(most).toMatchObject({ count: 10_000, total: 10_001 });
    await listRelationships({ ...tagged, start: 0, count: 20_000 });
    expect(reads, "a large page is not cached").toBe(3);
  });

  test("a urn of any namespace can be queried", async () => {
    await writeEdges(ada, [tag(1)]);
    const page = await open().listRelationships({ ...tagged, urn: "urn:other:corpuser:ada" });
    expect(page.relationships).toEqual([{ type: "TaggedWith", urn: tag(1) }]);
  });

  test.each([
    [{ urn: "ada" }, '"ada" is not a urn'],
    [{ direction: "outgoing" }, 'direction is "outgoing"'],
    [{ start: -1 }, "start is -1"],
    [{ count: 0.5 }, "count is 0.5"],
  ])("a query with %j is rejected", async (wrong, message) => {
    await expect(open().listRelationships({ ...tagged, ...wrong })).rejects.toMatchObject({
      code: "malformed",
      message,
    });
    expect(reads).toBe(0);
  });
});

describe("lineage", () => {
  test.each([
    [{ urn: "ada" }, '"ada" is not a urn'],
    [{ direction: "INCOMING" }, 'direction is "INCOMING"'],
    [{ maxHops: 0 }, "maxHops is 0"],
    [{ count: -1 }, "count is -1"],
  ])("a lineage query with %j is rejected", async (wrong, message) => {
    const query = { urn: ada, direction: "UPSTREAM", ...wrong };
    await expect(open().getLineage(query)).rejects.toMatchObject({ code: "malformed", message });
  });
});

describe("deleting relationships", () => {
  test("a relationship delete writes its own record, with the actor of the caller or the system", async () => {
    const { forgetRelationships } = open();
    expect(await forgetRelationships("urn:other:corpuser:ada", {})).toEqual({ position: 1 });
    await forgetRelationships(ada, { actor: ada });
    const change = {
      urn: ada,
      entityType: "corpuser",
      aspect: "$relationships",
      changeType: "DELETE",
      created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:system" },
      system: { lastObserved: 1_700_000_000_000, runId: "no-run-id-provided" },
    };
    expect(appended).toEqual([change, { ...change, created: { ...change.created, actor: ada } }]);
    await expect(forgetRelationships("ada", {})).rejects.toMatchObject({ code: "malformed" });
  });
});
