/** Entities and what is done to them, as clients of DataHub ask it in GraphQL. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask, faultOf } from "./graphql-client.ts";

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
const derived = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.revenue,PROD)";
const missing = "urn:li:dataset:(urn:li:dataPlatform:hive,nowhere,PROD)";
const ada = "urn:li:corpuser:ada";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  const { client } = service;
  await client.upsert("urn:li:dataPlatform:hive", "dataPlatformInfo", {
    ...{ name: "hive", displayName: "Apache Hive", type: "FILE_SYSTEM", datasetNameDelimiter: "." },
  });
  await client.upsert(ada, "corpUserInfo", { active: true, displayName: "Ada", email: "a@b.c" });
  await client.upsert(dataset, "datasetProperties", {
    ...{ name: "orders", description: "One row per order", customProperties: { tier: "gold" } },
  });
  await client.upsert(derived, "upstreamLineage", {
    upstreams: [{ dataset, type: "TRANSFORMED" }],
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const data = async (query: string, variables: Readonly<Record<string, unknown>> = {}) => {
  const { body } = await ask(service.client, query, variables);
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return body.data;
};
const fault = async (query: string, variables: Readonly<Record<string, unknown>> = {}) =>
  faultOf(await ask(service.client, query, variables));
const aspect = async (urn: string, name: string) => {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${name})`);
  return body.aspects[name]?.value;
};
const shown = (query: string, variables: Readonly<Record<string, unknown>>, position?: number) =>
  service.client
    .call("GET", "/openapi/v3/entity/tag?count=0", undefined, {
      "X-Annals-Min-Position": String(position),
    })
    .then(() => data(query, variables));

describe("an entity", () => {
  test("is read by its urn, with its aspects and the entities that it refers to", async () => {
    const found = await data(
      `query($urn: String!) {
        entity(urn: $urn) { urn type ... on Dataset {
          name origin exists
          platform { urn name properties { displayName } }
          properties { name description customProperties { key value } }
          tags { tags { tag { urn } } } ownership { owners { type } } domain { domain { urn } }
          aspects(input: {aspectNames: ["datasetProperties"]}) { aspectName payload }
        } }
        dataset(urn: $urn) { urn }
        chart(urn: $urn) { urn }
      }`,
      { urn: dataset },
    );
    expect(found).toMatchObject({
      entity: {
        ...{ urn: dataset, type: "DATASET", name: "orders", origin: "PROD", exists: true },
        platform: { name: "hive", properties: { displayName: "Apache Hive" } },
        properties: {
          ...{ name: "orders", description: "One row per order" },
          customProperties: [{ key: "tier", value: "gold" }],
        },
        ...{ tags: null, ownership: null, domain: null },
        aspects: [{ aspectName: "datasetProperties", payload: expect.stringContaining("gold") }],
      },
      dataset: { urn: dataset },
      chart: null,
    });
  });

  test("a missing entity is null; a query of its type returns exists: false", async () => {
    const query = `query($urns: [String!]!, $urn: String!) {
      entities(urns: $urns) { urn } entityExists(urn: $urn) dataset(urn: $urn) { exists platform { urn } } }`;
    const urns = [missing, dataset, "urn:li:spaceship:x"];
    expect(await data(query, { urns, urn: missing })).toEqual({
      entities: [null, { urn: dataset }, null],
      ...{
        entityExists: false,
        dataset: { exists: false, platform: { urn: "urn:li:dataPlatform:hive" } },
      },
    });
  });

  test("has its schema in every version", async () => {
    const { client } = service;
    const told = (fieldPath: string) =>
      client.upsert(dataset, "schemaMetadata", {
        ...{ schemaName: "s", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
        platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
        fields: [
          {
            ...{ fieldPath, nativeDataType: "x" },
            type: { type: { "com.linkedin.schema.StringType": {} } },
          },
        ],
      });
    await told("before");
    await told("now");
    const fields = "{ createdAt fields { fieldPath } }";
    const createdAt = expect.any(Number);
    const found = await data(
      `query($urn: String!) { dataset(urn: $urn) { latest: schemaMetadata(version: 0) ${fields}
        first: schemaMetadata(version: 1) ${fields} none: schemaMetadata(version: 9) ${fields} } }`,
      { urn: dataset },
    );
    expect(found.dataset).toEqual({
      latest: { createdAt, fields: [{ fieldPath: "now" }] },
      first: { createdAt, fields: [{ fieldPath: "before" }] },
      none: null,
    });
    expect(found.dataset.latest.createdAt).toBeGreaterThanOrEqual(found.dataset.first.createdAt);
  });

  test("the columns of a schema are read in pages", async () => {
    await service.client.upsert(dataset, "schemaMetadata", {
      ...{ schemaName: "s", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
      platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
      fields: ["a", "b", "c", "d"].map((fieldPath) => ({
        ...{ fieldPath, nativeDataType: "x" },
        type: { type: { "com.linkedin.schema.StringType": {} } },
      })),
    });
    const found = await data(
      `{ dataset(urn: "${dataset}") { schemaMetadata {
        page: fields(start: 1, count: 2) { fieldPath } rest: fields(start: 3) { fieldPath }
        past: fields(start: 4, count: 2) { fieldPath } } } }`,
    );
    expect(found.dataset.schemaMetadata).toEqual({
      page: [{ fieldPath: "b" }, { fieldPath: "c" }],
      rest: [{ fieldPath: "d" }],
      past: [],
    });
  });

  test("an entity has its description beside its properties", async () => {
    await service.client.upsert("urn:li:tag:gold", "tagProperties", {
      ...{ name: "gold", description: "The best" },
    });
    const found = await data(
      `{ dataset(urn: "${dataset}") { description } tag(urn: "urn:li:tag:gold") { description }
        none: tag(urn: "urn:li:tag:plain") { description } }`,
    );
    expect(found).toEqual({
      dataset: { description: "One row per order" },
      tag: { description: "The best" },
      none: null,
    });
  });

  test("of type user has its properties, groups and roles", async () => {
    const urn = "urn:li:corpuser:grace";
    const info = { firstName: "Grace", lastName: "H", departmentId: 7, countryCode: "us" };
    await service.client.upsert(urn, "corpUserInfo", {
      ...{ ...info, active: true, managerUrn: ada, customProperties: { desk: "4" } },
    });
    const found = await data(
      `query($urn: String!) { corpUser(urn: $urn) { properties { firstName lastName departmentId
        countryCode manager { urn } customProperties { key value } } } }`,
      { urn },
    );
    expect(found.corpUser.properties).toEqual({
      ...{ ...info, manager: { urn: ada }, customProperties: [{ key: "desk", value: "4" }] },
    });
  });

  test("has its neighbors", async () => {
    const found = await data(
      `query($urn: String!) { dataset(urn: $urn) { relationships(input: {types: ["DownstreamOf"], direction: INCOMING}) {
        total relationships { type direction entity { urn type } } } } }`,
      { urn: dataset },
    );
    expect(found.dataset.relationships).toEqual({
      total: 1,
      relationships: [
        ...[
          {
            type: "DownstreamOf",
            direction: "INCOMING",
            entity: { urn: derived, type: "DATASET" },
          },
        ],
      ],
    });
  });

  test("a request for too many entities is rejected", async () => {
    const urns = Array.from({ length: 1_001 }, () => dataset);
    expect(
      await fault("query($urns: [String!]!) { entities(urns: $urns) { urn } }", { urns }),
    ).toMatchObject({
      message: expect.stringContaining("1001 members; at most 1000 are allowed"),
      extensions: { code: 400 },
    });
  });
});

describe("a job", () => {
  const flow = "urn:li:dataFlow:(airflow,nightly,PROD)";
  const job = `urn:li:dataJob:(${flow},load)`;
  const run = (i: number) => `urn:li:dataProcessInstance:run${i}`;
  const told = (i: number) => [
    [
      "dataProcessInstanceProperties",
      { name: `run ${i}`, created: { time: 100 + i, actor: ada } },
    ] as const,
    ["dataProcessInstanceRelationships", { parentTemplate: job, upstreamInstances: [] }] as const,
  ];

  test("has its runs, latest write first, without soft-deleted ones", async () => {
    const { client } = service;
    await client.upsert(job, "dataJobInfo", { name: "load", type: { string: "COMMAND" } });
    for (const i of [1, 2, 3]) {
      for (const [name, value] of told(i)) await client.upsert(run(i), name, value);
    }
    const other = { parentTemplate: `urn:li:dataJob:(${flow},other)`, upstreamInstances: [] };
    await client.upsert(run(4), "dataProcessInstanceRelationships", other);
    for (const [name, value] of told(5)) await client.upsert(run(5), name, value);
    await client.upsert(run(5), "status", { removed: true });
    const found = await data(
      `query($job: String!) { dataJob(urn: $job) {
        all: runs { total }
        runs(start: 1, count: 2) { start count total runs { urn created { time actor } __typename } } } }`,
      { job },
    );
    expect(found.dataJob).toEqual({
      all: { total: 3 },
      runs: {
        ...{ start: 1, count: 2, total: 3 },
        runs: [2, 1].map((i) => ({
          urn: run(i),
          created: { time: 100 + i, actor: ada },
          __typename: "DataProcessInstance",
        })),
      },
    });
  });

  test("has the time of the last ingestion", async () => {
    const query = `query($urns: [String!]!) { entities(urns: $urns) {
      ... on DataFlow { lastIngested } ... on DataJob { lastIngested } } }`;
    const last = async () => (await data(query, { urns: [flow, job] })).entities;
    const tell = (aspectName: string, value: object, systemMetadata?: object) =>
      service.client.call("POST", "/aspects?action=ingestProposal", {
        proposal: {
          ...{ entityType: "dataFlow", entityUrn: flow, changeType: "UPSERT", aspectName },
          aspect: { value: JSON.stringify(value), contentType: "application/json" },
          ...(systemMetadata && { systemMetadata }),
        },
      });
    await tell("status", { removed: false });
    expect(await last()).toEqual([{ lastIngested: null }, { lastIngested: null }]);
    await tell("dataFlowInfo", { name: "f" }, { runId: "r1", lastObserved: 3_000 });
    await tell("globalTags", { tags: [] }, { runId: "r2", lastObserved: 2_000 });
    expect(await last()).toEqual([{ lastIngested: 3_000 }, { lastIngested: null }]);
    // A run that told nothing new told of it, too.
    await tell("status", { removed: false }, { runId: "r3", lastObserved: 5_000 });
    expect(await last()).toEqual([{ lastIngested: 5_000 }, { lastIngested: null }]);
  });
});

describe("a form", () => {
  const form = "urn:li:form:f";
  const assign = (formUrn: string, orFilters: string) =>
    `mutation { createDynamicFormAssignment(input: {formUrn: "${formUrn}" orFilters: ${orFilters}}) }`;
  const hive = "urn:li:dataPlatform:hive";

  test("gets its entities by a filter", async () => {
    await service.client.upsert(form, "formInfo", { name: "f", type: "COMPLETION", prompts: [] });
    const platform = `{ field: "platform", values: ["${hive}"], condition: EQUAL, negated: false }`;
    const other = '{ field: "origin", value: "PROD", negated: true }';
    const done = await data(assign(form, `[{ and: [${platform}, ${other}] }, { and: [] }]`));
    expect(done).toEqual({ createDynamicFormAssignment: true });
    expect(await aspect(form, "dynamicFormAssignment")).toMatchObject({
      filter: {
        or: [
          {
            and: [
              { field: "platform", values: [hive], condition: "EQUAL", negated: false },
              { field: "origin", values: ["PROD"], condition: "EQUAL", negated: true },
            ],
          },
          { and: [] },
        ],
      },
    });
  });

  test("that does not exist, or a filter without criteria, is rejected", async () => {
    expect((await fault(assign("urn:li:form:none", "[{and: []}]"))).extensions.code).toBe(404);
    expect((await fault(assign(dataset, "[{and: []}]"))).extensions.code).toBe(400);
    expect((await fault(assign(form, "[]"))).message).toContain("orFilters is empty");
  });
});

test("lineage has degrees and paths, and pages", async () => {
  const urn = dataset;
  const input = {
    ...{ urn, direction: "DOWNSTREAM", count: 1, types: null },
    orFilters: [
      {
        and: [
          { field: "degree", condition: "EQUAL", values: ["1", "2", "3+"] },
          { field: "removed", condition: "EQUAL", values: ["true"], negated: true },
        ],
      },
    ],
  };
  const query = `query scrollAcrossLineage($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) {
    nextScrollId total searchResults { degree entity { urn type ... on Dataset { name platform { name } properties { description } }
      ... on DataJob { jobId dataPlatformInstance { platform { name } } properties { name description } } } paths { path { urn type } } } } }`;
  await expect.poll(async () => (await data(query, { input })).scrollAcrossLineage.total).toBe(1);
  const { scrollAcrossLineage: first } = await data(query, { input });
  expect(first.searchResults[0]).toMatchObject({
    ...{ degree: 1, entity: { urn: derived, platform: { name: "hive" } } },
    paths: [{ path: [{ urn }, { urn: derived, type: "DATASET" }] }],
  });
  const { searchAcrossLineage } = await data(
    `query($input: SearchAcrossLineageInput!) { searchAcrossLineage(input: $input) { start total isPartial searchResults { entity { urn } } } }`,
    { input: { urn: derived, direction: "UPSTREAM", query: "*" } },
  );
  expect(searchAcrossLineage).toEqual({
    ...{ start: 0, total: 1, isPartial: false },
    searchResults: [{ entity: { urn } }],
  });
});

describe("labels", () => {
  const tag = "urn:li:tag:Gold";
  const term = "urn:li:glossaryTerm:Revenue";
  const resource = { resourceUrn: dataset };
  const column = { ...resource, subResourceType: "DATASET_FIELD", subResource: "price/net" };
  const mutate = (name: string, type: string, input: object) =>
    data(`mutation($input: ${type}!) { ${name}(input: $input) }`, { input });

  test("are created, and rejected when they exist", async () => {
    const input = { id: "Gold", name: "Gold" };
    expect(await mutate("createTag", "CreateTagInput", input)).toEqual({ createTag: tag });
    expect(await aspect(tag, "ownership")).toMatchObject({
      owners: [{ owner: "urn:li:corpuser:datahub", type: "TECHNICAL_OWNER" }],
    });
    const again = "mutation($input: CreateTagInput!) { createTag(input: $input) }";
    expect(await fault(again, { input })).toMatchObject({ extensions: { code: 400 } });
    expect(await fault(again, { input: { name: " " } })).toMatchObject({
      extensions: { code: 400 },
    });
    const { createGlossaryNode: parentNode } = await mutate(
      "createGlossaryNode",
      "CreateGlossaryEntityInput",
      {
        name: "Finance",
      },
    );
    await mutate("createGlossaryTerm", "CreateGlossaryEntityInput", {
      id: "Revenue",
      name: "Revenue",
      parentNode,
    });
    expect(await aspect(term, "glossaryTermInfo")).toMatchObject({ name: "Revenue", parentNode });
    await data(
      `mutation { setTagColor(urn: "${tag}", colorHex: "#fc0") updateTag(urn: "${tag}", input: {name: "Golden"}) { urn } }`,
    );
    expect(await aspect(tag, "tagProperties")).toMatchObject({ name: "Golden", colorHex: "#fc0" });
  });

  test("are added to entities and columns, and removed", async () => {
    await service.client.upsert(dataset, "schemaMetadata", {
      ...{ schemaName: "orders", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
      platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
      fields: [
        {
          ...{ fieldPath: "price/net", nativeDataType: "int" },
          type: { type: { "com.linkedin.schema.NumberType": {} } },
        },
      ],
    });
    await mutate("addTag", "TagAssociationInput", { tagUrn: tag, ...resource });
    await mutate("addTags", "AddTagsInput", { tagUrns: [tag], ...column });
    await mutate("batchAddTerms", "BatchAddTermsInput", {
      termUrns: [term],
      resources: [resource, column],
    });
    expect(await aspect(dataset, "globalTags")).toMatchObject({ tags: [{ tag }] });
    expect(await aspect(dataset, "editableSchemaMetadata")).toMatchObject({
      editableSchemaFieldInfo: [
        {
          fieldPath: "price/net",
          globalTags: { tags: [{ tag }] },
          glossaryTerms: { terms: [{ urn: term }] },
        },
      ],
    });
    const found = await data(
      `{ dataset(urn: "${dataset}") { tags { tags { tag { urn name } } } glossaryTerms { terms { term { properties { name } } } }
         editableSchemaMetadata { editableSchemaFieldInfo { fieldPath tags { tags { tag { name } } } } } } }`,
    );
    expect(found.dataset).toMatchObject({
      tags: { tags: [{ tag: { urn: tag, name: "Golden" } }] },
      glossaryTerms: { terms: [{ term: { properties: { name: "Revenue" } } }] },
      editableSchemaMetadata: {
        editableSchemaFieldInfo: [
          { fieldPath: "price/net", tags: { tags: [{ tag: { name: "Golden" } }] } },
        ],
      },
    });
    await data(
      `mutation removeTag { removeTag(input: { tagUrn: "${tag}", resourceUrn: "${dataset}" }) }`,
    );
    await mutate("batchRemoveTags", "BatchRemoveTagsInput", {
      tagUrns: [tag],
      resources: [column],
    });
    await mutate("batchRemoveTerms", "BatchRemoveTermsInput", {
      termUrns: [term],
      resources: [resource],
    });
    expect(await aspect(dataset, "globalTags")).toEqual({ tags: [] });
    expect((await aspect(dataset, "glossaryTerms")).terms).toEqual([]);
  });

  test("such as owners, domains, descriptions, deprecation, links and soft deletes are written", async () => {
    const typeUrn = "urn:li:ownershipType:__system__data_steward";
    await mutate("addOwner", "AddOwnerInput", {
      ownerUrn: ada,
      ownerEntityType: "CORP_USER",
      type: "TECHNICAL_OWNER",
      ...resource,
    });
    await mutate("batchAddOwners", "BatchAddOwnersInput", {
      owners: [{ ownerUrn: ada, ownershipTypeUrn: typeUrn }],
      resources: [resource],
    });
    const owned =
      await data(`{ dataset(urn: "${dataset}") { ownership { owners { type ownershipType { urn } owner {
      ... on CorpUser { urn username properties { displayName } } ... on CorpGroup { urn name } } } } } }`);
    expect(owned.dataset.ownership.owners).toMatchObject([
      {
        type: "TECHNICAL_OWNER",
        ownershipType: { urn: "urn:li:ownershipType:__system__technical_owner" },
        owner: { username: "ada", properties: { displayName: "Ada" } },
      },
      { type: "DATA_STEWARD", ownershipType: { urn: typeUrn } },
    ]);
    await mutate("removeOwner", "RemoveOwnerInput", {
      ownerUrn: ada,
      ownershipTypeUrn: typeUrn,
      ...resource,
    });
    expect((await aspect(dataset, "ownership")).owners).toHaveLength(1);
    await mutate("batchRemoveOwners", "BatchRemoveOwnersInput", {
      ownerUrns: [ada],
      resources: [resource],
    });
    expect((await aspect(dataset, "ownership")).owners).toEqual([]);

    const { createDomain: domainUrn } = await mutate("createDomain", "CreateDomainInput", {
      id: "sales",
      name: "Sales",
    });
    await data(`mutation { setDomain(entityUrn: "${dataset}", domainUrn: "${domainUrn}") }`);
    expect(
      (
        await data(
          `{ dataset(urn: "${dataset}") { domain { domain { urn properties { name } } } } }`,
        )
      ).dataset.domain,
    ).toEqual({
      domain: { urn: domainUrn, properties: { name: "Sales" } },
    });
    await data(`mutation { unsetDomain(entityUrn: "${dataset}") }`);
    expect((await aspect(dataset, "domains")).domains).toEqual([]);

    await mutate("updateDescription", "DescriptionUpdateInput", {
      description: "mine",
      ...resource,
    });
    await mutate("updateDescription", "DescriptionUpdateInput", {
      description: "of a column",
      ...column,
    });
    expect(await aspect(dataset, "editableDatasetProperties")).toMatchObject({
      description: "mine",
    });
    expect(
      (await aspect(dataset, "editableSchemaMetadata")).editableSchemaFieldInfo[0],
    ).toMatchObject({ description: "of a column" });

    await mutate("updateDeprecation", "UpdateDeprecationInput", {
      urn: dataset,
      deprecated: true,
      note: "old",
    });
    expect((await aspect(dataset, "deprecation")).decommissionTime).toBeUndefined();
    await mutate("updateDeprecation", "UpdateDeprecationInput", {
      ...{ urn: dataset, deprecated: true, note: "old", decommissionTime: 0 },
    });
    expect((await aspect(dataset, "deprecation")).decommissionTime).toBe(0);
    await mutate("addLink", "AddLinkInput", {
      linkUrl: "https://example.org/a~b",
      label: "wiki",
      ...resource,
    });
    const labelled = await data(`{ dataset(urn: "${dataset}") { editableProperties { description }
      deprecation { deprecated note actor } institutionalMemory { elements { url label } } } }`);
    expect(labelled.dataset).toMatchObject({
      editableProperties: { description: "mine" },
      deprecation: { deprecated: true, note: "old", actor: "urn:li:corpuser:datahub" },
      institutionalMemory: { elements: [{ url: "https://example.org/a~b", label: "wiki" }] },
    });
    await mutate("removeLink", "RemoveLinkInput", {
      linkUrl: "https://example.org/a~b",
      ...resource,
    });
    expect(await aspect(dataset, "institutionalMemory")).toEqual({ elements: [] });

    await mutate("batchUpdateSoftDeleted", "BatchUpdateSoftDeletedInput", {
      urns: [dataset],
      deleted: true,
    });
    expect(await aspect(dataset, "status")).toEqual({ removed: true });
    await mutate("batchUpdateSoftDeleted", "BatchUpdateSoftDeletedInput", {
      urns: [dataset],
      deleted: false,
    });
  });

  test("without aspects get a description and a color", async () => {
    for (const urn of ["urn:li:tag:bare", "urn:li:domain:bare", "urn:li:glossaryTerm:bare"]) {
      await service.client.upsert(urn, "ownership", { owners: [{ owner: ada, type: "NONE" }] });
      const input = { resourceUrn: urn, description: "told" };
      await mutate("updateDescription", "DescriptionUpdateInput", input);
      const found = await data(
        `{ entity(urn: "${urn}") { ... on Tag { properties { name description } } ... on Domain { properties { name description } }
           ... on GlossaryTerm { properties { name description } } } }`,
      );
      expect(found.entity.properties).toEqual({ name: "bare", description: "told" });
    }
    await service.client.upsert("urn:li:tag:grey", "ownership", { owners: [] });
    await data('mutation { setTagColor(urn: "urn:li:tag:grey", colorHex: "#888") }');
    expect(await aspect("urn:li:tag:grey", "tagProperties")).toEqual({
      name: "grey",
      colorHex: "#888",
    });
  });

  test("are deleted together with the references to them", async () => {
    await mutate("addTag", "TagAssociationInput", { tagUrn: tag, ...resource });
    expect(await data(`mutation { deleteTag(urn: "${tag}") }`)).toEqual({ deleteTag: true });
    expect(await data(`{ entityExists(urn: "${tag}") }`)).toEqual({ entityExists: false });
    expect(await aspect(dataset, "globalTags")).toEqual({ tags: [] });
  });

  test.each([
    ["addTag", "TagAssociationInput", { tagUrn: "urn:li:tag:none", ...resource }, 404],
    ["addTag", "TagAssociationInput", { tagUrn: dataset, ...resource }, 400],
    ["addTag", "TagAssociationInput", { tagUrn: "'; drop", ...resource }, 400],
    ["addOwner", "AddOwnerInput", { ownerUrn: dataset, ...resource }, 400],
    ["addOwner", "AddOwnerInput", { ownerUrn: ada, type: "NONE", resourceUrn: missing }, 404],
    [
      "updateDescription",
      "DescriptionUpdateInput",
      { description: "x", resourceUrn: "urn:li:corpuser:ada" },
      400,
    ],
    [
      "updateDescription",
      "DescriptionUpdateInput",
      { description: "x", resourceUrn: "\u0000" },
      400,
    ],
    [
      "batchUpdateSoftDeleted",
      "BatchUpdateSoftDeletedInput",
      { urns: [missing], deleted: true },
      404,
    ],
    [
      "batchSetDomain",
      "BatchSetDomainInput",
      { domainUrn: "urn:li:domain:none", resources: [resource] },
      404,
    ],
    ["updateName", "UpdateNameInput", { urn: dataset, name: "x" }, 400],
  ])("%s(%s) with %j is rejected", async (name, type, input, code) => {
    const query = `mutation($input: ${type}!) { ${name}(input: $input) }`;
    expect(await fault(query, { input })).toMatchObject({ extensions: { code } });
  });
});

test.each([
  ["moveDomain", "MoveDomainInput", "createDomain", "CreateDomainInput", "parentDomain"],
  [
    "updateParentNode",
    "UpdateParentNodeInput",
    "createGlossaryNode",
    "CreateGlossaryEntityInput",
    "parentNode",
  ],
])("%s puts nothing below itself", async (move, moveType, create, createType, field) => {
  const made: string[] = [];
  for (const id of ["top", "middle", "low"]) {
    const parent = made.at(-1);
    const input = { id: `${move}-${id}`, name: id, ...(parent && { [field]: parent }) };
    const { [create]: urn } = await data(
      `mutation($input: ${createType}!) { ${create}(input: $input) }`,
      { input },
    );
    made.push(urn);
  }
  const [top = "", middle = "", low = ""] = made;
  const query = `mutation($input: ${moveType}!) { ${move}(input: $input) }`;
  for (const below of [top, middle, low]) {
    const input = { resourceUrn: top, [field]: below };
    expect(await fault(query, { input })).toMatchObject({ extensions: { code: 400 } });
  }
  for (const parent of [top, null, middle]) {
    expect(await data(query, { input: { resourceUrn: low, [field]: parent } })).toEqual({
      [move]: true,
    });
  }
});

test("groups have members, and users have roles", async () => {
  const { createGroup: group } = await data(
    `mutation { createGroup(input: {id: "team", name: "Team"}) }`,
  );
  await data(`mutation { addGroupMembers(input: {groupUrn: "${group}", userUrns: ["${ada}"]}) }`);
  expect(await aspect(ada, "nativeGroupMembership")).toEqual({ nativeGroups: [group] });
  await data(
    `mutation { removeGroupMembers(input: {groupUrn: "${group}", userUrns: ["${ada}"]}) }`,
  );
  expect(await aspect(ada, "nativeGroupMembership")).toEqual({ nativeGroups: [] });
  const role = "urn:li:dataHubRole:Reader";
  await data(`mutation($input: BatchAssignRoleInput!) { batchAssignRole(input: $input) }`, {
    input: { roleUrn: role, actors: [ada] },
  });
  expect(await aspect(ada, "roleMembership")).toEqual({ roles: [role] });
});

const changeMembers = (change: "add" | "remove", groupUrn: string, ...userUrns: string[]) =>
  ask(
    service.client,
    `mutation($groupUrn: String!, $userUrns: [String!]!) {
      ${change}GroupMembers(input: {groupUrn: $groupUrn, userUrns: $userUrns})
    }`,
    { groupUrn, userUrns },
  );

test("removing a member of a group removes both forms of membership", async () => {
  const [ivy, noor] = ["urn:li:corpuser:ivy", "urn:li:corpuser:noor"] as const;
  const [group, other] = ["urn:li:corpGroup:growers", "urn:li:corpGroup:others"] as const;
  const { client } = service;
  for (const one of [group, other]) {
    await client.upsert(one, "corpGroupInfo", { admins: [], members: [], groups: [] });
  }
  await client.upsert(ivy, "groupMembership", { groups: [other, group] });
  await client.upsert(ivy, "nativeGroupMembership", { nativeGroups: [group, other] });
  await client.upsert(noor, "corpUserInfo", { active: true });
  const { body } = await changeMembers("remove", group, ivy, noor);
  expect(body.data).toEqual({ removeGroupMembers: true });
  expect(await aspect(ivy, "groupMembership")).toEqual({ groups: [other] });
  expect(await aspect(ivy, "nativeGroupMembership")).toEqual({ nativeGroups: [other] });
  // A user who is no member gets no aspect.
  expect(await aspect(noor, "groupMembership")).toBeUndefined();
  expect(await aspect(noor, "nativeGroupMembership")).toBeUndefined();
});

test("members of a group from an external provider cannot be changed", async () => {
  const [group, user] = ["urn:li:corpGroup:okta", "urn:li:corpuser:okta-user"] as const;
  const { client } = service;
  await client.upsert(group, "origin", { type: "EXTERNAL", externalType: "OKTA" });
  await client.upsert(user, "groupMembership", { groups: [group] });
  for (const change of ["add", "remove"] as const) {
    expect(faultOf(await changeMembers(change, group, user))).toMatchObject({
      message: expect.stringContaining(`"${group}" was ingested from an external provider`),
      extensions: { code: 400 },
    });
  }
  expect(await aspect(user, "groupMembership")).toEqual({ groups: [group] });
  expect(await aspect(user, "nativeGroupMembership")).toBeUndefined();
});

test("a group that is created in the catalog is native", async () => {
  const { createGroup } = await data('mutation { createGroup(input: {name: "Potters"}) }');
  expect(await aspect(createGroup, "origin")).toEqual({ type: "NATIVE" });
  expect(await aspect(createGroup, "corpGroupInfo")).toMatchObject({ displayName: "Potters" });
});

test("versions are linked in their order, and the latest one is unlinked", async () => {
  const set = "urn:li:versionSet:(v1,dataset)";
  const link = (linkedEntity: string, version: string) =>
    data("mutation($input: LinkVersionInput!) { linkAssetVersion(input: $input) { urn } }", {
      input: { versionSet: set, linkedEntity, version },
    });
  expect(await link(dataset, "one")).toEqual({ linkAssetVersion: { urn: set } });
  await link(derived, "two");
  expect(await aspect(set, "versionSetProperties")).toMatchObject({ latest: derived });
  const [first, second] = [
    await aspect(dataset, "versionProperties"),
    await aspect(derived, "versionProperties"),
  ];
  expect([first.isLatest, second.isLatest]).toEqual([false, true]);
  expect(first.sortId < second.sortId).toBe(true);
  const unlink =
    "mutation($input: UnlinkVersionInput!) { unlinkAssetVersion(input: $input) { urn } }";
  await data(unlink, { input: { versionSet: set, unlinkedEntity: derived } });
  expect(await aspect(set, "versionSetProperties")).toMatchObject({ latest: dataset });
  expect(await aspect(dataset, "versionProperties")).toMatchObject({ isLatest: true });
  expect(await aspect(derived, "versionProperties")).toBeUndefined();
  expect(
    await fault(unlink, { input: { versionSet: set, unlinkedEntity: derived } }),
  ).toMatchObject({ extensions: { code: 400 } });
});

test("sources of ingestion are deployed, listed with their runs, and deleted", async () => {
  const urn = "urn:li:dataHubIngestionSource:deploy-1";
  const input = {
    ...{ name: "nightly", type: "snowflake", schedule: { interval: "5 4 * * *", timezone: "UTC" } },
    config: { recipe: "{}", executorId: "default", debugMode: false, version: null },
  };
  const deploy =
    "mutation updateIngestionSource($urn: String!, $input: UpdateIngestionSourceInput!) { updateIngestionSource(urn: $urn, input: $input) }";
  expect(await data(deploy, { urn, input })).toEqual({ updateIngestionSource: urn });
  const request = "urn:li:dataHubExecutionRequest:run-1";
  await service.client.upsert(request, "dataHubExecutionRequestInput", {
    ...{ task: "RUN_INGEST", args: {}, executorId: "x", requestedAt: 5 },
    source: { type: "MANUAL", ingestionSource: urn },
  });
  await service.client.upsert(request, "dataHubExecutionRequestResult", {
    status: "SUCCESS",
    startTimeMs: 7,
  });
  const list =
    "query listIngestionRuns($input: ListIngestionSourcesInput!) { listIngestionSources(input: $input) { total ingestionSources { urn name schedule { interval } executions { executionRequests { id result { startTimeMs status } } } } } }";
  const filters = [{ field: "name", values: ["NIGHT"], condition: "CONTAIN" }];
  expect(
    (await data(list, { input: { start: 0, count: 100, filters } })).listIngestionSources,
  ).toEqual({
    total: 1,
    ingestionSources: [
      {
        ...{ urn, name: "nightly", schedule: { interval: "5 4 * * *" } },
        executions: {
          executionRequests: [{ id: "run-1", result: { startTimeMs: 7, status: "SUCCESS" } }],
        },
      },
    ],
  });
  const none = [{ field: "name", values: ["daily"], condition: "CONTAIN" }];
  expect((await data(list, { input: { filters: none } })).listIngestionSources.total).toBe(0);
  expect(
    await fault(list, { input: { filters: [{ field: "recipe", values: ["x"] }] } }),
  ).toMatchObject({ extensions: { code: 400 } });
  expect(await data(`mutation { deleteIngestionSource(urn: "${urn}") }`)).toEqual({
    deleteIngestionSource: urn,
  });
  expect((await data(list, { input: {} })).listIngestionSources.total).toBe(0);
});

test("an incident without entities is an error that names the incident", async () => {
  const urn = "urn:li:incident:nowhere";
  const actor = "urn:li:corpuser:x";
  const stamp = { time: 0, actor };
  const info = { type: "OPERATIONAL", entities: [], created: stamp };
  await service.client.upsert(urn, "incidentInfo", {
    ...info,
    status: { state: "ACTIVE", lastUpdated: stamp },
  });
  const query = `{ entity(urn: "${urn}") { ... on Incident { entity { urn } } } }`;
  expect(await fault(query)).toMatchObject({
    message: `"${urn}" names no entity. Write its incidentInfo with one`,
    extensions: { code: 400 },
  });
});

test("a custom assertion keeps its columns, operator and parameters", async () => {
  const { upsertCustomAssertion } = await data(
    `mutation($input: UpsertCustomAssertionInput!) { upsertCustomAssertion(input: $input) { urn } }`,
    {
      input: {
        ...{ entityUrn: dataset, type: "range", description: "in range", fieldPath: null },
        ...{ fieldPaths: ["id", "name"], platform: { name: "great" }, logic: "" },
        ...{
          scope: "DATASET_COLUMN",
          aggregation: "MAX",
          operator: "BETWEEN",
          nativeType: "between",
        },
        parameters: {
          value: null,
          minValue: { value: "1", type: "NUMBER" },
          maxValue: { value: "9", type: "NUMBER" },
        },
        nativeParameters: [{ key: "strict", value: "yes" }],
      },
    },
  );
  const { assertion } = await data(
    `query($urn: String!) { assertion(urn: $urn) { info { customAssertion {
      type entityUrn field { path } fields { urn path } scope aggregation operator nativeType logic
      parameters { value { value } minValue { value type } maxValue { value } } nativeParameters { key value }
    } } } }`,
    upsertCustomAssertion,
  );
  expect(assertion.info.customAssertion).toEqual({
    ...{ type: "range", entityUrn: dataset, field: null, logic: null },
    fields: [
      { urn: dataset, path: "id" },
      { urn: dataset, path: "name" },
    ],
    ...{ scope: "DATASET_COLUMN", aggregation: "MAX", operator: "BETWEEN", nativeType: "between" },
    parameters: { value: null, minValue: { value: "1", type: "NUMBER" }, maxValue: { value: "9" } },
    nativeParameters: [{ key: "strict", value: "yes" }],
  });
  await data(`mutation { deleteAssertion(urn: "${upsertCustomAssertion.urn}") }`);
});

test("results of assertions and operations are reported, and read latest first", async () => {
  const { upsertCustomAssertion } = await data(
    `mutation($input: UpsertCustomAssertionInput!) { upsertCustomAssertion(urn: null, input: $input) { urn } }`,
    {
      input: {
        entityUrn: dataset,
        type: "freshness",
        description: "fresh",
        platform: { name: "great" },
      },
    },
  );
  const { urn } = upsertCustomAssertion;
  for (const [timestampMillis, type] of [
    [1_000, "SUCCESS"],
    [2_000, "FAILURE"],
  ]) {
    await data(
      "mutation($urn: String!, $result: AssertionResultInput!) { reportAssertionResult(urn: $urn, result: $result) }",
      {
        urn,
        result: {
          timestampMillis,
          type,
          properties: [{ key: "rows", value: "7" }],
          severity: null,
          error: null,
        },
      },
    );
  }
  const { dataset: found } = await data(
    `query($urn: String!, $limit: Int, $filter: FilterInput) { dataset(urn: $urn) { assertions(start: 0, count: 10) { total assertions {
      urn runEvents(status: COMPLETE, limit: $limit, filter: $filter) { total failed succeeded runEvents { timestampMillis assertionUrn result { type nativeResults { key value } } } } } } } }`,
    { urn: dataset, limit: 10, filter: null },
  );
  expect(found.assertions).toMatchObject({
    total: 1,
    assertions: [
      {
        urn,
        runEvents: {
          ...{ total: 2, failed: 1, succeeded: 1 },
          runEvents: [
            {
              timestampMillis: 2_000,
              result: { type: "FAILURE", nativeResults: [{ key: "rows", value: "7" }] },
            },
            { timestampMillis: 1_000, result: { type: "SUCCESS" } },
          ],
        },
      },
    ],
  });
  await data(
    `mutation { reportOperation(input: {urn: "${dataset}", sourceType: DATA_PROCESS, operationType: UPDATE, numAffectedRows: 3, partition: "p1", customProperties: [{key: "a", value: "b"}]}) }`,
  );
  const { dataset: operated } = await data(
    `{ dataset(urn: "${dataset}") { operations(limit: 5) { operationType sourceType numAffectedRows partition customProperties { key value } } } }`,
  );
  expect(operated.operations).toEqual([
    {
      operationType: "UPDATE",
      sourceType: "DATA_PROCESS",
      numAffectedRows: 3,
      partition: "p1",
      customProperties: [{ key: "a", value: "b" }],
    },
  ]);
});

test("typed text is completed, and folders are browsed", async () => {
  const { position } = await service.client.upsert("urn:li:tag:Completed", "tagProperties", {
    name: "Completed",
  });
  const found = await shown(
    `query($a: AutoCompleteInput!, $m: AutoCompleteMultipleInput!, $v: BrowseV2Input!, $b: BrowseInput!) {
      autoComplete(input: $a) { suggestions entities { urn } }
      autoCompleteForMultiple(input: $m) { suggestions { type suggestions entities { urn } } }
      browseV2(input: $v) { total groups { name count } metadata { path totalNumEntities } }
      browse(input: $b) { total groups { name count } metadata { path totalNumEntities } } }`,
    {
      ...{ a: { type: "TAG", query: "compl" }, m: { types: ["TAG", "DOMAIN"], query: "compl" } },
      ...{ v: { type: "DATASET", path: [], query: "*" }, b: { type: "DATASET" } },
    },
    position,
  );
  expect(found.autoComplete).toEqual({
    suggestions: ["Completed"],
    entities: [{ urn: "urn:li:tag:Completed" }],
  });
  expect(found.autoCompleteForMultiple.suggestions).toEqual([
    { type: "TAG", suggestions: ["Completed"], entities: [{ urn: "urn:li:tag:Completed" }] },
  ]);
  expect(found.browseV2.total).toBeGreaterThan(0);
  const below = found.browseV2.groups.reduce(
    (sum: number, group: { count: number }) => sum + group.count,
    0,
  );
  expect(found.browseV2.metadata).toEqual({ path: [], totalNumEntities: below });
  expect(found.browse.groups).toEqual([{ name: "prod", count: 2 }]);
  expect(found.browse.metadata).toEqual({ path: [], totalNumEntities: 2 });
});

test("the configuration of the service is returned", async () => {
  expect(
    await data(
      "{ appConfig { telemetryConfig { enableThirdPartyLogging } semanticSearchConfig { enabled } } }",
    ),
  ).toEqual({
    appConfig: {
      telemetryConfig: { enableThirdPartyLogging: false },
      semanticSearchConfig: { enabled: false },
    },
  });
});

test("column lineage returns datasets or columns, even columns without aspects", async () => {
  const column = (of: string, name: string) => `urn:li:schemaField:(${of},${name})`;
  const further = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.report,PROD)";
  const lineage = (from: string, to: string) => ({
    upstreams: [{ dataset: from, type: "TRANSFORMED" }],
    fineGrainedLineages: [
      {
        ...{ upstreamType: "FIELD_SET", downstreamType: "FIELD" },
        ...{ upstreams: [column(from, "net")], downstreams: [column(to, "net")] },
      },
    ],
  });
  await service.client.upsert(derived, "upstreamLineage", lineage(dataset, derived));
  await service.client.upsert(further, "upstreamLineage", lineage(derived, further));
  const criteria = { baseEntityType: "SCHEMA_FIELD", groupingEntityType: "SCHEMA_FIELD" };
  const input = {
    ...{ urn: column(dataset, "net"), direction: "DOWNSTREAM", count: 1 },
    searchFlags: { groupingSpec: { groupingCriteria: criteria } },
    orFilters: [
      {
        and: [
          { field: "degree", condition: "EQUAL", values: ["1", "2", "3+"] },
          { field: "removed", condition: "EQUAL", values: ["true"], negated: true },
        ],
      },
    ],
  };
  const result = `total searchResults { degree entity { urn type } paths { path { urn } } }
    facets { field aggregations { value count } }`;
  const scroll = `query($input: ScrollAcrossLineageInput!) {
    scrollAcrossLineage(input: $input) { nextScrollId ${result} } }`;
  await expect.poll(async () => (await data(scroll, { input })).scrollAcrossLineage.total).toBe(2);
  const { scrollAcrossLineage: first } = await data(scroll, { input });
  const next = { ...input, scrollId: first.nextScrollId };
  const { scrollAcrossLineage: second } = await data(scroll, { input: next });
  expect([first.total, second.total]).toEqual([2, 2]);
  const path = (...of: readonly string[]) => ({
    path: of.map((one) => ({ urn: column(one, "net") })),
  });
  expect([...first.searchResults, ...second.searchResults]).toEqual([
    {
      ...{ degree: 1, entity: { urn: derived, type: "DATASET" } },
      paths: [path(dataset, derived)],
    },
    {
      ...{ degree: 2, entity: { urn: further, type: "DATASET" } },
      paths: [path(dataset, derived, further)],
    },
  ]);
  const degrees = first.facets.find(({ field }: { field: string }) => field === "degree");
  expect(degrees.aggregations.map(({ count }: { count: number }) => count)).toEqual([1, 1, 0]);

  const search = `query($input: SearchAcrossLineageInput!) {
    searchAcrossLineage(input: $input) { ${result} } }`;
  const searched = async (more: object) =>
    (await data(search, { input: { ...input, count: 10, ...more } })).searchAcrossLineage;
  const urnsOf = ({ searchResults }: { searchResults: { entity: { urn: string } }[] }) =>
    searchResults.map(({ entity }) => entity.urn);
  expect(urnsOf(await searched({}))).toEqual([column(derived, "net"), column(further, "net")]);
  expect(urnsOf(await searched({ searchFlags: {} }))).toEqual([derived, further]);
  expect(urnsOf(await searched({ searchFlags: null }))).toEqual([derived, further]);
  // A query searches documents, which these columns do not have.
  expect((await searched({ query: "net", orFilters: [] })).total).toBe(0);
});

test("policies are listed with those that come with the service, written and deleted", async () => {
  const list = `query($query: String) { listPolicies(input: {count: 100, query: $query}) { total policies {
    urn type policyType name state privileges editable actors { users allUsers } resources { filter { criteria { field values { value } condition } } } } } }`;
  const { listPolicies: before } = await data(list);
  const fixed = before.policies.find(({ editable }: { editable: boolean }) => !editable);
  expect(fixed).toMatchObject({ type: "PLATFORM", state: "ACTIVE" });
  const input = {
    ...{ type: "METADATA", name: "Gardeners", state: "ACTIVE", privileges: ["VIEW_ENTITY_PAGE"] },
    actors: { users: [ada], resourceOwners: false, allUsers: false, allGroups: false },
    resources: { filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] } },
  };
  const create = "mutation($input: PolicyUpdateInput!) { createPolicy(input: $input) }";
  const { createPolicy: urn } = await data(create, { input });
  const update =
    "mutation($urn: String!, $input: PolicyUpdateInput!) { updatePolicy(urn: $urn, input: $input) }";
  await data(update, { urn, input: { ...input, state: "INACTIVE" } });
  const { listPolicies: found } = await data(list, { query: "garden" });
  expect(found).toMatchObject({
    total: 1,
    policies: [
      {
        ...{ urn, policyType: "METADATA", state: "INACTIVE", editable: true },
        actors: { users: [ada], allUsers: false },
        resources: {
          filter: {
            criteria: [{ field: "TYPE", values: [{ value: "dataset" }], condition: "EQUALS" }],
          },
        },
      },
    ],
  });
  expect(await fault(update, { urn: fixed.urn, input })).toMatchObject({
    extensions: { code: 400 },
  });
  const none = "urn:li:dataHubPolicy:none";
  expect(await fault(update, { urn: none, input })).toMatchObject({ extensions: { code: 404 } });
  await data("mutation($urn: String!) { deletePolicy(urn: $urn) }", { urn });
  expect((await data(list)).listPolicies.total).toBe(before.total);
});

describe("lists of related entities and the soft-deleted", () => {
  const table = "urn:li:dataset:(urn:li:dataPlatform:hive,asserted,PROD)";
  const assertion = (i: number) => `urn:li:assertion:soft${i}`;
  const all = [1, 2, 3].map(assertion);

  beforeAll(async () => {
    const { client } = service;
    await client.upsert(table, "datasetProperties", { name: "asserted", customProperties: {} });
    for (const urn of all) {
      const value = {
        ...{ type: "CUSTOM", customProperties: {} },
        customAssertion: { type: "freshness", entity: table },
      };
      expect((await client.upsert(urn, "assertionInfo", value)).status).toBe(200);
    }
    await client.upsert(assertion(2), "status", { removed: true });
  });

  const asserted = async (arguments_: string) => {
    const { dataset } = await data(
      `query($urn: String!) { dataset(urn: $urn) { assertions${arguments_} {
        start count total assertions { urn } } } }`,
      { urn: table },
    );
    const { assertions, ...page } = dataset.assertions;
    return { ...page, urns: assertions.map(({ urn }: { urn: string }) => urn) };
  };

  test("assertions omits soft-deleted assertions and does not count them", async () => {
    const page = { start: 0, count: 2, total: 2, urns: [assertion(1), assertion(3)] };
    expect(await asserted("")).toEqual(page);
    expect(await asserted("(includeSoftDeleted: false)")).toEqual(page);
    expect(await asserted("(start: 1, count: 1)")).toEqual({
      ...{ start: 1, count: 1, total: 2, urns: [assertion(3)] },
    });
  });

  test("assertions returns soft-deleted assertions on request", async () => {
    expect(await asserted("(includeSoftDeleted: true)")).toEqual({
      ...{ start: 0, count: 3, total: 3, urns: all },
    });
  });

  test("relationships omits soft-deleted entities if includeSoftDelete is false", async () => {
    const related = async (more: string) => {
      const { dataset } = await data(
        `query($urn: String!) { dataset(urn: $urn) { relationships(
          input: {types: ["Asserts"], direction: INCOMING${more}}) {
          count total relationships { entity { urn } } } } }`,
        { urn: table },
      );
      const { relationships, ...page } = dataset.relationships;
      return [page, relationships.map((one: { entity: { urn: string } }) => one.entity.urn)];
    };
    expect(await related("")).toEqual([{ count: 3, total: 3 }, all]);
    expect(await related(", includeSoftDelete: true")).toEqual([{ count: 3, total: 3 }, all]);
    expect(await related(", includeSoftDelete: false")).toEqual([
      { count: 2, total: 2 },
      [assertion(1), assertion(3)],
    ]);
  });

  test("a soft-deleted version does not become the latest of its set", async () => {
    const set = "urn:li:versionSet:(soft,dataset)";
    const version = (i: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,version${i},PROD)`;
    const link = `mutation($input: LinkVersionInput!) { linkAssetVersion(input: $input) { urn } }`;
    for (const i of [1, 2, 3]) {
      const value = { name: `v${i}`, customProperties: {} };
      await service.client.upsert(version(i), "datasetProperties", value);
      const input = { versionSet: set, linkedEntity: version(i), version: `v${i}` };
      await data(link, { input });
    }
    await service.client.upsert(version(2), "status", { removed: true });
    await data(
      `mutation($input: UnlinkVersionInput!) { unlinkAssetVersion(input: $input) { urn } }`,
      { input: { versionSet: set, unlinkedEntity: version(3) } },
    );
    const { entity } = await data(
      "query($urn: String!) { entity(urn: $urn) { ... on VersionSet { latestVersion { urn } } } }",
      { urn: set },
    );
    expect(entity.latestVersion.urn).toBe(version(1));
  });
});

test("unlinking the latest version promotes the next in a set that aspects have made", async () => {
  const setUrn = "urn:li:versionSet:(written,dataset)";
  const version = (i: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,written${i},PROD)`;
  for (const i of [1, 2, 3]) {
    await service.client.upsert(version(i), "versionProperties", {
      ...{ versionSet: setUrn, version: { versionTag: `v${i}` }, sortId: `A${i}` },
    });
  }
  await data(
    "mutation($input: UnlinkVersionInput!) { unlinkAssetVersion(input: $input) { urn } }",
    { input: { versionSet: setUrn, unlinkedEntity: version(3) } },
  );
  expect(await aspect(setUrn, "versionSetProperties")).toMatchObject({
    latest: version(2),
    versioningScheme: "LEXICOGRAPHIC_STRING",
  });
  expect(await aspect(version(2), "versionProperties")).toMatchObject({ isLatest: true });
});

test("a domain with child domains cannot be deleted", async () => {
  const create = "mutation($input: CreateDomainInput!) { createDomain(input: $input) }";
  const remove = "mutation($urn: String!) { deleteDomain(urn: $urn) }";
  const { createDomain: parent } = await data(create, { input: { id: "above", name: "Above" } });
  const { createDomain: child } = await data(create, {
    input: { id: "below", name: "Below", parentDomain: parent },
  });
  expect(await fault(remove, { urn: parent })).toMatchObject({
    message: expect.stringContaining("which has child domains"),
  });
  expect(await data(remove, { urn: child })).toEqual({ deleteDomain: true });
  expect(await data(remove, { urn: parent })).toEqual({ deleteDomain: true });
});
