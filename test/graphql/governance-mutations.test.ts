/** Mutations of data products, applications, attributes, properties, forms, terms and documents. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ROOT } from "./graphql-client.ts";
import { mutationsOf, schemaOf } from "./run-mutations.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const [orders, lines, missing] = [dataset("orders"), dataset("lines"), dataset("missing")];
const domain = "urn:li:domain:sales";
const column = (name: string) => `urn:li:schemaField:(${orders},${name})`;

let service: RunningService;
const { run, codeOf, aspect } = mutationsOf(() => service.client);

beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  const { client } = service;
  await client.upsert(domain, "domainProperties", { name: "Sales" });
  await client.upsert(orders, "schemaMetadata", schemaOf("id", "price"));
  await client.upsert(lines, "schemaMetadata", schemaOf("id"));
  for (const name of ["Sum", "Total", "Tax"]) {
    await client.upsert(`urn:li:glossaryTerm:${name}`, "glossaryTermInfo", {
      ...{ name, definition: "", termSource: "INTERNAL" },
    });
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("a data product belongs to a domain and lists its assets", async () => {
  const properties = { name: "Orders", description: "all" };
  const input = { id: "orders", domainUrn: domain, properties };
  const product = "urn:li:dataProduct:orders";
  expect(await run("createDataProduct", { input }, "{ urn }")).toEqual({ urn: product });
  expect(await codeOf("createDataProduct", { input }, "{ urn }")).toBe(400);
  const elsewhere = { ...input, id: "x", domainUrn: "urn:li:domain:no" };
  expect(await codeOf("createDataProduct", { input: elsewhere }, "{ urn }")).toBe(404);
  expect(await aspect(product, "domains")).toMatchObject({ domains: [domain] });
  expect((await aspect(product, "ownership")).owners).toMatchObject([
    { owner: ROOT, type: "TECHNICAL_OWNER" },
  ]);
  await run("batchSetDataProduct", { input: { dataProductUrn: product, resourceUrns: [orders] } });
  await run("createDataProduct", { input: { ...input, id: "other" } }, "{ urn }");
  const other = "urn:li:dataProduct:other";
  const both = { dataProductUrns: [product, other], resourceUrns: [lines] };
  await run("batchAddToDataProducts", { input: both });
  await run("updateDataProduct", { urn: product, input: { name: "New" } }, "{ urn }");
  const assets = async (urn: string) => {
    const { assets = [] } = await aspect(urn, "dataProductProperties");
    return assets.map((one: { destinationUrn: string }) => one.destinationUrn);
  };
  expect(await assets(product)).toEqual([orders, lines]);
  expect(await aspect(product, "dataProductProperties")).toMatchObject({
    ...{ name: "New", description: "all" },
  });
  const wrong = { dataProductUrns: [product], resourceUrns: [orders, missing] };
  expect(await codeOf("batchRemoveFromDataProducts", { input: wrong })).toBe(404);
  await run("batchRemoveFromDataProducts", { input: { ...both, dataProductUrns: [other] } });
  expect(await assets(other)).toEqual([]);
  await run("batchSetDataProduct", {
    input: { dataProductUrn: null, resourceUrns: [orders, lines] },
  });
  expect(await assets(product)).toEqual([]);
  expect(await run("deleteDataProduct", { urn: product })).toBe(true);
  expect(await codeOf("deleteDataProduct", { urn: product })).toBe(404);
});

test("an asset may have several applications", async () => {
  const create = (id: string, more = {}) =>
    run("createApplication", { input: { id, properties: { name: id }, ...more } }, "{ urn }");
  const [shop, till] = ["urn:li:application:shop", "urn:li:application:till"];
  expect(await create("shop", { domainUrn: domain })).toEqual({ urn: shop });
  await create("till", { shouldAddCreatorAsOwner: false });
  expect(await aspect(till, "ownership")).toBeUndefined();
  for (const applicationUrn of [shop, till]) {
    await run("batchSetApplication", { input: { applicationUrn, resourceUrns: [orders, lines] } });
  }
  const of = async (urn: string) => (await aspect(urn, "applications")).applications;
  expect(await of(orders)).toEqual([shop, till]);
  const absent = { applicationUrn: "urn:li:application:no", resourceUrns: [orders] };
  expect(await codeOf("batchSetApplication", { input: absent })).toBe(404);
  await run("batchUnsetApplication", { input: { applicationUrn: shop, resourceUrns: [orders] } });
  expect(await of(orders)).toEqual([till]);
  await run("batchSetApplication", { input: { applicationUrn: null, resourceUrns: [lines] } });
  expect(await of(lines)).toEqual([]);
  await run("updateApplication", { urn: shop, input: { description: "x" } }, "{ urn }");
  expect(await aspect(shop, "applicationProperties")).toMatchObject({
    name: "shop",
    description: "x",
  });
  await run("deleteApplication", { urn: till });
  expect(await of(orders)).toEqual([]);
});

test("a column has at most one business attribute", async () => {
  const input = { id: "mail", name: "Mail", type: "STRING" };
  const { urn } = await run("createBusinessAttribute", { input }, "{ urn }");
  expect(await aspect(urn, "businessAttributeInfo")).toMatchObject({
    ...{ name: "Mail", fieldPath: "Mail" },
    type: { type: { "com.linkedin.schema.StringType": {} } },
  });
  expect(await codeOf("createBusinessAttribute", { input: { name: "Mail" } }, "{ urn }")).toBe(409);
  await run(
    "updateBusinessAttribute",
    { urn, input: { name: "Mail", description: "x" } },
    "{ urn }",
  );
  const on = (...names: readonly string[]) => ({
    businessAttributeUrn: urn,
    resourceUrn: names.map((name) => ({ resourceUrn: column(name) })),
  });
  expect(await codeOf("addBusinessAttribute", { input: on("id", "no") })).toBe(400);
  const attribute = async (name: string) =>
    (await aspect(column(name), "businessAttributes"))?.businessAttribute?.businessAttributeUrn;
  expect(await attribute("id")).toBeUndefined();
  await run("addBusinessAttribute", { input: on("id", "price") });
  expect([await attribute("id"), await attribute("price")]).toEqual([urn, urn]);
  await run("removeBusinessAttribute", { input: on("id") });
  expect([await attribute("id"), await attribute("price")]).toEqual([undefined, urn]);
  await run("deleteBusinessAttribute", { urn });
  expect(await attribute("price")).toBeUndefined();
});

const retention = "urn:li:structuredProperty:io.retention";
const definition = {
  qualifiedName: "io.retention",
  displayName: "Retention",
  valueType: "urn:li:dataType:datahub.number",
  entityTypes: ["urn:li:entityType:datahub.dataset"],
  allowedValues: [{ numberValue: 30 }, { numberValue: 90 }],
};

test("a structured property is defined, extended, and set on assets", async () => {
  const settings = { showInAssetSummary: true, hideInAssetSummaryWhenEmpty: true };
  const input = { ...definition, settings };
  expect(await run("createStructuredProperty", { input }, "{ urn }")).toEqual({ urn: retention });
  expect(await codeOf("createStructuredProperty", { input }, "{ urn }")).toBe(400);
  const both = { ...input, id: "io.other" };
  expect(await codeOf("createStructuredProperty", { input: both }, "{ urn }")).toBe(400);
  const extended = {
    ...{ urn: retention, description: "days", newAllowedValues: [{ numberValue: 365 }] },
    newEntityTypes: ["urn:li:entityType:datahub.schemaField"],
    settings: { showInAssetSummary: false },
  };
  await run("updateStructuredProperty", { input: extended }, "{ urn }");
  expect(await aspect(retention, "propertyDefinition")).toMatchObject({
    ...{ displayName: "Retention", description: "days" },
    allowedValues: [
      { value: { double: 30 } },
      { value: { double: 90 } },
      { value: { double: 365 } },
    ],
    entityTypes: [...definition.entityTypes, "urn:li:entityType:datahub.schemaField"],
  });
  expect(await aspect(retention, "structuredPropertySettings")).toMatchObject({
    ...{ showInAssetSummary: false, hideInAssetSummaryWhenEmpty: false },
  });
  const set = (assetUrn: string, value: number, property = retention) => ({
    input: {
      assetUrn,
      structuredPropertyInputParams: [
        { structuredPropertyUrn: property, values: [{ numberValue: value }] },
      ],
    },
  });
  const values =
    "{ properties { structuredProperty { urn } values { ... on NumberValue { numberValue } } } }";
  expect(await run("upsertStructuredProperties", set(orders, 90), values)).toEqual({
    properties: [{ structuredProperty: { urn: retention }, values: [{ numberValue: 90 }] }],
  });
  await run("upsertStructuredProperties", set(column("price"), 30), values);
  await run("upsertStructuredProperties", set(orders, 365), values);
  expect((await aspect(orders, "structuredProperties")).properties).toMatchObject([
    { propertyUrn: retention, values: [{ double: 365 }] },
  ]);
  for (const [code, args] of [
    [400, set(orders, 31)],
    [404, set(missing, 30)],
    [400, set(column("no"), 30)],
    [404, set(orders, 30, "urn:li:structuredProperty:no")],
  ] as const) {
    expect(await codeOf("upsertStructuredProperties", args, values)).toBe(code);
  }
  const removal = { assetUrn: orders, structuredPropertyUrns: [retention] };
  expect(await run("removeStructuredProperties", { input: removal }, values)).toEqual({
    properties: [],
  });
});

describe("a form", () => {
  const form = "urn:li:form:review";
  const forms = async () => aspect(orders, "forms");

  test("a form is complete with its required prompts, and then verified", async () => {
    const prompt = { title: "Retention?", structuredPropertyParams: { urn: retention } };
    const input = {
      ...{
        id: "review",
        name: "Review",
        type: "VERIFICATION",
        actors: { owners: false, users: [ROOT] },
      },
      prompts: [
        { ...prompt, id: "p1", type: "STRUCTURED_PROPERTY", required: true },
        { ...prompt, id: "p2", type: "FIELDS_STRUCTURED_PROPERTY", required: true },
      ],
    };
    expect(await run("createForm", { input }, "{ urn }")).toEqual({ urn: form });
    expect(await codeOf("createForm", { input }, "{ urn }")).toBe(400);
    const nameless = { ...input, id: "x", prompts: [{ title: "x", type: "STRUCTURED_PROPERTY" }] };
    expect(await codeOf("createForm", { input: nameless }, "{ urn }")).toBe(400);
    const answer = (promptId: string, fieldPath?: string) => ({
      urn: orders,
      input: {
        ...{ formUrn: form, promptId, fieldPath },
        type: fieldPath === undefined ? "STRUCTURED_PROPERTY" : "FIELDS_STRUCTURED_PROPERTY",
        structuredPropertyParams: {
          structuredPropertyUrn: retention,
          values: [{ numberValue: 30 }],
        },
      },
    });
    expect(await codeOf("submitFormPrompt", answer("p1"))).toBe(400);
    expect(await aspect(orders, "structuredProperties")).toMatchObject({ properties: [] });
    const assigned = { formUrn: form, entityUrns: [orders] };
    await run("batchAssignForm", { input: assigned });
    expect(await codeOf("verifyForm", { input: { formUrn: form, entityUrn: orders } })).toBe(400);
    expect(await codeOf("submitFormPrompt", answer("p3"))).toBe(400);
    await run("submitFormPrompt", answer("p1"));
    await run("submitFormPrompt", answer("p2", "id"));
    expect((await forms()).incompleteForms).toMatchObject([
      { urn: form, completedPrompts: [{ id: "p1" }], incompletePrompts: [{ id: "p2" }] },
    ]);
    expect(await codeOf("submitFormPrompt", answer("p2", "no"))).toBe(400);
    await run("submitFormPrompt", answer("p2", "price"));
    expect(await forms()).toMatchObject({ incompleteForms: [], completedForms: [{ urn: form }] });
    // A form that is assigned already stays as it is.
    await run("batchAssignForm", { input: assigned });
    expect(await forms()).toMatchObject({ incompleteForms: [], completedForms: [{ urn: form }] });
    await run("verifyForm", { input: { formUrn: form, entityUrn: orders } });
    expect((await forms()).verifications).toMatchObject([{ form }]);
    expect((await aspect(orders, "structuredProperties")).properties).toHaveLength(1);
    expect((await aspect(column("price"), "structuredProperties")).properties).toHaveLength(1);
  });

  test("a form is changed, removed from assets, and deleted", async () => {
    const input = {
      ...{ urn: form, name: "Second", promptsToRemove: ["p2"] },
      actors: { owners: true, usersToRemove: [ROOT], groupsToAdd: ["urn:li:corpGroup:g"] },
    };
    await run("updateForm", { input }, "{ urn }");
    expect(await aspect(form, "formInfo")).toMatchObject({
      ...{ name: "Second", type: "VERIFICATION", prompts: [{ id: "p1" }] },
      actors: { owners: true, users: [], groups: ["urn:li:corpGroup:g"] },
    });
    await run("batchRemoveForm", { input: { formUrn: form, entityUrns: [orders] } });
    expect(await forms()).toEqual({ incompleteForms: [], completedForms: [], verifications: [] });
    expect(await run("deleteForm", { input: { urn: form } })).toBe(true);
    expect(await codeOf("deleteForm", { input: { urn: form } })).toBe(404);
  });
});

test("deleting a structured property removes its values", async () => {
  expect(await run("deleteStructuredProperty", { input: { urn: retention } })).toBe(true);
  expect((await aspect(orders, "structuredProperties"))?.properties ?? []).toEqual([]);
});

test("a glossary term is related to other terms", async () => {
  const term = (name: string) => `urn:li:glossaryTerm:${name}`;
  const related = (relationshipType: string, ...names: readonly string[]) => ({
    input: { urn: term("Sum"), termUrns: names.map(term), relationshipType },
  });
  await run("addRelatedTerms", related("isA", "Total"));
  await run("addRelatedTerms", related("hasA", "Tax", "Total"));
  expect(await codeOf("addRelatedTerms", related("isA", "Sum"))).toBe(400);
  expect(await codeOf("addRelatedTerms", related("isA", "Tax", "No"))).toBe(404);
  await run("removeRelatedTerms", related("hasA", "Tax"));
  expect(await aspect(term("Sum"), "glossaryRelatedTerms")).toMatchObject({
    ...{ isRelatedTerms: [term("Total")], hasRelatedTerms: [term("Total")] },
  });
});

describe("a document", () => {
  const document = (id: string) => `urn:li:document:${id}`;
  const info = (id: string) => aspect(document(id), "documentInfo");
  const create = (id: string, more = {}) =>
    run("createDocument", { input: { id, title: id, contents: { text: "text" }, ...more } });

  test("a document is created with its relations, and changed by member", async () => {
    expect(await create("a", { relatedAssets: [orders], subType: "FAQ" })).toBe(document("a"));
    await create("b", {
      parentDocument: document("a"),
      owners: [{ ownerUrn: ROOT, ownerEntityType: "CORP_USER", type: "NONE" }],
    });
    const taken = { input: { id: "a", contents: { text: "" } } };
    expect(await codeOf("createDocument", taken)).toBe(400);
    const related = { input: { contents: { text: "" }, relatedAssets: [missing] } };
    expect(await codeOf("createDocument", related)).toBe(404);
    expect(await info("a")).toMatchObject({
      ...{ title: "a", contents: { text: "text" }, status: { state: "UNPUBLISHED" } },
      relatedAssets: [{ asset: orders }],
    });
    expect((await aspect(document("a"), "ownership")).owners).toMatchObject([
      { owner: ROOT, type: "TECHNICAL_OWNER" },
    ]);
    expect((await aspect(document("b"), "ownership")).owners).toMatchObject([{ type: "NONE" }]);
    const urn = document("a");
    await run("updateDocumentContents", { input: { urn, contents: { text: "new" } } });
    await run("updateDocumentStatus", { input: { urn, state: "PUBLISHED" } });
    await run("updateDocumentSubType", { input: { urn, subType: "Guide" } });
    await run("updateDocumentSettings", { input: { urn, showInGlobalContext: false } });
    const relations = { urn, relatedAssets: [], relatedDocuments: [document("b")] };
    await run("updateDocumentRelatedEntities", { input: relations });
    const changed = await info("a");
    expect(changed).toMatchObject({
      ...{ title: "a", contents: { text: "new" }, status: { state: "PUBLISHED" } },
      relatedDocuments: [{ document: document("b") }],
    });
    expect(changed.relatedAssets).toBeUndefined();
    expect(await aspect(urn, "subTypes")).toEqual({ typeNames: ["Guide"] });
    expect(await aspect(urn, "documentSettings")).toMatchObject({ showInGlobalContext: false });
    const absent = { urn: document("no"), state: "PUBLISHED" };
    expect(await codeOf("updateDocumentStatus", { input: absent })).toBe(404);
  });

  test("a document is moved, but not below itself, and deleted softly", async () => {
    const move = (id: string, parent: string | null) => ({
      input: { urn: document(id), parentDocument: parent && document(parent) },
    });
    expect(await codeOf("moveDocument", move("a", "a"))).toBe(400);
    expect(await codeOf("moveDocument", move("a", "b"))).toBe(400);
    expect(await codeOf("moveDocument", move("a", "no"))).toBe(404);
    await run("moveDocument", move("b", null));
    expect((await info("b")).parentDocument).toBeUndefined();
    await run("moveDocument", move("a", "b"));
    expect((await info("a")).parentDocument).toEqual({ document: document("b") });
    expect(await run("deleteDocument", { urn: document("a") })).toBe(true);
    expect(await aspect(document("a"), "status")).toMatchObject({ removed: true });
    expect(await info("a")).toMatchObject({ title: "a" });
  });

  test("a file that is imported again replaces the text of its document", async () => {
    const result = "{ createdCount updatedCount failedCount errors documentUrns }";
    const documents = [
      { fileName: "notes/How To.md", content: "one" },
      { fileName: "empty.md", content: " " },
    ];
    const first = await run(
      "importDocumentsFromFiles",
      { input: { documents, useCase: "SKILL" } },
      result,
    );
    expect(first).toMatchObject({ createdCount: 1, updatedCount: 0, failedCount: 0, errors: [] });
    const [urn] = first.documentUrns;
    expect(urn).toMatch(/^urn:li:document:upload\.how-to-[0-9a-f]{16}$/);
    const created = (await aspect(urn, "documentInfo")).created;
    const again = {
      documents: [{ fileName: "How To.md", content: "two" }],
      parentDocumentUrn: document("b"),
    };
    expect(await run("importDocumentsFromFiles", { input: again }, result)).toMatchObject({
      ...{ createdCount: 0, updatedCount: 1, documentUrns: [urn] },
    });
    expect(await aspect(urn, "documentInfo")).toMatchObject({
      ...{ title: "How To", contents: { text: "two" }, created },
      parentDocument: { document: document("b") },
    });
    expect(await aspect(urn, "subTypes")).toEqual({ typeNames: ["SKILL"] });
    const lost = { ...again, parentDocumentUrn: document("no") };
    expect(await codeOf("importDocumentsFromFiles", { input: lost }, result)).toBe(404);
  });
});
