/**
 * Relationships and lineage over HTTP: what aspects state is read back at once, from both ends, in
 * both response forms.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { revision } from "../../src/core/position.ts";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (name: string | number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,harbour.${name},PROD)`;
const ANN = "urn:li:corpuser:ann";
const BEN = "urn:li:corpuser:ben";
const stamp = { time: 1_629_331_200_000, actor: ANN };

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const V2 = { "X-RestLi-Protocol-Version": "2.0.0" };

async function upsert(urn: string, aspect: string, value: unknown): Promise<void> {
  expect(await service.client.upsert(urn, aspect, value)).toMatchObject({ status: 200 });
}

/** Writes many aspects in one atomic request. */
async function upsertAll(aspects: readonly (readonly [string, string, unknown])[]): Promise<void> {
  const proposals = aspects.map(([urn, aspect, value]) => proposal(urn, aspect, value));
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply).toMatchObject({ status: 200 });
}

const comesFrom = (...urns: readonly string[]) => ({
  upstreams: urns.map((dataset) => ({ auditStamp: stamp, type: "TRANSFORMED", dataset })),
});

const read = (urn: string, direction: string, types: string, more = "") =>
  service.client.call(
    "GET",
    `/relationships?direction=${direction}&urn=${encoded(urn)}&types=${types}${more}`,
    undefined,
    V2,
  );

async function entities(urn: string, direction: string, types: string): Promise<unknown> {
  const { status, body } = await read(urn, direction, types);
  expect(status).toBe(200);
  expect(body.entities).toEqual(body.relationships.map((one: { entity: string }) => one.entity));
  return body.entities;
}

const lineage = (urn: string, direction: string, more: object = {}) =>
  service.client.call("POST", "/relationships?action=getLineage", { urn, direction, ...more }, V2);

describe("relationships", () => {
  test("of a urn that no entity can have are not removed", async () => {
    const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a,b,PROD)";
    const reply = await service.client.call("DELETE", `/relationships?urn=${encoded(urn)}`);
    expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
  });

  test.each([
    ["four parts", "urn:li:dataset:(urn:li:dataPlatform:hive,a,b,PROD)"],
    ["two parts", "urn:li:dataset:(urn:li:dataPlatform:hive,a)"],
    ["a platform that is not a urn", "urn:li:dataset:(hive,a,PROD)"],
    ["a part too many", "urn:li:chart:(looker,a,b)"],
  ])("of a urn with %s are not read", async (_, urn) => {
    const type = urn.split(":")[2];
    const { call } = service.client;
    const replies = [
      await call(
        "GET",
        `/relationships?urn=${encoded(urn)}&direction=INCOMING&types=List(OwnedBy)`,
      ),
      await call("POST", "/relationships?action=getLineage", { urn, direction: "UPSTREAM" }),
      await call("POST", "/entities?action=searchAcrossLineage", {
        ...{ urn, direction: "UPSTREAM", input: "*", start: 0, count: 10 },
      }),
      await call("GET", `/openapi/v3/relationship/${type}/${encoded(urn)}`),
      await call("GET", `/openapi/v2/relationship/${type}/${encoded(urn)}?direction=INCOMING`),
      await call("POST", "/openapi/v3/lineage/scroll", { urns: [urn] }),
      await call("POST", "/openapi/v3/relationship/scroll", {
        sourceFilter: { and: [{ criteria: [{ field: "urn", values: [urn] }] }] },
      }),
    ];
    for (const reply of replies) {
      expect(reply, JSON.stringify(reply.body)).toMatchObject({
        ...{ status: 400, body: { code: "malformed" } },
      });
    }
  });

  const tides = dataset("tides");
  const raw = dataset("raw");

  test("relationships are stated by aspects and read from both ends", async () => {
    await upsert(tides, "ownership", {
      owners: [
        { owner: ANN, type: "DATAOWNER" },
        { owner: BEN, type: "TECHNICAL_OWNER" },
      ],
      lastModified: stamp,
    });
    await upsert(tides, "globalTags", { tags: [{ tag: "urn:li:tag:Tides" }] });
    await upsert(tides, "upstreamLineage", comesFrom(raw));
    expect((await read(tides, "OUTGOING", "OwnedBy")).body).toEqual({
      start: 0,
      count: 2,
      total: 2,
      relationships: [
        { type: "OwnedBy", entity: ANN },
        { type: "OwnedBy", entity: BEN },
      ],
      entities: [ANN, BEN],
    });
    expect(await entities(ANN, "INCOMING", "OwnedBy")).toEqual([tides]);
    expect(await entities(raw, "INCOMING", "DownstreamOf")).toEqual([tides]);
    expect(await entities(tides, "UNDIRECTED", "List(TaggedWith,DownstreamOf)")).toEqual([
      "urn:li:tag:Tides",
      raw,
    ]);
  });

  test("lists of types are accepted in any form, with any protocol version and prefix", async () => {
    const query = `direction=OUTGOING&urn=${encoded(tides)}`;
    for (const types of [
      "types=OwnedBy&types=TaggedWith",
      "types=OwnedBy,TaggedWith",
      "types=List(OwnedBy,TaggedWith)",
    ]) {
      for (const headers of [undefined, V2, { "X-Framework-Protocol-Version": "2.0.0" }]) {
        const path = `/gms/relationships?${query}&${types}`;
        const { body } = await service.client.call("GET", path, undefined, headers);
        expect(body.entities).toEqual([ANN, BEN, "urn:li:tag:Tides"]);
      }
    }
  });

  test("relationships are paged", async () => {
    const { body } = await read(tides, "OUTGOING", "List(OwnedBy,TaggedWith)", "&start=1&count=1");
    expect(body).toMatchObject({ start: 1, count: 1, total: 3, entities: [BEN] });
  });

  test("relationships follow the latest value of their aspect", async () => {
    await upsert(tides, "ownership", { owners: [{ owner: BEN, type: "DATAOWNER" }] });
    expect(await entities(tides, "OUTGOING", "OwnedBy")).toEqual([BEN]);
    expect(await entities(ANN, "INCOMING", "OwnedBy")).toEqual([]);
    const gone = proposal(tides, "ownership", {}, { changeType: "DELETE", aspect: undefined });
    await service.client.call("POST", "/aspects?action=ingestProposal", { proposal: gone });
    expect(await entities(tides, "OUTGOING", "OwnedBy")).toEqual([]);
    expect(await entities(tides, "OUTGOING", "TaggedWith")).toEqual(["urn:li:tag:Tides"]);
  });

  test("relationships of one aspect stay when another aspect of the entity changes", async () => {
    const group = "urn:li:corpGroup:harbour";
    await upsert(group, "corpGroupInfo", { admins: [], members: [ANN], groups: [] });
    await upsert(group, "ownership", { owners: [{ owner: BEN, type: "DATAOWNER" }] });
    const both = "List(OwnedBy,IsPartOf)";
    expect(await entities(group, "OUTGOING", both)).toEqual([BEN, ANN]);
    await upsert(group, "ownership", { owners: [] });
    expect(await entities(group, "OUTGOING", both)).toEqual([ANN]);
  });

  test("relationships of a soft-deleted entity stay, and those that a deleted entity stated are removed", async () => {
    const [old, newer] = [dataset("old"), dataset("newer")];
    await upsert(old, "upstreamLineage", comesFrom(raw));
    await upsert(newer, "upstreamLineage", comesFrom(old));
    await upsert(old, "status", { removed: true });
    expect(await entities(old, "UNDIRECTED", "DownstreamOf")).toEqual([raw, newer]);
    const reply = await service.client.call("POST", "/entities?action=delete", { urn: old });
    expect(reply.status).toBe(200);
    expect(await entities(old, "UNDIRECTED", "DownstreamOf")).toEqual([newer]);
    expect(await entities(raw, "INCOMING", "DownstreamOf")).toEqual([tides]);
  });

  test("unknown types and entities have no relationships", async () => {
    expect(await entities(tides, "OUTGOING", "Marries")).toEqual([]);
    expect(await entities(dataset("nowhere"), "INCOMING", "DownstreamOf")).toEqual([]);
    expect(await entities("urn:li:nothing:x", "INCOMING", "DownstreamOf")).toEqual([]);
  });

  test("the relationships endpoint of OpenAPI returns empty pages after the end", async () => {
    const at = (start: number) =>
      service.client.get(
        `/openapi/relationships/v1/?urn=${encoded(raw)}&direction=INCOMING&relationshipTypes=DownstreamOf&start=${start}`,
      );
    expect((await at(0)).body).toEqual({
      start: 0,
      count: 1,
      total: 1,
      entities: [{ relationshipType: "DownstreamOf", urn: tides }],
    });
    expect((await at(1)).body).toEqual({ start: 1, count: 0, total: 1, entities: [] });
  });

  test("invalid parameters are rejected with the allowed values", async () => {
    const bad = async (query: string) => {
      const { status, body } = await service.client.get(`/relationships?${query}`);
      expect({ status, code: body.code }).toEqual({ status: 400, code: "malformed" });
      return body.message;
    };
    const urn = `urn=${encoded(tides)}`;
    expect(await bad(`${urn}&types=OwnedBy&direction=SIDEWAYS`)).toContain(
      "Send one of INCOMING, OUTGOING, UNDIRECTED",
    );
    expect(await bad("urn=nonsense&types=OwnedBy&direction=OUTGOING")).toContain('"nonsense"');
    for (const malformed of [
      "urn:li:dataset:x",
      "urn:li:dataset:(urn:li:dataPlatform:hive,x",
      "urn:li:",
    ]) {
      const query = `urn=${encoded(malformed)}&types=OwnedBy`;
      expect(await bad(`${query}&direction=OUTGOING`)).toContain(malformed);
    }
    for (const page of ["start=-1", "count=-1"]) {
      const message = await bad(`${urn}&types=OwnedBy&direction=OUTGOING&${page}`);
      expect(message).toContain("Send 0 or more");
    }
  });

  test.each([
    "' OR 1=1 --",
    "OwnedBy`]-() DETACH DELETE n //",
    "__proto__",
    "\u0000",
    "%",
    "x".repeat(10_000),
    Array.from({ length: 1_000 }, (_, i) => `Type${i}`).join(","),
  ])("a hostile type matches no relationship: %.40s", async (types) => {
    expect(await entities(tides, "OUTGOING", encodeURIComponent(types))).toEqual([]);
    expect(await entities(tides, "OUTGOING", "TaggedWith")).toEqual(["urn:li:tag:Tides"]);
  });

  test("urns over the length limit of entities are found from both ends", async () => {
    const long = `urn:li:corpuser:${"x".repeat(1_000)}`;
    const owned = dataset("long.owned");
    await upsert(owned, "ownership", { owners: [{ owner: long, type: "DATAOWNER" }] });
    expect(await entities(owned, "OUTGOING", "OwnedBy")).toEqual([long]);
    expect(await entities(long, "INCOMING", "OwnedBy")).toEqual([owned]);
  });

  test("urns with special characters are found", async () => {
    const odd = dataset("a/b c;d [x] (y)%2C#é'\";--");
    await upsert(odd, "upstreamLineage", comesFrom(raw));
    expect(await entities(odd, "OUTGOING", "DownstreamOf")).toEqual([raw]);
    expect(await entities(raw, "INCOMING", "DownstreamOf")).toEqual([tides, odd]);
    await upsert(odd, "upstreamLineage", comesFrom());
  });
});

describe("deleting relationships", () => {
  const [shoal, reef, buoy] = ["shoal", "reef", "buoy"].map(dataset) as [string, string, string];

  test("removes every edge of an entity permanently", async () => {
    await upsert(shoal, "upstreamLineage", comesFrom(reef));
    await upsert(reef, "upstreamLineage", comesFrom(buoy));
    await upsert(buoy, "upstreamLineage", comesFrom(shoal));
    const reply = await service.client.call("DELETE", `/relationships?urn=${encoded(reef)}`);
    expect(reply).toMatchObject({ status: 200, body: "" });
    expect(reply.position).toBeGreaterThan(0);
    expect(await entities(reef, "UNDIRECTED", "DownstreamOf")).toEqual([]);
    expect(await entities(shoal, "UNDIRECTED", "DownstreamOf")).toEqual([buoy]);
    // Writing the same value again states no new edge.
    await upsert(reef, "upstreamLineage", comesFrom(buoy));
    expect(await entities(reef, "UNDIRECTED", "DownstreamOf")).toEqual([]);
  });

  test("survives a rebuild of the view from the log", async () => {
    for (const file of readdirSync(service.directory)) {
      if (file.startsWith("graph.sqlite")) rmSync(join(service.directory, file));
    }
    await service.restart();
    expect(await entities(reef, "UNDIRECTED", "DownstreamOf")).toEqual([]);
    expect(await entities(shoal, "UNDIRECTED", "DownstreamOf")).toEqual([buoy]);
  });

  test("keeps the aspects, which state their edges again when they change", async () => {
    const { body } = await service.client.get(`/entitiesV2/${encoded(reef)}`);
    expect(body.aspects.upstreamLineage.value.upstreams[0].dataset).toBe(buoy);
    await upsert(reef, "upstreamLineage", comesFrom(buoy, shoal));
    expect(await entities(reef, "OUTGOING", "DownstreamOf")).toEqual([buoy, shoal]);
  });
});

describe("restoreIndices", () => {
  const [quay, pier, dock] = ["quay", "pier", "dock"].map(dataset) as [string, string, string];
  const restore = async (urn: string) =>
    expect(await operatorOf(service).act("restoreIndices", { urn })).toMatchObject({ status: 200 });

  const removeGraphFiles = () => {
    for (const file of readdirSync(service.directory)) {
      if (file.startsWith("graph.sqlite")) rmSync(join(service.directory, file));
    }
  };

  async function recordsOf(urn: string) {
    const file = join(service.directory, "log.sqlite");
    const log = await openSqliteChangeLog({ file, readOnly: true });
    try {
      return await log.readStream(entityStream(urn), revision(0), { limit: 100 });
    } finally {
      await log.close();
    }
  }

  test("restoreIndices restores the removed edges that the entity's own aspects state", async () => {
    await upsert(quay, "upstreamLineage", comesFrom(pier));
    await upsert(pier, "upstreamLineage", comesFrom(dock));
    await service.client.call("DELETE", `/relationships?urn=${encoded(pier)}`);
    expect(await entities(pier, "UNDIRECTED", "DownstreamOf")).toEqual([]);
    await restore(pier);
    expect(await entities(pier, "UNDIRECTED", "DownstreamOf")).toEqual([dock]);
    await restore(quay);
    expect(await entities(pier, "INCOMING", "DownstreamOf")).toEqual([quay]);
  });

  test("a rebuild of the graph from the log keeps the restored edges", async () => {
    await service.restart(async () => removeGraphFiles());
    expect(await entities(pier, "OUTGOING", "DownstreamOf")).toEqual([dock]);
    expect(await entities(pier, "INCOMING", "DownstreamOf")).toEqual([quay]);
    const operator = operatorOf(service);
    await operator.ended(await operator.value("verify", { full: true, views: ["graph"] }));
    expect(await operator.value("listDifferences")).toMatchObject({ total: 0, differences: [] });
  });

  test("restored edges need one record for each aspect, and no new version", async () => {
    const read = () => service.client.get(`/entitiesV2/${encoded(pier)}`);
    const version = () =>
      service.client.get(`/aspects/${encoded(pier)}?aspect=upstreamLineage&version=0`);
    await service.client.call("DELETE", `/relationships?urn=${encoded(dock)}`);
    const before = [await read(), await version()];
    const recorded = (await recordsOf(pier)).length;
    for (let n = 0; n < 2; n++) await restore(pier);
    const after = [await read(), await version()];
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    expect(await entities(pier, "OUTGOING", "DownstreamOf")).toEqual([dock]);
    expect((await recordsOf(pier)).length).toBe(recorded + 1);
  });

  test("restoreIndices of an aspect restores the edges of this aspect only", async () => {
    await upsert(dock, "upstreamLineage", comesFrom(quay));
    await upsert(dock, "ownership", { owners: [{ owner: ANN, type: "DATAOWNER" }] });
    const edges = async () => [
      await entities(dock, "OUTGOING", "DownstreamOf"),
      await entities(dock, "OUTGOING", "OwnedBy"),
    ];
    await service.client.call("DELETE", `/relationships?urn=${encoded(dock)}`);
    for (const [aspect, expected] of [
      ["datasetKey", [[], []]],
      ["ownership", [[], [ANN]]],
      ["upstreamLineage", [[quay], [ANN]]],
    ] as const) {
      const asked = { urn: dock, aspect };
      expect(await operatorOf(service).act("restoreIndices", asked)).toMatchObject({ status: 200 });
      expect(await edges()).toEqual(expected);
    }
  });

  test("restoreIndices does not restore an edge that the aspect no longer states", async () => {
    await service.client.call("DELETE", `/relationships?urn=${encoded(pier)}`);
    await upsert(pier, "upstreamLineage", comesFrom());
    await restore(pier);
    expect(await entities(pier, "OUTGOING", "DownstreamOf")).toEqual([]);
  });
});

describe("lineage", () => {
  test("lineage has degrees, paths and audit stamps", async () => {
    const [x, y, z] = ["x", "y", "z"].map(dataset) as [string, string, string];
    await upsert(x, "upstreamLineage", comesFrom(y));
    await upsert(y, "upstreamLineage", comesFrom(z));
    await upsert(z, "upstreamLineage", comesFrom(x));
    const { body } = await lineage(x, "UPSTREAM", { maxHops: 3 });
    expect(body.value).toMatchObject({ start: 0, count: 100, total: 2, partial: false });
    expect(body.value.relationships).toEqual([
      {
        type: "DownstreamOf",
        entity: y,
        degree: 1,
        degrees: [1],
        paths: [[x, y]],
        createdOn: expect.any(Number),
        createdActor: "urn:li:corpuser:__datahub_system",
        updatedOn: stamp.time,
        updatedActor: ANN,
        isManual: false,
        explored: true,
        truncatedChildren: false,
      },
      expect.objectContaining({ entity: z, degree: 2, paths: [[x, y, z]] }),
    ]);
    const past = { startTimeMillis: 1_000, endTimeMillis: 2_000 };
    expect((await lineage(x, "UPSTREAM", past)).body.value).toMatchObject({
      ...{ total: 0, partial: false, relationships: [] },
    });
    const backwards = { startTimeMillis: 2_000, endTimeMillis: 1_000 };
    expect(await lineage(x, "UPSTREAM", backwards)).toMatchObject({ status: 400 });
    const near = await lineage(x, "DOWNSTREAM");
    expect(near.body.value.relationships).toMatchObject([{ entity: z, degree: 1 }]);
    const second = await lineage(x, "DOWNSTREAM", { maxHops: 9, start: 1, count: 1 });
    expect(second.body.value).toMatchObject({
      ...{ start: 1, count: 1, total: 2 },
      relationships: [{ entity: y, degree: 2 }],
    });
  });

  test("the lineage of a job runs from its inputs to its outputs", async () => {
    const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,harbour,PROD),fill)";
    const [from, to] = [dataset("from"), dataset("to")];
    await upsert(job, "dataJobInputOutput", { inputDatasets: [from], outputDatasets: [to] });
    const { body } = await lineage(to, "UPSTREAM", { maxHops: 2 });
    expect(body.value.relationships).toMatchObject([
      { type: "Produces", entity: job, degree: 1 },
      { type: "Consumes", entity: from, degree: 2, paths: [[to, job, from]] },
    ]);
  });

  test("lineage passes through hubs and long chains", async () => {
    const hub = dataset("hub");
    const around = Array.from({ length: 2_500 }, (_, i) => dataset(`spoke${i}`));
    await upsertAll(around.map((urn) => [urn, "upstreamLineage", comesFrom(hub)] as const));
    const chain = Array.from({ length: 1_001 }, (_, i) => dataset(`link${i}`));
    await upsertAll(
      chain.slice(1).map((urn, i) => [urn, "upstreamLineage", comesFrom(chain[i] ?? "")] as const),
    );
    const wide = await lineage(hub, "DOWNSTREAM", { start: 2_490, count: 1_000 });
    expect(wide.body.value).toMatchObject({ total: 2_500, partial: false });
    expect(wide.body.value.relationships).toHaveLength(10);
    const long = await lineage(chain[0] ?? "", "DOWNSTREAM", { maxHops: 5_000, start: 999 });
    expect(long.body.value.total).toBe(1_000);
    expect(long.body.value.relationships).toMatchObject([{ entity: chain[1_000], degree: 1_000 }]);
    expect(long.body.value.relationships[0].paths[0]).toHaveLength(1_001);
    const neighbours = await read(hub, "INCOMING", "DownstreamOf", "&start=2499&count=10");
    expect(neighbours.body).toMatchObject({ total: 2_500, entities: [around.at(-1)] });
  });

  test("a response omits paths and is marked partial when there are too many of them", async () => {
    const start = dataset("link0");
    const { body } = await lineage(start, "DOWNSTREAM", { maxHops: 1_000, count: 1_000 });
    const withPaths = body.value.relationships.filter(
      (one: { paths: unknown[] }) => one.paths.length > 0,
    );
    expect(body.value.relationships).toHaveLength(1_000);
    expect(withPaths.length).toBeGreaterThan(500);
    expect(withPaths.length).toBeLessThan(1_000);
    expect(body.value.partial).toBe(true);
  });
});
