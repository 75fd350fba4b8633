/**
 * Deleting the definition of a structured property removes its values from assets, from search and
 * from filters, and its prompts from forms; deleting a form removes it from assets.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
let count = 0;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const table = () => `urn:li:dataset:(urn:li:dataPlatform:hive,gone.t${++count},PROD)`;
const property = () => `urn:li:structuredProperty:io.gone.p${++count}`;
const idOf = (urn: string) => urn.split(":").slice(3).join(":");
const define = (urn: string, type = "string") =>
  proposal(urn, "propertyDefinition", {
    qualifiedName: idOf(urn),
    valueType: `urn:li:dataType:datahub.${type}`,
    entityTypes: ["urn:li:entityType:datahub.dataset"],
  });
const assign = (urn: string, ...entries: readonly (readonly [string, object])[]) =>
  proposal(urn, "structuredProperties", {
    properties: entries.map(([propertyUrn, value]) => ({ propertyUrn, values: [value] })),
  });
const gold = { string: "gold" };

async function ingest(...proposals: readonly object[]): Promise<void> {
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}

async function aspectOf(urn: string, aspect: string) {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${aspect})`);
  return body.aspects?.[aspect]?.value;
}

const propertiesOf = async (urn: string): Promise<readonly string[]> =>
  ((await aspectOf(urn, "structuredProperties"))?.properties ?? []).map(
    (one: { propertyUrn: string }) => one.propertyUrn,
  );

async function found(field: string, value: string, condition = "EQUAL"): Promise<unknown> {
  const { status, body } = await service.client.call("POST", "/entities?action=search", {
    ...{ entity: "dataset", input: "*", start: 0, count: 10 },
    filter: { or: [{ and: [{ field, value, condition }] }] },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.value.entities;
}

const deleteEntity = (urn: string) =>
  service.client.call("POST", "/entities?action=delete", { urn });
const deletion = (urn: string, aspectName: string) => ({
  entityType: "structuredProperty",
  entityUrn: urn,
  changeType: "DELETE",
  aspectName,
});

/** A dataset that has a value of the property, and one of another property. */
async function assigned(urn: string) {
  const [other, asset] = [property(), table()];
  await ingest(define(urn), define(other));
  await ingest(assign(asset, [urn, gold], [other, gold]));
  return { other, asset };
}

describe("a deleted structured property", () => {
  test("a deleted property loses its values on assets, in search and in filters", async () => {
    const urn = property();
    const { other, asset } = await assigned(urn);
    const field = `structuredProperties.${idOf(urn)}`;
    expect(await found(field, "gold")).toEqual([asset]);
    expect(await deleteEntity(urn)).toMatchObject({ status: 200 });
    expect(await propertiesOf(asset)).toEqual([other]);
    await ingest(define(urn));
    expect(await found(field, "gold")).toEqual([]);
    expect(await found(`structuredProperties.${idOf(other)}`, "gold")).toEqual([asset]);
  });

  test("a later definition with the same id and another type starts without values", async () => {
    const urn = property();
    const { asset } = await assigned(urn);
    await ingest(deletion(urn, "propertyDefinition"));
    await ingest(define(urn, "number"));
    expect(await propertiesOf(asset)).not.toContain(urn);
    await ingest(assign(asset, [urn, { double: 7 }]));
    expect(await found(`structuredProperties.${idOf(urn)}`, "7")).toEqual([asset]);
  });

  test("a property loses its values whichever interface deletes it", async () => {
    const deletes: readonly ((urn: string) => Promise<unknown>)[] = [
      (urn) => ingest(deletion(urn, "structuredPropertyKey")),
      (urn) =>
        service.client.call("DELETE", `/openapi/v3/entity/structuredproperty/${encoded(urn)}`),
      (urn) =>
        service.client.call(
          "DELETE",
          `/openapi/v3/entity/structuredproperty/${encoded(urn)}/propertyDefinition`,
        ),
    ];
    for (const remove of deletes) {
      const urn = property();
      const { other, asset } = await assigned(urn);
      await remove(urn);
      expect(await propertiesOf(asset)).toEqual([other]);
    }
  });

  test("a property loses its values when the run that defined it is rolled back", async () => {
    const [urn, asset] = [property(), table()];
    const systemMetadata = { runId: "defines-and-leaves" };
    await ingest({ ...define(urn), systemMetadata });
    await ingest(assign(asset, [urn, gold]));
    const { status } = await service.client.call("POST", "/runs?action=rollback", {
      ...{ runId: "defines-and-leaves", dryRun: false, hardDelete: true },
    });
    expect(status).toBe(200);
    expect(await propertiesOf(asset)).toEqual([]);
  });

  test("a rollback deletes the definitions of a run last, so that it finds no removed values", async () => {
    const urn = property();
    const assets = Array.from({ length: 40 }, table);
    const systemMetadata = { runId: "defines-and-sets" };
    await ingest({ ...define(urn), systemMetadata });
    for (const asset of assets) await ingest({ ...assign(asset, [urn, gold]), systemMetadata });
    await service.client.call("POST", "/runs?action=rollback", {
      ...{ runId: "defines-and-sets", dryRun: false, safe: true },
    });
    const lastOf = async (of: string): Promise<number> =>
      (await service.client.get(`/changes?urn=${encoded(of)}`)).body.changes.at(-1).position;
    expect(await lastOf(urn)).toBeGreaterThan(await lastOf(assets.at(-1) ?? ""));
  });

  test("a deleted property loses its values on soft-deleted assets, and its prompts in forms", async () => {
    const urn = property();
    const { other, asset } = await assigned(urn);
    const form = `urn:li:form:f${++count}`;
    const prompt = (id: string, about: string) => ({
      ...{ id, title: id, type: "STRUCTURED_PROPERTY", required: false },
      structuredPropertyParams: { urn: about },
    });
    const prompts = [prompt(`a${count}`, urn), prompt(`b${count}`, other)];
    await ingest(
      proposal(asset, "status", { removed: true }),
      proposal(form, "formInfo", { name: "Tiers", type: "COMPLETION", prompts }),
    );
    await deleteEntity(urn);
    expect(await propertiesOf(asset)).toEqual([other]);
    expect((await aspectOf(form, "formInfo")).prompts).toMatchObject([{ id: `b${count}` }]);
  });

  test("a property keeps its values when it is only soft-deleted, or its deletion is rejected", async () => {
    const urn = property();
    const { other, asset } = await assigned(urn);
    await ingest(proposal(urn, "status", { removed: true }));
    const rejected = await service.client.call("POST", "/aspects?action=ingestProposal", {
      proposal: { ...deletion(urn, "propertyDefinition"), headers: { "If-Version-Match": "7" } },
    });
    expect(rejected).toMatchObject({ status: 422 });
    expect(await propertiesOf(asset)).toEqual([urn, other]);
  });

  test("the next start removes the values that an ended process did not remove", async () => {
    const urn = property();
    const { other, asset } = await assigned(urn);
    await service.restart(async () => {
      const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
      const created = { time: Date.now(), actor: "urn:li:corpuser:ann" };
      const system = { lastObserved: created.time, runId: "none", version: "1" };
      const change = { ...deletion(urn, "propertyDefinition"), urn, created, system } as const;
      const record = encodeChange({ ...change, aspect: change.aspectName, changeType: "DELETE" });
      await log.append([{ stream: entityStream(urn), expected: "any", records: [record] }]);
      await log.close();
    });
    await expect.poll(() => propertiesOf(asset)).toEqual([other]);
  });

  test("a rebuild of every view restores no values of a deleted property", async () => {
    const operator = operatorOf(service);
    await operator.ended(await operator.value("verify", { full: true }));
    expect(await operator.value("listDifferences")).toMatchObject({ total: 0 });
  });
});

describe("deleteReferences", () => {
  const references = async (urn: string, dryRun: boolean) =>
    (await service.client.call("POST", "/entities?action=deleteReferences", { urn, dryRun })).body;

  test("deleteReferences lists the values of a structured property and removes them", async () => {
    const urn = property();
    const { other, asset } = await assigned(urn);
    const listed = {
      value: {
        total: 1,
        relatedAspects: [
          { entity: asset, aspect: "structuredProperties", relationship: "StructuredPropertyOf" },
        ],
      },
    };
    expect(await references(urn, true)).toEqual(listed);
    expect(await propertiesOf(asset)).toEqual([urn, other]);
    expect(await references(urn, false)).toEqual(listed);
    expect(await propertiesOf(asset)).toEqual([other]);
    expect(await references(urn, false)).toEqual({ value: { total: 0, relatedAspects: [] } });
  });

  test("deleteReferences lists a form on assets and removes it", async () => {
    const [form, kept, asset] = [`urn:li:form:x${++count}`, `urn:li:form:y${count}`, table()];
    const info = { name: "Tiers", type: "VERIFICATION", prompts: [] };
    const association = (urn: string) => ({ urn, incompletePrompts: [], completedPrompts: [] });
    await ingest(proposal(form, "formInfo", info), proposal(kept, "formInfo", info));
    await ingest(
      proposal(asset, "forms", {
        incompleteForms: [association(form), association(kept)],
        completedForms: [association(form)],
        verifications: [{ form }],
      }),
    );
    expect(await references(form, true)).toMatchObject({
      value: { total: 1, relatedAspects: [{ entity: asset, aspect: "forms" }] },
    });
    await references(form, false);
    expect(await aspectOf(asset, "forms")).toMatchObject({
      incompleteForms: [{ urn: kept }],
      completedForms: [],
      verifications: [],
    });
  });
});
