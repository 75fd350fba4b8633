/** Mutations on assets with write authorization: rejected without a privilege, allowed with DataHub's. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { mutationsOf, schemaOf } from "../graphql/run-mutations.ts";
import { proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const user = (name: string) => `urn:li:corpuser:${name}`;
const [BEDS, ROWS] = [dataset("beds"), dataset("rows")];
const MODEL = "urn:li:dataset:(urn:li:dataPlatform:logical,plan,PROD)";
const COLUMN = `urn:li:schemaField:(${BEDS},id)`;
const DOMAIN = "urn:li:domain:garden";
const PRODUCT = "urn:li:dataProduct:seeds";
const APPLICATION = "urn:li:application:shop";
const ATTRIBUTE = "urn:li:businessAttribute:mail";
const PROPERTY = "urn:li:structuredProperty:io.size";
const FORM = "urn:li:form:review";
const DOCUMENT = "urn:li:document:guide";
const TERM = "urn:li:glossaryTerm:Bed";

let service: GuardedService;
type Mutations = ReturnType<typeof mutationsOf>;
const mutations = new Map<string, Mutations>();
const as = (name: string): Mutations => mutations.get(name) as Mutations;

async function write(urn: string, aspect: string, value: unknown) {
  const body = { proposal: proposal(urn, aspect, value) };
  const reply = await service.client.call(
    ...(["POST", "/aspects?action=ingestProposal", body, service.operator] as const),
  );
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}

/** A user with privileges: on entities of these types, or platform privileges without types. */
async function grant(name: string, privileges: readonly string[], types: readonly string[] = []) {
  const { token } = await makeToken(service.client, { actorUrn: user(name) }, service.operator);
  mutations.set(
    name,
    mutationsOf(() => service.client, asBearer(token)),
  );
  if (privileges.length === 0) return;
  await write(`urn:li:dataHubPolicy:${name}`, "dataHubPolicyInfo", {
    ...{ displayName: name, description: "", state: "ACTIVE", privileges },
    ...{ type: types.length === 0 ? "PLATFORM" : "METADATA", actors: { users: [user(name)] } },
    ...(types.length > 0 && {
      resources: { filter: { criteria: [{ field: "TYPE", values: types }] } },
    }),
  });
}

beforeAll(async () => {
  service = await guardedService({ writeAuthorization: "on" });
  mutations.set(
    "operator",
    mutationsOf(() => service.client, service.operator),
  );
  await write(BEDS, "schemaMetadata", schemaOf("id"));
  await write(ROWS, "schemaMetadata", schemaOf("id"));
  await write(MODEL, "schemaMetadata", schemaOf("id"));
  await write(dataset("soil"), "schemaMetadata", schemaOf("id"));
  await write(DOMAIN, "domainProperties", { name: "Garden" });
  await write(PRODUCT, "dataProductProperties", { name: "Seeds" });
  await write(PRODUCT, "domains", { domains: [DOMAIN] });
  await write(APPLICATION, "applicationProperties", { name: "Shop" });
  await write(ATTRIBUTE, "businessAttributeInfo", { fieldPath: "Mail", name: "Mail" });
  await write(PROPERTY, "propertyDefinition", {
    ...{ qualifiedName: "io.size", valueType: "urn:li:dataType:datahub.number" },
    entityTypes: ["urn:li:entityType:datahub.dataset"],
  });
  const prompt = { id: "p", title: "Size?", type: "STRUCTURED_PROPERTY" };
  await write(FORM, "formInfo", {
    ...{ name: "Review", type: "VERIFICATION" },
    actors: { owners: false, users: [user("rita")] },
    prompts: [{ ...prompt, structuredPropertyParams: { urn: PROPERTY }, required: true }],
  });
  for (const name of ["Bed", "Row"]) {
    await write(`urn:li:glossaryTerm:${name}`, "glossaryTermInfo", {
      ...{ name, definition: "", termSource: "INTERNAL" },
    });
  }
  const stamp = { time: 1, actor: user("x") };
  await write(DOCUMENT, "documentInfo", {
    ...{ title: "Guide", contents: { text: "" }, status: { state: "PUBLISHED" } },
    ...{ created: stamp, lastModified: stamp },
  });
  await grant("mina", []);
  await grant("rita", []);
  await as("operator").run("batchAssignForm", { input: { formUrn: FORM, entityUrns: [BEDS] } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

type Call = readonly [name: string, args: Readonly<Record<string, unknown>>, selection?: string];
const URN = "{ urn }";
const TYPE = "{ __typename }";
const values = [{ numberValue: 1 }];
const params = { structuredPropertyUrn: PROPERTY, values };
const edges = [{ downstreamUrn: BEDS, upstreamUrn: ROWS }];
const described = { editableProperties: { description: "x" } };
const column = [{ fieldPath: "id", type: "NUMBER" }];
const link = { resourceUrn: BEDS, linkUrl: "https://a.example", label: "a" };
const assets = { resourceUrns: [BEDS] };
const answer = { promptId: "p", formUrn: FORM, type: "STRUCTURED_PROPERTY" };

const calls: readonly Call[] = [
  ["updateLineage", { input: { edgesToAdd: edges, edgesToRemove: [] } }],
  ["updateDataset", { urn: BEDS, input: described }, URN],
  ["updateDatasets", { input: [{ urn: BEDS, update: described }] }, URN],
  ["updateEmbed", { input: { urn: BEDS, renderUrl: "https://a.example" } }],
  ["upsertLink", { input: link }],
  ["updateDisplayProperties", { urn: DOMAIN, input: { colorHex: "#112233" } }],
  [
    "addRelatedTerms",
    { input: { urn: TERM, termUrns: ["urn:li:glossaryTerm:Row"], relationshipType: "isA" } },
  ],
  ["createDataProduct", { input: { id: "n", domainUrn: DOMAIN, properties: { name: "N" } } }, URN],
  ["updateDataProduct", { urn: PRODUCT, input: { name: "N" } }, URN],
  ["deleteDataProduct", { urn: PRODUCT }],
  ["batchSetDataProduct", { input: { dataProductUrn: PRODUCT, ...assets } }],
  ["batchAddToDataProducts", { input: { dataProductUrns: [PRODUCT], ...assets } }],
  ["createApplication", { input: { id: "n", properties: { name: "N" } } }, URN],
  ["updateApplication", { urn: APPLICATION, input: { name: "N" } }, URN],
  ["deleteApplication", { urn: APPLICATION }],
  ["batchSetApplication", { input: { applicationUrn: APPLICATION, ...assets } }],
  ["createBusinessAttribute", { input: { name: "N" } }, URN],
  ["updateBusinessAttribute", { urn: ATTRIBUTE, input: { name: "M" } }, URN],
  ["deleteBusinessAttribute", { urn: ATTRIBUTE }],
  [
    "addBusinessAttribute",
    { input: { businessAttributeUrn: ATTRIBUTE, resourceUrn: [{ resourceUrn: COLUMN }] } },
  ],
  [
    "createStructuredProperty",
    {
      input: {
        id: "io.n",
        valueType: "urn:li:dataType:datahub.number",
        entityTypes: ["urn:li:entityType:datahub.dataset"],
      },
    },
    URN,
  ],
  ["updateStructuredProperty", { input: { urn: PROPERTY, displayName: "N" } }, URN],
  ["deleteStructuredProperty", { input: { urn: PROPERTY } }],
  [
    "upsertStructuredProperties",
    { input: { assetUrn: BEDS, structuredPropertyInputParams: [params] } },
    TYPE,
  ],
  [
    "removeStructuredProperties",
    { input: { assetUrn: BEDS, structuredPropertyUrns: [PROPERTY] } },
    TYPE,
  ],
  ["createForm", { input: { name: "N" } }, URN],
  ["updateForm", { input: { urn: FORM, name: "N" } }, URN],
  ["deleteForm", { input: { urn: FORM } }],
  ["batchAssignForm", { input: { formUrn: FORM, entityUrns: [ROWS] } }],
  ["batchRemoveForm", { input: { formUrn: FORM, entityUrns: [BEDS] } }],
  ["submitFormPrompt", { urn: BEDS, input: { ...answer, structuredPropertyParams: params } }],
  ["verifyForm", { input: { formUrn: FORM, entityUrn: BEDS } }],
  ["createDocument", { input: { contents: { text: "" } } }],
  ["updateDocumentStatus", { input: { urn: DOCUMENT, state: "PUBLISHED" } }],
  ["moveDocument", { input: { urn: DOCUMENT } }],
  ["deleteDocument", { urn: DOCUMENT }],
  [
    "importDocumentsFromFiles",
    { input: { documents: [{ fileName: "a", content: "a" }] } },
    "{ errors }",
  ],
  [
    "createERModelRelationship",
    { input: { properties: { name: "r", source: BEDS, destination: ROWS } } },
    URN,
  ],
  ["createLogicalModel", { input: { name: "m", columns: column } }],
  ["updateLogicalModelSchema", { input: { urn: MODEL, columns: column } }],
  ["setLogicalParent", { input: { resourceUrn: BEDS, parentUrn: ROWS } }],
  ["linkPhysicalChild", { input: { logicalParentUrn: ROWS, childUrn: BEDS } }],
  ["unlinkPhysicalChild", { input: { childUrn: BEDS } }],
  ["setLifecycleStage", { urn: BEDS, lifecycleStageUrn: null }],
  ["updateAssetSettings", { input: { urn: BEDS } }, TYPE],
];

test("every mutation of a user without privileges is rejected, and nothing is written", async () => {
  const read = async () => {
    const path = "/changes?from=start&limit=1000";
    const { body } = await service.client.call("GET", path, undefined, service.operator);
    return body.changes.length;
  };
  const before = await read();
  // Without a member to change, there is nothing to authorize.
  const idle = ["updateAssetSettings"];
  for (const [name, args, selection] of calls) {
    if (idle.includes(name)) continue;
    expect([name, await as("mina").codeOf(name, args, selection)]).toEqual([name, 403]);
  }
  const patch = {
    urn: BEDS,
    aspectName: "datasetProperties",
    patch: [{ op: "ADD", path: "/name", value: "x" }],
  };
  expect(await as("mina").run("patchEntity", { input: patch }, "{ success }")).toEqual({
    success: false,
  });
  expect(await read()).toEqual(before);
});

const callOf = (name: string): Call => calls.find((one) => one[0] === name) as Call;

test.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ["lineage", ["EDIT_LINEAGE"], ["dataset"], ["updateLineage"]],
  ["docs", ["EDIT_ENTITY_DOCS"], ["dataset"], ["updateDataset", "updateDatasets"]],
  ["embed", ["EDIT_ENTITY_EMBED"], ["dataset"], ["updateEmbed"]],
  ["links", ["EDIT_ENTITY_DOC_LINKS"], ["dataset"], ["upsertLink"]],
  [
    "values",
    ["EDIT_ENTITY_PROPERTIES"],
    ["dataset"],
    ["upsertStructuredProperties", "submitFormPrompt"],
  ],
  [
    "columns",
    ["EDIT_DATASET_COL_BUSINESS_ATTRIBUTE_PRIVILEGE"],
    ["dataset"],
    ["addBusinessAttribute"],
  ],
  [
    "products",
    ["MANAGE_DATA_PRODUCTS"],
    ["domain"],
    ["createDataProduct", "updateDataProduct", "batchSetDataProduct"],
  ],
  ["members", ["EDIT_ENTITY_DATA_PRODUCTS"], ["dataset"], ["batchAddToDataProducts"]],
  ["apps", ["EDIT_ENTITY_APPLICATIONS_PRIVILEGE"], ["dataset"], ["batchSetApplication"]],
  ["models", ["CREATE_ENTITY_ER_MODEL_RELATIONSHIP"], ["dataset"], ["createERModelRelationship"]],
  ["logical", ["CREATE_LOGICAL_MODELS"], [], ["createLogicalModel", "updateLogicalModelSchema"]],
  ["glossary", ["MANAGE_GLOSSARIES"], [], ["addRelatedTerms"]],
  ["domains", ["MANAGE_DOMAINS"], [], ["updateDisplayProperties"]],
  [
    "attributes",
    ["CREATE_BUSINESS_ATTRIBUTE"],
    [],
    ["createBusinessAttribute", "updateBusinessAttribute"],
  ],
  ["forms", ["MANAGE_DOCUMENTATION_FORMS"], [], ["createForm", "updateForm", "batchAssignForm"]],
  [
    "documents",
    ["MANAGE_DOCUMENTS"],
    [],
    ["createDocument", "updateDocumentStatus", "moveDocument", "importDocumentsFromFiles"],
  ],
  [
    "properties",
    ["MANAGE_STRUCTURED_PROPERTIES"],
    [],
    ["createStructuredProperty", "updateStructuredProperty"],
  ],
  ["status", ["EDIT_ENTITY_STATUS"], ["dataset"], ["setLifecycleStage"]],
])(
  "the privilege for %s suffices for its mutations only",
  async (name, privileges, types, names) => {
    await grant(name, privileges, types);
    for (const one of names) {
      const [mutation, args, selection] = callOf(one);
      expect([mutation, await as(name).codeOf(mutation, args, selection)]).toEqual([
        one,
        undefined,
      ]);
    }
    for (const one of ["deleteApplication", "deleteDocument", "setLogicalParent"]) {
      if (name === "documents" && one === "deleteDocument") continue;
      const [mutation, args, selection] = callOf(one);
      expect([mutation, await as(name).codeOf(mutation, args, selection)]).toEqual([one, 403]);
    }
  },
);

test("a column's tags, terms and description have privileges of their own", async () => {
  await grant("tagger", ["EDIT_DATASET_COL_TAGS"], ["dataset"]);
  await write("urn:li:tag:Gold", "tagProperties", { name: "Gold" });
  const resource = { resourceUrn: BEDS, subResource: "id", subResourceType: "DATASET_FIELD" };
  await as("tagger").run("addTag", { input: { tagUrn: "urn:li:tag:Gold", ...resource } });
  for (const [name, input] of [
    ["updateDescription", { description: "x", ...resource }],
    ["addTerm", { termUrn: TERM, ...resource }],
    ["addTag", { tagUrn: "urn:li:tag:Gold", resourceUrn: BEDS }],
  ] as const) {
    expect([name, await as("tagger").codeOf(name, { input })]).toEqual([name, 403]);
  }
  const path = "/editableSchemaFieldInfo/id/globalTags/description";
  const result = await as("tagger").run(
    "patchEntity",
    {
      input: {
        ...{ urn: BEDS, aspectName: "editableSchemaMetadata" },
        patch: [{ op: "ADD", path, value: "x" }],
        arrayPrimaryKeys: [{ arrayField: "editableSchemaFieldInfo", keys: ["fieldPath", "x"] }],
      },
    },
    "{ success error }",
  );
  expect(result).toMatchObject({
    success: false,
    error: expect.stringContaining("may not make this change"),
  });
});

test.each([
  ["createTag", "CREATE_TAGS", "MANAGE_TAGS", "deleteTag", "tag"],
  ["createDomain", "CREATE_DOMAINS", "MANAGE_DOMAINS", "deleteDomain", "domain"],
] as const)(
  "%s needs %s or %s, and %s the second",
  async (create, creates, manages, remove, type) => {
    const names = [`creator-${type}`, `manager-${type}`, `editor-${type}`] as const;
    const [creator, manager, editor] = names;
    await grant(creator, [creates]);
    await grant(manager, [manages]);
    await grant(editor, ["EDIT_ENTITY_DOCS"], [type]);
    const input = (id: string) => ({ input: { id, name: id } });
    expect(await as(editor).codeOf(create, input("denied"))).toBe(403);
    for (const name of [creator, manager]) {
      const urn = `urn:li:${type}:${name}`;
      expect(await as(name).run(create, input(name))).toBe(urn);
      expect(await as(creator).codeOf(remove, { urn })).toBe(403);
      expect(await as(manager).run(remove, { urn })).toBe(true);
    }
  },
);

test("a manager of the children of a glossary node writes the terms in it", async () => {
  const node = (name: string) => `urn:li:glossaryNode:${name}`;
  const info = { definition: "", parentNode: node("top") };
  await write(node("top"), "glossaryNodeInfo", { name: "top", definition: "" });
  await write(node("low"), "glossaryNodeInfo", { name: "low", ...info });
  await write(node("other"), "glossaryNodeInfo", { name: "other", definition: "" });
  for (const [name, privilege] of [
    ["direct", "MANAGE_GLOSSARY_CHILDREN"],
    ["deep", "MANAGE_ALL_GLOSSARY_CHILDREN"],
  ] as const) {
    await grant(name, []);
    await write(`urn:li:dataHubPolicy:${name}`, "dataHubPolicyInfo", {
      ...{ displayName: name, description: "", state: "ACTIVE", privileges: [privilege] },
      ...{ type: "METADATA", actors: { users: [user(name)] } },
      resources: { filter: { criteria: [{ field: "URN", values: [node("top")] }] } },
    });
  }
  const create = (id: string, parent: string | undefined) =>
    [
      ...["createGlossaryTerm" as const],
      { input: { id, name: id, parentNode: parent && node(parent) } },
    ] as const;
  const codes = async (name: string) => {
    const found = [];
    for (const parent of ["top", "low", "other", undefined]) {
      found.push(await as(name).codeOf(...create(`${name}-${parent}`, parent)));
    }
    return found;
  };
  expect(await codes("direct")).toEqual([undefined, 403, 403, 403]);
  expect(await codes("deep")).toEqual([undefined, undefined, 403, 403]);
  // Without an owner: owners may edit what they created.
  const term = "urn:li:glossaryTerm:plain";
  await write(term, "glossaryTermInfo", { ...info, name: "plain", termSource: "INTERNAL" });
  const related = { urn: term, termUrns: [TERM], relationshipType: "hasA" };
  await as("direct").run("addRelatedTerms", { input: related });
  await as("direct").run("updateName", { input: { urn: term, name: "new" } });
  const move = (to: string) => ({ input: { resourceUrn: term, parentNode: node(to) } });
  expect(await as("direct").codeOf("updateParentNode", move("other"))).toBe(403);
  expect(await as("direct").codeOf("updateParentNode", move("low"))).toBe(403);
  await as("deep").run("updateParentNode", move("low"));
  expect(await as("direct").codeOf("deleteGlossaryEntity", { urn: term })).toBe(403);
  await as("deep").run("deleteGlossaryEntity", { urn: term });
});

test("lineage requires the privilege for both ends", async () => {
  await grant("half", []);
  await write("urn:li:dataHubPolicy:half", "dataHubPolicyInfo", {
    ...{ displayName: "half", description: "", state: "ACTIVE", privileges: ["EDIT_LINEAGE"] },
    ...{ type: "METADATA", actors: { users: [user("half")] } },
    resources: { filter: { criteria: [{ field: "URN", values: [BEDS] }] } },
  });
  const edgesToAdd = [{ downstreamUrn: BEDS, upstreamUrn: dataset("soil") }];
  const args = { input: { edgesToAdd, edgesToRemove: [] } };
  expect(await as("half").codeOf("updateLineage", args)).toBe(403);
});

test("the privilege for logical models changes no other dataset", async () => {
  await grant("modeller", ["CREATE_LOGICAL_MODELS"]);
  const own = "urn:li:dataset:(urn:li:dataPlatform:inhouse,beds,PROD)";
  await write(own, "schemaMetadata", schemaOf("id"));
  const before = await as("operator").aspect(own, "schemaMetadata");
  for (const urn of [BEDS, own]) {
    const args = { input: { urn, columns: column } };
    expect([urn, await as("modeller").codeOf("updateLogicalModelSchema", args)]).toEqual([
      urn,
      400,
    ]);
  }
  // A platform that has datasets does not become logical.
  const model = { input: { name: "m", platform: "inhouse", columns: column } };
  expect(await as("modeller").codeOf("createLogicalModel", model)).toBe(400);
  expect(await as("operator").aspect(own, "schemaMetadata")).toEqual(before);
});

test("a respondent of a form answers and verifies it without another privilege", async () => {
  await as("rita").run(...callOf("submitFormPrompt"));
  await as("rita").run(...callOf("verifyForm"));
  expect((await as("operator").aspect(BEDS, "forms")).verifications).toMatchObject([
    { form: FORM },
  ]);
});

test("own settings and views need no privilege, incidents and queries those of their entities", async () => {
  const name = "olga";
  await grant(name, []);
  const incident = { input: { type: "SQL", title: "Late", resourceUrns: [BEDS] } };
  const query = {
    input: {
      properties: { statement: { value: "select 1", language: "SQL" } },
      subjects: [{ datasetUrn: BEDS }],
    },
  };
  const filter = { operator: "AND", filters: [] };
  const view = {
    input: { viewType: "PERSONAL", name: "Mine", definition: { entityTypes: [], filter } },
  };
  await as(name).run("updateCorpUserLocaleSettings", { input: { language: "de" } });
  await as(name).run("createView", view, URN);
  expect(await as(name).codeOf("raiseIncident", incident)).toBe(403);
  expect(await as(name).codeOf("createQuery", query, URN)).toBe(403);

  await grant(name, ["EDIT_ENTITY_INCIDENTS", "EDIT_ENTITY_QUERIES"], ["dataset"]);
  const urn = await as(name).run("raiseIncident", incident);
  await as(name).run("updateIncidentStatus", { urn, input: { state: "RESOLVED" } });
  const { urn: saved } = await as(name).run("createQuery", query, URN);
  await as(name).run("updateQuery", { urn: saved, input: { properties: { name: "Top" } } }, URN);
  expect(await as("mina").codeOf("deleteQuery", { urn: saved })).toBe(403);
  await as(name).run("deleteQuery", { urn: saved });
});
