/** Label mutations reject columns, owners and types that do not exist, and names in use. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask, faultOf } from "./graphql-client.ts";

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
const plain = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.plain,PROD)";
const ada = "urn:li:corpuser:ada";
const technical = "urn:li:ownershipType:__system__technical_owner";
const steward = "urn:li:ownershipType:__system__data_steward";
const tag = "urn:li:tag:Gold";
const term = "urn:li:glossaryTerm:Revenue";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  const { client } = service;
  await client.upsert(ada, "corpUserInfo", { active: true, displayName: "Ada" });
  await client.upsert(tag, "tagProperties", { name: "Gold" });
  await client.upsert(term, "glossaryTermInfo", {
    ...{ name: "Revenue", definition: "", termSource: "INTERNAL" },
  });
  await client.upsert(plain, "datasetProperties", { customProperties: {} });
  await client.upsert(dataset, "schemaMetadata", schemaOf("price", "[version=2.0].[type=int].id"));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const schemaOf = (...fieldPaths: readonly string[]) => ({
  ...{ schemaName: "orders", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: fieldPaths.map((fieldPath) => ({
    ...{ fieldPath, nativeDataType: "int" },
    type: { type: { "com.linkedin.schema.NumberType": {} } },
  })),
});
const send = async (name: string, type: string, input: object) =>
  ask(service.client, `mutation($input: ${type}!) { ${name}(input: $input) }`, { input });
async function mutate(name: string, type: string, input: object) {
  const { body } = await send(name, type, input);
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return body.data[name];
}
async function rejected(name: string, type: string, input: object) {
  const fault = faultOf(await send(name, type, input));
  expect(fault, `${name} is rejected`).toBeDefined();
  return { code: fault.extensions.code, message: fault.message };
}
async function aspect(urn: string, name: string) {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${name})`);
  return body.aspects[name]?.value;
}

describe("a column", () => {
  const on = (subResource: string, resourceUrn = dataset) => ({
    ...{ resourceUrn, subResource, subResourceType: "DATASET_FIELD" },
  });
  const forms = (resource: object): readonly (readonly [string, string, object])[] => [
    ["addTag", "TagAssociationInput", { tagUrn: tag, ...resource }],
    ["addTags", "AddTagsInput", { tagUrns: [tag], ...resource }],
    ["batchAddTags", "BatchAddTagsInput", { tagUrns: [tag], resources: [on("price"), resource] }],
    ["addTerm", "TermAssociationInput", { termUrn: term, ...resource }],
    ["addTerms", "AddTermsInput", { termUrns: [term], ...resource }],
    ["batchAddTerms", "BatchAddTermsInput", { termUrns: [term], resources: [resource] }],
    ["updateDescription", "DescriptionUpdateInput", { description: "x", ...resource }],
    ["removeTag", "TagAssociationInput", { tagUrn: tag, ...resource }],
    ["batchRemoveTerms", "BatchRemoveTermsInput", { termUrns: [term], resources: [resource] }],
  ];

  test("a column that the schema lacks is rejected, and nothing is written", async () => {
    for (const [name, type, input] of forms(on("prise"))) {
      const { code, message } = await rejected(name, type, input);
      expect([name, code]).toEqual([name, 400]);
      expect(message).toContain('"prise"');
    }
    expect(await aspect(dataset, "editableSchemaMetadata")).toBeUndefined();
  });

  test("a column of a dataset without a schema is rejected", async () => {
    for (const [name, type, input] of forms(on("price", plain))) {
      const { code, message } = await rejected(name, type, input);
      expect([name, code]).toEqual([name, 400]);
      expect(message).toContain("has no schema");
    }
  });

  test("a column without a subResourceType, or a type without a column, is rejected", async () => {
    for (const part of [{ subResource: "price" }, { subResourceType: "DATASET_FIELD" }]) {
      for (const [name, type, input] of forms({ resourceUrn: dataset, ...part })) {
        expect([name, (await rejected(name, type, input)).code]).toEqual([name, 400]);
      }
    }
  });

  test("a column of the schema is labelled by its whole path", async () => {
    for (const column of ["price", "[version=2.0].[type=int].id"]) {
      for (const [name, type, input] of forms(on(column))) await mutate(name, type, input);
    }
    const { editableSchemaFieldInfo } = await aspect(dataset, "editableSchemaMetadata");
    expect(editableSchemaFieldInfo).toMatchObject([
      { fieldPath: "price", description: "x" },
      { fieldPath: "[version=2.0].[type=int].id", description: "x" },
    ]);
  });

  test("labels of a column that has left the schema can be removed", async () => {
    await mutate("addTag", "TagAssociationInput", { tagUrn: tag, ...on("price") });
    await service.client.upsert(dataset, "schemaMetadata", schemaOf("amount"));
    await mutate("removeTag", "TagAssociationInput", { tagUrn: tag, ...on("price") });
    const { editableSchemaFieldInfo } = await aspect(dataset, "editableSchemaMetadata");
    expect(editableSchemaFieldInfo[0].globalTags.tags).toEqual([]);
  });
});

describe("an owner", () => {
  const resource = { resourceUrn: plain };
  const owners = async () => (await aspect(plain, "ownership"))?.owners;
  const forms = (owner: object): readonly (readonly [string, string, object])[] => [
    ["addOwner", "AddOwnerInput", { ...owner, ...resource }],
    ["addOwners", "AddOwnersInput", { owners: [owner], ...resource }],
    ["batchAddOwners", "BatchAddOwnersInput", { owners: [owner], resources: [resource] }],
  ];

  test.each([
    ["that does not exist", { ownerUrn: "urn:li:corpuser:eve", type: "NONE" }, 404],
    ["of another entity type", { ownerUrn: tag, type: "NONE" }, 400],
    [
      "of another type than the stated one",
      { ownerUrn: ada, ownerEntityType: "CORP_GROUP", type: "NONE" },
      400,
    ],
    ["without an ownership type", { ownerUrn: ada }, 400],
    [
      "with an ownership type that does not exist",
      { ownerUrn: ada, ownershipTypeUrn: "urn:li:ownershipType:none" },
      404,
    ],
    ["with a tag as ownership type", { ownerUrn: ada, ownershipTypeUrn: tag }, 400],
  ])("an owner %s is rejected", async (_, owner, code) => {
    for (const [name, type, input] of forms({ ownerEntityType: "CORP_USER", ...owner })) {
      expect([name, (await rejected(name, type, input)).code]).toEqual([name, code]);
    }
    expect(await owners()).toBeUndefined();
  });

  test("an owner of a type and of its system ownership type is one owner", async () => {
    const one = [{ owner: ada, type: "TECHNICAL_OWNER", typeUrn: technical }];
    const owner = { ownerUrn: ada, ownerEntityType: "CORP_USER" };
    await mutate("addOwner", "AddOwnerInput", { ...owner, type: "TECHNICAL_OWNER", ...resource });
    expect(await owners()).toMatchObject(one);
    await mutate("addOwner", "AddOwnerInput", {
      ...owner,
      ownershipTypeUrn: technical,
      ...resource,
    });
    expect(await owners()).toHaveLength(1);
    expect(await owners()).toMatchObject(one);
    await mutate("removeOwner", "RemoveOwnerInput", {
      ...{ ownerUrn: ada, ownershipTypeUrn: technical },
      ...resource,
    });
    expect(await owners()).toEqual([]);
  });

  test("an owner that was ingested without an ownership type is replaced and removed by type", async () => {
    const ingested = { owners: [{ owner: ada, type: "TECHNICAL_OWNER" }] };
    const owner = { ownerUrn: ada, ownerEntityType: "CORP_USER", ownershipTypeUrn: technical };
    for (const add of [true, false]) {
      await service.client.upsert(plain, "ownership", ingested);
      if (add) {
        await mutate("addOwner", "AddOwnerInput", { ...owner, ...resource });
        expect(await owners()).toHaveLength(1);
        expect(await owners()).toMatchObject([{ owner: ada, typeUrn: technical }]);
      }
      await mutate("removeOwner", "RemoveOwnerInput", {
        ...{ ownerUrn: ada, ownershipTypeUrn: technical },
        ...resource,
      });
      expect(await owners()).toEqual([]);
    }
  });

  test("an owner of two types is two owners", async () => {
    const owner = { ownerUrn: ada, ownerEntityType: "CORP_USER" };
    for (const ownershipTypeUrn of [technical, steward]) {
      await mutate("addOwner", "AddOwnerInput", { ...owner, ownershipTypeUrn, ...resource });
    }
    expect(await owners()).toHaveLength(2);
    await mutate("removeOwner", "RemoveOwnerInput", { ownerUrn: ada, ...resource });
    expect(await owners()).toEqual([]);
  });
});

describe("a name", () => {
  const create = (id: string, name: string, parentDomain?: string) =>
    send("createDomain", "CreateDomainInput", { id, name, parentDomain });
  const codeOf = async (reply: Promise<Awaited<ReturnType<typeof send>>>) =>
    faultOf(await reply)?.extensions.code ?? 200;

  test("a name is unique among the domains of one level", async () => {
    expect(await codeOf(create("sales", "Sales & more"))).toBe(200);
    expect(await codeOf(create("sales2", "Sales & more"))).toBe(409);
    expect(await codeOf(create("SALES", "sales & more"))).toBe(200);
    expect(await codeOf(create("low", "Sales & more", "urn:li:domain:sales"))).toBe(200);
    expect(await codeOf(create("low2", "Sales & more", "urn:li:domain:sales"))).toBe(409);
    expect(await codeOf(create("shop", "Shop"))).toBe(200);
    const rename = { urn: "urn:li:domain:shop", name: "Sales & more" };
    expect(await codeOf(send("updateName", "UpdateNameInput", rename))).toBe(409);
    expect(await codeOf(send("updateName", "UpdateNameInput", { ...rename, name: "Shop" }))).toBe(
      200,
    );
    const move = { resourceUrn: "urn:li:domain:low", parentDomain: null };
    expect(await codeOf(send("moveDomain", "MoveDomainInput", move))).toBe(409);
    const stay = { resourceUrn: "urn:li:domain:low", parentDomain: "urn:li:domain:sales" };
    expect(await codeOf(send("moveDomain", "MoveDomainInput", stay))).toBe(200);
  });

  test("one of several domains that are created at the same time gets the name", async () => {
    const codes = await Promise.all(["a", "b", "c"].map((id) => codeOf(create(id, "Same"))));
    expect(codes.toSorted()).toEqual([200, 409, 409]);
  });

  test("a name is unique among the glossary terms of one parent", async () => {
    const term = (id: string, parentNode?: string) =>
      send("createGlossaryTerm", "CreateGlossaryEntityInput", { id, name: "Margin", parentNode });
    await mutate("createGlossaryNode", "CreateGlossaryEntityInput", { id: "fin", name: "Finance" });
    expect(await codeOf(term("m1", "urn:li:glossaryNode:fin"))).toBe(200);
    expect(await codeOf(term("m2", "urn:li:glossaryNode:fin"))).toBe(400);
    expect(await codeOf(term("m3"))).toBe(200);
    expect(await codeOf(term("m4"))).toBe(400);
  });
});
