/**
 * POST /entities?action=deleteReferences over HTTP: references to an entity are removed from other
 * entities.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeEach(async () => {
  service = await runningService();
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

const dataset = (name: string | number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,seeds.${name},PROD)`;
const cold = "urn:li:tag:cold";
const dry = "urn:li:tag:dry";
const ada = "urn:li:corpuser:ada";
const bo = "urn:li:corpuser:bo";
const stamp = { time: 1, actor: ada };

const deleteReferences = (urn: string, more: object = {}, headers: Record<string, string> = {}) =>
  service.client.call("POST", "/entities?action=deleteReferences", { urn, ...more }, headers);

/** Writes the proposals and returns their position. */
async function ingest(...proposals: readonly object[]): Promise<number> {
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply).toMatchObject({ status: 200 });
  return reply.position ?? 0;
}

async function value(urn: string, aspect: string): Promise<unknown> {
  const path = `/entitiesV2/${encodeURIComponent(urn)}?aspects=List(${aspect})`;
  return (await service.client.get(path)).body.aspects[aspect]?.value;
}

describe("deleteReferences", () => {
  test("removes the urn from every aspect that names it, and changes nothing else", async () => {
    await ingest(
      proposal(dataset("a"), "globalTags", { tags: [{ tag: cold }, { tag: dry }] }),
      proposal(dataset("b"), "editableSchemaMetadata", {
        editableSchemaFieldInfo: [
          { fieldPath: "id", globalTags: { tags: [{ tag: cold }] } },
          { fieldPath: "name", globalTags: { tags: [{ tag: dry }] } },
        ],
      }),
      proposal(dataset("c"), "globalTags", { tags: [{ tag: dry }] }),
    );
    const reply = await deleteReferences(cold);
    expect(reply).toMatchObject({
      status: 200,
      position: expect.any(Number),
      body: {
        value: {
          total: 2,
          relatedAspects: expect.arrayContaining([
            { entity: dataset("a"), aspect: "globalTags", relationship: "TaggedWith" },
            {
              entity: dataset("b"),
              aspect: "editableSchemaMetadata",
              relationship: "EditableSchemaFieldTaggedWith",
            },
          ]),
        },
      },
    });
    expect(await value(dataset("a"), "globalTags")).toEqual({ tags: [{ tag: dry }] });
    expect(await value(dataset("b"), "editableSchemaMetadata")).toMatchObject({
      editableSchemaFieldInfo: [
        { fieldPath: "id", globalTags: { tags: [] } },
        { fieldPath: "name", globalTags: { tags: [{ tag: dry }] } },
      ],
    });
    expect(await value(dataset("c"), "globalTags")).toEqual({ tags: [{ tag: dry }] });
    expect((await deleteReferences(cold)).body).toEqual({
      value: { total: 0, relatedAspects: [] },
    });
  });

  test("with dryRun, lists the references and removes none", async () => {
    const before = await ingest(proposal(dataset("a"), "globalTags", { tags: [{ tag: cold }] }));
    const { body, position } = await deleteReferences(cold, { dryRun: true });
    expect(body).toEqual({
      value: {
        total: 1,
        relatedAspects: [
          { entity: dataset("a"), aspect: "globalTags", relationship: "TaggedWith" },
        ],
      },
    });
    expect(position).toBe(before);
    expect(await value(dataset("a"), "globalTags")).toEqual({ tags: [{ tag: cold }] });
  });

  test("removes an owner, and updates the values derived from the owners", async () => {
    const owners = [
      { owner: ada, type: "DATAOWNER" },
      { owner: bo, type: "TECHNICAL_OWNER" },
    ];
    await ingest(proposal(dataset("a"), "ownership", { owners, lastModified: stamp }));
    await deleteReferences(ada, {}, { "X-Service-Actor": bo });
    expect(await value(dataset("a"), "ownership")).toEqual({
      owners: [{ owner: bo, type: "TECHNICAL_OWNER" }],
      ownerTypes: { "urn:li:ownershipType:__system__technical_owner": [bo] },
      // The audit stamp of the last change is not a reference.
      lastModified: stamp,
    });
    const read = await service.client.get(`/entitiesV2/${encodeURIComponent(dataset("a"))}`);
    expect(read.body.aspects.ownership.created.actor).toBe(bo);
  });

  test("removes an optional field, and deletes an aspect whose required field is removed", async () => {
    const node = "urn:li:glossaryNode:storage";
    const term = "urn:li:glossaryTerm:coldRoom";
    const container = "urn:li:container:vault";
    await ingest(
      proposal(term, "glossaryTermInfo", {
        definition: "below 4 °C",
        termSource: "INTERNAL",
        parentNode: node,
      }),
      proposal(dataset("a"), "container", { container }),
    );
    expect((await deleteReferences(node)).body.value.total).toBe(1);
    const info = await value(term, "glossaryTermInfo");
    expect(info).toMatchObject({ definition: "below 4 °C" });
    expect(info).not.toHaveProperty("parentNode");

    expect((await deleteReferences(container)).body.value.total).toBe(1);
    expect(await value(dataset("a"), "container")).toBeUndefined();
    const exists = await service.client.call("POST", "/entities?action=exists", {
      urn: dataset("a"),
    });
    expect(exists.body).toEqual({ value: true });
  });

  test("keeps both lists of domains consistent", async () => {
    const [north, south] = ["urn:li:domain:north", "urn:li:domain:south"];
    await ingest(proposal(dataset("a"), "domains", { domains: [north, south] }));
    expect((await deleteReferences(north)).body.value.total).toBe(1);
    expect(await value(dataset("a"), "domains")).toEqual({
      domains: [south],
      domainAssociations: [{ domain: south }],
    });
  });

  test("does not change the key aspect, which repeats the urn", async () => {
    const flow = "urn:li:dataFlow:(airflow,nightly,PROD)";
    const job = `urn:li:dataJob:(${flow},load)`;
    await ingest(proposal(job, "status", { removed: false }));
    expect((await deleteReferences(flow)).body).toEqual({
      value: { total: 0, relatedAspects: [] },
    });
    expect(await value(job, "status")).toEqual({ removed: false });
  });

  test("lists ten of many references, and removes them all", async () => {
    const names = Array.from({ length: 230 }, (_, n) => n);
    await ingest(
      ...names.map((n) => proposal(dataset(n), "globalTags", { tags: [{ tag: cold }] })),
    );
    const { body } = await deleteReferences("urn:acme:tag:cold");
    expect(body.value.total).toBe(230);
    expect(body.value.relatedAspects).toHaveLength(10);
    expect((await deleteReferences(cold)).body.value.total).toBe(0);
  });

  test("loses no concurrent write", async () => {
    const names = Array.from({ length: 40 }, (_, n) => n);
    await ingest(
      ...names.map((n) => proposal(dataset(n), "globalTags", { tags: [{ tag: cold }] })),
    );
    const tags = JSON.stringify([{ op: "add", path: `/tags/${dry}`, value: { tag: dry } }]);
    const patch = { changeType: "PATCH", aspect: { value: tags, contentType: "application/json" } };
    const [reply, ...others] = await Promise.all([
      deleteReferences(cold),
      ...names.map((n) => service.client.upsert(dataset(n), "globalTags", {}, patch)),
    ]);
    expect([reply.status, ...others.map(({ status }) => status)]).toEqual(
      Array.from({ length: 41 }, () => 200),
    );
    for (const n of names) {
      expect(await value(dataset(n), "globalTags")).toEqual({ tags: [{ tag: dry }] });
    }
  });

  test("rejects an invalid urn", async () => {
    expect(await deleteReferences("cold")).toMatchObject({
      status: 400,
      body: { code: "malformed" },
    });
  });
});
