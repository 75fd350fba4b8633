/**
 * Mutations of views, posts, queries, pages, settings, incidents, contracts, tests, secrets, service
 * accounts and requests of ingestion: what each writes, and which callers and inputs are rejected.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { asActor, ask, faultOf, ROOT } from "./graphql-client.ts";

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
const ada = "urn:li:corpuser:ada";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  await service.client.upsert(ada, "corpUserInfo", { active: true, displayName: "Ada" });
  await service.client.upsert(dataset, "datasetProperties", { customProperties: {} });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function data(query: string, variables: object = {}, actor = ROOT) {
  const { body } = await ask(service.client, query, { ...variables }, asActor(actor));
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return body.data;
}

async function codeOf(query: string, variables: object = {}, actor = ROOT) {
  const fault = faultOf(await ask(service.client, query, { ...variables }, asActor(actor)));
  return fault?.extensions.code;
}

/** The field of a mutation with an input, and what it selects. */
const sending = (name: string, type: string, selected = "") =>
  `mutation($input: ${type}!) { ${name}(input: $input) ${selected} }`;

async function aspect(urn: string, name: string) {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${name})`);
  return body.aspects?.[name]?.value;
}

test("a view is created, changed by its creator only, and deleted", async () => {
  const definition = {
    entityTypes: ["DATASET"],
    filter: { operator: "OR", filters: [{ field: "tags", values: ["urn:li:tag:a"] }] },
  };
  const input = { viewType: "PERSONAL", name: "Mine", definition };
  const create = sending(
    "createView",
    "CreateViewInput",
    "{ urn name viewType definition { entityTypes filter { operator filters { field values } } } }",
  );
  const { createView } = await data(create, { input }, ada);
  expect(createView).toMatchObject({
    ...{ name: "Mine", viewType: "PERSONAL" },
    definition: { entityTypes: ["DATASET"], filter: { filters: [{ field: "tags" }] } },
  });
  expect(await aspect(createView.urn, "dataHubViewInfo")).toMatchObject({
    definition: { entityTypes: ["dataset"] },
    created: { actor: ada },
  });
  const update =
    "mutation($urn: String!, $input: UpdateViewInput!) { updateView(urn: $urn, input: $input) { name description } }";
  const { urn } = createView;
  expect(await data(update, { urn, input: { description: "x" } }, ada)).toEqual({
    updateView: { name: "Mine", description: "x" },
  });
  expect(await codeOf(update, { urn, input: { name: "Hers" } }, "urn:li:corpuser:bob")).toBe(403);
  const global = { input: { ...input, viewType: "GLOBAL" } };
  expect(await codeOf(create, global, ada)).toBe(403);
  const { createView: shared } = await data(create, global);
  const setDefault = sending("updateGlobalViewsSettings", "UpdateGlobalViewsSettingsInput");
  await data(setDefault, { input: { defaultView: shared.urn } });
  expect(await codeOf(setDefault, { input: { defaultView: urn } })).toBe(400);
  await data("mutation($urn: String!) { deleteView(urn: $urn) }", { urn }, ada);
  expect(await codeOf(update, { urn, input: {} }, ada)).toBe(404);
});

test("posts, queries and ownership types are created, changed and deleted", async () => {
  const content = { contentType: "TEXT", title: "Hello", description: null };
  const post = { postType: "HOME_PAGE_ANNOUNCEMENT", content };
  expect(await data(sending("createPost", "CreatePostInput"), { input: post })).toEqual({
    createPost: true,
  });
  expect(await codeOf(sending("createPost", "CreatePostInput"), { input: post }, ada)).toBe(403);

  const properties = { name: "Top", statement: { value: "select 1", language: "SQL" } };
  const query = { properties, subjects: [{ datasetUrn: dataset }] };
  const { createQuery } = await data(
    sending(
      "createQuery",
      "CreateQueryInput",
      "{ urn properties { name source createdOn { actor { urn } } } subjects { dataset { urn } } }",
    ),
    { input: query },
  );
  expect(createQuery).toMatchObject({
    properties: { name: "Top", source: "MANUAL", createdOn: { actor: { urn: ROOT } } },
    subjects: [{ dataset: { urn: dataset } }],
  });
  const change =
    "mutation($urn: String!, $input: UpdateQueryInput!) { updateQuery(urn: $urn, input: $input) { properties { name statement { value } } } }";
  const renamed = { urn: createQuery.urn, input: { properties: { name: "Best" } } };
  expect(await data(change, renamed)).toEqual({
    updateQuery: { properties: { name: "Best", statement: { value: "select 1" } } },
  });
  expect(await codeOf(change, { urn: "urn:li:query:none", input: {} })).toBe(404);
  await data("mutation($urn: String!) { deleteQuery(urn: $urn) }", { urn: createQuery.urn });

  const { createOwnershipType } = await data(
    sending("createOwnershipType", "CreateOwnershipTypeInput", "{ urn info { name } }"),
    { input: { name: "Architect", description: "Draws" } },
  );
  expect(createOwnershipType.info.name).toBe("Architect");
  const { urn } = createOwnershipType;
  await data("mutation($urn: String!) { deleteOwnershipType(urn: $urn) }", { urn });
  const builtIn = "urn:li:ownershipType:__system__technical_owner";
  await data("mutation($urn: String!) { deleteOwnershipType(urn: $urn) }", { urn: builtIn });
  expect(await aspect(builtIn, "status")).toMatchObject({ removed: true });
});

test("pages and settings are changed by their creators, or by users who manage them", async () => {
  const module = {
    ...{ name: "Links", type: "LINK", scope: "PERSONAL" },
    params: { linkParams: { linkUrl: "https://example.org" } },
  };
  const create = sending(
    "upsertPageModule",
    "UpsertPageModuleInput",
    "{ urn properties { name params { linkParams { linkUrl } } } }",
  );
  const { upsertPageModule } = await data(create, { input: module }, ada);
  expect(upsertPageModule.properties).toEqual({
    name: "Links",
    params: { linkParams: { linkUrl: "https://example.org" } },
  });
  expect(await codeOf(create, { input: { ...module, params: {} } }, ada)).toBe(400);
  const stolen = { ...module, urn: upsertPageModule.urn, name: "Stolen" };
  expect(await codeOf(create, { input: stolen }, "urn:li:corpuser:bob")).toBe(403);
  const template = {
    ...{ rows: [{ modules: [upsertPageModule.urn] }], scope: "PERSONAL", surfaceType: "HOME_PAGE" },
  };
  const { upsertPageTemplate } = await data(
    sending(
      "upsertPageTemplate",
      "UpsertPageTemplateInput",
      "{ urn properties { rows { modules { urn } } } }",
    ),
    { input: template },
    ada,
  );
  const home = sending("updateUserHomePageSettings", "UpdateUserHomePageSettingsInput");
  const announcement = "urn:li:post:one";
  const pageTemplate = upsertPageTemplate.urn;
  await data(home, { input: { pageTemplate, newDismissedAnnouncements: [announcement] } }, ada);
  await data(home, { input: { newDismissedAnnouncements: ["urn:li:post:two"] } }, ada);
  const locale = sending("updateCorpUserLocaleSettings", "UpdateCorpUserLocaleSettingsInput");
  await data(locale, { input: { language: "de" } }, ada);
  const setting = sending("updateUserSetting", "UpdateUserSettingInput");
  await data(setting, { input: { name: "SHOW_THEME_V2", value: true } }, ada);
  expect(await aspect(ada, "corpUserSettings")).toMatchObject({
    appearance: { showThemeV2: true },
    homePage: { pageTemplate, dismissedAnnouncements: [announcement, "urn:li:post:two"] },
    locale: { language: "de" },
  });
  const states = [{ id: "tour-a", properties: [{ key: "seen", value: "true" }] }];
  const steps = sending(
    "batchUpdateStepStates",
    "BatchUpdateStepStatesInput",
    "{ results { id succeeded } }",
  );
  expect(await data(steps, { input: { states } }, ada)).toEqual({
    batchUpdateStepStates: { results: [{ id: "tour-a", succeeded: true }] },
  });
});

test("incidents, contracts and tests are stored as their aspects", async () => {
  const incident = {
    ...{ type: "FRESHNESS", title: "Late", resourceUrns: [dataset], priority: "HIGH" },
    assigneeUrns: [ada],
  };
  const raise = sending("raiseIncident", "RaiseIncidentInput");
  const { raiseIncident: urn } = await data(raise, { input: incident });
  const read = `{ entity(urn: "${urn}") { ... on Incident { incidentType title priority incidentStatus { state }
    assignees { ... on CorpUser { urn } } entity { urn } } } }`;
  const raised = {
    ...{ incidentType: "FRESHNESS", title: "Late", priority: "HIGH" },
    ...{ incidentStatus: { state: "ACTIVE" }, assignees: [{ urn: ada }], entity: { urn: dataset } },
  };
  expect(await data(read)).toEqual({ entity: raised });
  const update =
    "mutation($urn: String!, $input: UpdateIncidentInput!) { updateIncident(urn: $urn, input: $input) }";
  await data(update, { urn, input: { title: "Very late" } });
  const status =
    "mutation($urn: String!, $input: IncidentStatusInput!) { updateIncidentStatus(urn: $urn, input: $input) }";
  await data(status, { urn, input: { state: "RESOLVED" } });
  const resolved = { title: "Very late", incidentStatus: { state: "RESOLVED" } };
  expect(await data(read)).toEqual({ entity: { ...raised, ...resolved } });
  expect(await codeOf(raise, { input: { type: "SQL" } })).toBe(400);
  expect(await codeOf(raise, { input: { type: "CUSTOM", resourceUrn: dataset } })).toBe(400);
  expect(await codeOf(status, { urn: "urn:li:incident:none", input: { state: "ACTIVE" } })).toBe(
    404,
  );

  const custom = { entityUrn: dataset, type: "x", description: "y", platform: { name: "dbt" } };
  const { upsertCustomAssertion } = await data(
    sending("upsertCustomAssertion", "UpsertCustomAssertionInput", "{ urn }"),
    { input: custom },
  );
  const assertion = upsertCustomAssertion.urn;
  const contract = sending(
    "upsertDataContract",
    "UpsertDataContractInput",
    "{ urn properties { entityUrn dataQuality { assertion { urn } } } }",
  );
  const input = { entityUrn: dataset, dataQuality: [{ assertionUrn: assertion }] };
  const { upsertDataContract: first } = await data(contract, { input });
  expect(first.properties).toEqual({
    entityUrn: dataset,
    dataQuality: [{ assertion: { urn: assertion } }],
  });
  const { upsertDataContract: second } = await data(contract, { input });
  expect(second.urn).toBe(first.urn);

  const definition = { json: '{"on":{"types":["dataset"]}}' };
  const given = { input: { id: "owned", name: "Owned", category: "Rules", definition } };
  const create = sending("createTest", "CreateTestInput");
  expect(await data(create, given)).toEqual({ createTest: "urn:li:test:owned" });
  expect(await codeOf(create, given)).toBe(400);
  expect(await codeOf(create, given, ada)).toBe(403);
});

test("secrets are stored encrypted, and decrypted for callers who manage them", async () => {
  const create = sending("createSecret", "CreateSecretInput");
  const input = { name: "warehouse", value: "open sesame" };
  const { createSecret: urn } = await data(create, { input });
  expect(urn).toBe("urn:li:dataHubSecret:warehouse");
  expect(await codeOf(create, { input })).toBe(400);
  expect(await codeOf(create, { input }, ada)).toBe(403);
  const values =
    "query($input: GetSecretValuesInput!) { getSecretValues(input: $input) { name value } }";
  const asked = { input: { secrets: ["warehouse", "none"] } };
  expect(await data(values, asked)).toEqual({ getSecretValues: [input] });
  expect(await codeOf(values, asked, ada)).toBe(403);
  const stored = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  expect(JSON.stringify(stored.body)).not.toContain("sesame");
  const update = sending("updateSecret", "UpdateSecretInput");
  await data(update, { input: { ...input, urn, value: "new" } });
  expect((await data(values, asked)).getSecretValues).toEqual([
    { name: "warehouse", value: "new" },
  ]);

  const connection = {
    type: "JSON",
    platformUrn: "urn:li:dataPlatform:hive",
    json: { blob: "{}" },
  };
  const upsert = sending(
    "upsertConnection",
    "UpsertDataHubConnectionInput",
    "{ urn details { name json { blob } } platform { urn } }",
  );
  const { upsertConnection } = await data(upsert, { input: { ...connection, id: "one" } });
  expect(upsertConnection).toEqual({
    urn: "urn:li:dataHubConnection:one",
    details: { name: "one", json: { blob: "{}" } },
    platform: { urn: "urn:li:dataPlatform:hive" },
  });
  expect(await codeOf(upsert, { input: connection }, ada)).toBe(403);
});

test("service accounts, profiles and ingestion requests are stored as entities", async () => {
  const create = sending(
    "createServiceAccount",
    "CreateServiceAccountInput",
    "{ urn name displayName }",
  );
  const { createServiceAccount: account } = await data(create, { input: { displayName: "Robot" } });
  expect(account).toMatchObject({ displayName: "Robot" });
  expect(await aspect(account.urn, "subTypes")).toEqual({ typeNames: ["SERVICE_ACCOUNT"] });
  const remove = "mutation($urn: String!) { deleteServiceAccount(urn: $urn) }";
  expect(await codeOf(remove, { urn: ada })).toBe(400);
  await data(remove, { urn: account.urn });

  const profile =
    "mutation($urn: String!, $input: CorpUserUpdateInput!) { updateCorpUserProperties(urn: $urn, input: $input) { editableProperties { displayName skills } } }";
  const changed = { urn: ada, input: { displayName: "Ada L.", skills: ["engines"] } };
  expect(await data(profile, changed, ada)).toEqual({
    updateCorpUserProperties: {
      editableProperties: { displayName: "Ada L.", skills: ["engines"] },
    },
  });
  expect(await codeOf(profile, changed, "urn:li:corpuser:bob")).toBe(403);

  const removeUser = "mutation($urn: String!) { removeUser(urn: $urn) }";
  expect(await codeOf(removeUser, { urn: ROOT }, ada)).toBe(403);
  expect(await codeOf(removeUser, { urn: dataset })).toBe(400);
  expect(await codeOf(removeUser, { urn: "urn:li:corpuser:none" })).toBe(404);

  const config = { recipe: '{"source":{"type":"mysql"}}', executorId: "default" };
  const { createIngestionSource: source } = await data(
    sending("createIngestionSource", "UpdateIngestionSourceInput"),
    { input: { name: "Shop", type: "mysql", config } },
  );
  const run = sending("createIngestionExecutionRequest", "CreateIngestionExecutionRequestInput");
  const { createIngestionExecutionRequest: urn } = await data(run, {
    input: { ingestionSourceUrn: source },
  });
  const read = `{ entity(urn: "${urn}") { ... on ExecutionRequest { input { task actorUrn arguments { key value } } source { name } } } }`;
  const { entity } = await data(read);
  expect(entity).toMatchObject({
    input: { task: "RUN_INGEST", actorUrn: ROOT },
    source: { name: "Shop" },
  });
  const recipe = entity.input.arguments.find(({ key }: { key: string }) => key === "recipe");
  expect(JSON.parse(recipe.value)).toMatchObject({ run_id: urn, pipeline_name: source });
  const cancel = sending("cancelIngestionExecutionRequest", "CancelIngestionExecutionRequestInput");
  await data(cancel, { input: { ingestionSourceUrn: source, executionRequestUrn: urn } });
  expect(await aspect(urn, "dataHubExecutionRequestSignal")).toMatchObject({ signal: "KILL" });
});
