/**
 * Entities of the types that sample.ts lacks, and the queries of entity-roots.test.ts, which read
 * them, search for them and follow their lineage.
 */
import type { Client } from "../../support/client.ts";
import { asActor, ask, ROOT } from "../graphql-client.ts";
import { clicks, job, orders, run, sales, shop, stamp, view, writeSample } from "./sample.ts";

const hive = "urn:li:dataPlatform:hive";
const stamps = { created: stamp, lastModified: stamp };

/** By root field, the entity that it returns, with the value of one of its aspects. */
const entities: Readonly<Record<string, readonly [urn: string, aspect: string, value: object]>> = {
  chart: [
    "urn:li:chart:(looker,sales)",
    "chartInfo",
    { title: "Sales", description: "by day", inputs: [{ string: orders }], lastModified: stamps },
  ],
  dashboard: [
    "urn:li:dashboard:(looker,board)",
    "dashboardInfo",
    {
      ...{ title: "Board", description: "of sales", lastModified: stamps },
      chartEdges: [{ destinationUrn: "urn:li:chart:(looker,sales)" }],
    },
  ],
  dataFlow: [
    "urn:li:dataFlow:(airflow,shop,PROD)",
    "dataFlowInfo",
    { name: "shop", description: "each night" },
  ],
  notebook: [
    "urn:li:notebook:(querybook,1)",
    "notebookInfo",
    { title: "Notes", changeAuditStamps: stamps },
  ],
  mlModel: [`urn:li:mlModel:(${hive},churn,PROD)`, "mlModelProperties", { description: "Churn" }],
  mlModelGroup: [
    `urn:li:mlModelGroup:(${hive},churn,PROD)`,
    "mlModelGroupProperties",
    { name: "Churn", description: "all of them" },
  ],
  mlFeature: [
    "urn:li:mlFeature:(customers,age)",
    "mlFeatureProperties",
    { description: "Age", dataType: "COUNT" },
  ],
  mlFeatureTable: [
    `urn:li:mlFeatureTable:(${hive},customers)`,
    "mlFeatureTableProperties",
    { description: "Customers", mlFeatures: ["urn:li:mlFeature:(customers,age)"] },
  ],
  mlPrimaryKey: [
    "urn:li:mlPrimaryKey:(customers,id)",
    "mlPrimaryKeyProperties",
    { description: "Id", sources: [orders] },
  ],
  dataPlatform: [
    hive,
    "dataPlatformInfo",
    { name: "hive", displayName: "Hive", type: "FILE_SYSTEM", datasetNameDelimiter: "." },
  ],
  dataPlatformInstance: [
    `urn:li:dataPlatformInstance:(${hive},main)`,
    "dataPlatformInstanceProperties",
    { name: "Main" },
  ],
  erModelRelationship: [
    "urn:li:erModelRelationship:orders-clicks",
    "erModelRelationshipProperties",
    {
      ...{ name: "orders-clicks", source: orders, destination: clicks, ...stamps },
      relationshipFieldMappings: [{ sourceField: "id", destinationField: "order" }],
    },
  ],
  form: ["urn:li:form:owners", "formInfo", { name: "Owners", type: "COMPLETION", prompts: [] }],
  structuredProperty: [
    "urn:li:structuredProperty:retention",
    "propertyDefinition",
    {
      ...{ qualifiedName: "retention", displayName: "Retention", cardinality: "SINGLE" },
      ...{ valueType: "urn:li:dataType:datahub.string" },
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    },
  ],
  application: ["urn:li:application:web", "applicationProperties", { name: "Web" }],
  metric: [
    `urn:li:metric:(${hive},shop,revenue)`,
    "metricInfo",
    { name: "Revenue", description: "of a day", ...stamps },
  ],
  semanticModel: [
    `urn:li:semanticModel:(${hive},shop,sales)`,
    "semanticModelInfo",
    { name: "Sales", description: "of the shop", ...stamps },
  ],
  versionSet: [
    "urn:li:versionSet:(churn,mlModel)",
    "versionSetProperties",
    {
      latest: `urn:li:mlModel:(${hive},churn,PROD)`,
      versioningScheme: "LEXICOGRAPHIC_STRING",
    },
  ],
  ingestionSource: [
    "urn:li:dataHubIngestionSource:nightly",
    "dataHubIngestionSourceInfo",
    {
      ...{ name: "Nightly", type: "hive", config: { recipe: "{}", executorId: "default" } },
      schedule: { interval: "0 0 * * *", timezone: "UTC" },
    },
  ],
  executionRequest: [
    "urn:li:dataHubExecutionRequest:first",
    "dataHubExecutionRequestInput",
    {
      ...{ task: "RUN_INGEST", args: { recipe: "{}" }, executorId: "default", requestedAt: 7 },
      source: { type: "MANUAL", ingestionSource: "urn:li:dataHubIngestionSource:nightly" },
    },
  ],
};

/** The identifier of the connection, and the name of the secret. */
const CONNECTION = "warehouse";
const SECRET = "password";

/** Writes both samples; returns the log position after them. */
export async function writeEntities(client: Client): Promise<number> {
  let last = await writeSample(client);
  const written = [
    [orders, "applications", { applications: [urnOf("application")] }],
    ["urn:li:dataType:datahub.string", "dataTypeInfo", { qualifiedName: "datahub.string" }],
    ["urn:li:entityType:datahub.dataset", "entityTypeInfo", { qualifiedName: "datahub.dataset" }],
    ...Object.values(entities),
  ] as const;
  for (const [urn, aspect, value] of written) {
    const reply = await client.upsert(urn, aspect, value);
    if (reply.status !== 200) throw new Error(`${urn} ${aspect}: ${JSON.stringify(reply.body)}`);
    last = reply.position ?? last;
  }
  const reply = await ask(
    client,
    `mutation {
      upsertConnection(input: {id: "${CONNECTION}", type: JSON, platformUrn: "${hive}", name: "Warehouse",
        json: {blob: "{}"}}) { urn }
      createSecret(input: {name: "${SECRET}", value: "s3cret"}) }`,
    {},
    asActor(ROOT),
  );
  if (reply.body.errors !== undefined) throw new Error(JSON.stringify(reply.body));
  return reply.position ?? last;
}

const urnOf = (root: string): string => entities[root]?.[0] ?? "";

/** A root with the entity of its name, and fields of it. */
const byUrn = (root: string, fields: string, urn = urnOf(root)): string =>
  `${root}(urn: "${urn}") { urn type ${fields} }`;

const PROPERTIES = "properties { name description }";
const LINEAGE = "total searchResults { entity { urn } degree } facets { field }";

export const queries: Readonly<Record<string, string>> = {
  assets: `{
    ${byUrn("dataset", "name platform { urn name } properties { name }", orders)}
    ${byUrn("chart", `tool chartId ${PROPERTIES} platform { urn }`)}
    ${byUrn("dashboard", `tool dashboardId ${PROPERTIES}`)}
    ${byUrn("dataFlow", `orchestrator flowId cluster ${PROPERTIES}`)}
    ${byUrn("dataJob", "jobId dataFlow { urn } properties { name }", job)}
    ${byUrn("dataProcessInstance", "name", run)}
    ${byUrn("container", "properties { name } platform { urn }", shop)}
    ${byUrn("notebook", "tool notebookId info { title }")}
    ${byUrn(
      "erModelRelationship",
      `id properties { name source { urn } destination { urn }
      relationshipFieldMappings { sourceField destinationField } createdTime }`,
    )}
    ${byUrn("metric", "path id info { name description }")}
    ${byUrn("semanticModel", "path id info { name description }")}
  }`,
  "machine learning": `{
    ${byUrn("mlModel", "name origin properties { description }")}
    ${byUrn("mlModelGroup", `name origin ${PROPERTIES}`)}
    ${byUrn("mlFeature", "name featureNamespace dataType properties { description }")}
    ${byUrn("mlFeatureTable", "name properties { description mlFeatures { urn } }")}
    ${byUrn("mlPrimaryKey", "name featureNamespace properties { description sources { urn } }")}
    ${byUrn("versionSet", "latestVersion { urn }")}
  }`,
  organisation: `{
    ${byUrn("dataPlatform", "name properties { displayName type datasetNameDelimiter }")}
    ${byUrn("dataPlatformInstance", "instanceId platform { urn } properties { name }")}
    ${byUrn("domain", "id properties { name createdOn { time } }", sales)}
    ${byUrn("tag", "name properties { name }", "urn:li:tag:pii")}
    ${byUrn("glossaryTerm", PROPERTIES, "urn:li:glossaryTerm:revenue")}
    ${byUrn("glossaryNode", PROPERTIES, "urn:li:glossaryNode:money")}
    ${byUrn("dataProduct", "properties { name }", "urn:li:dataProduct:shop")}
    ${byUrn("application", "properties { name numAssets }")}
    ${byUrn("document", "info { title }", "urn:li:document:guide")}
    ${byUrn("corpUser", "username properties { displayName }", "urn:li:corpuser:ada")}
    ${byUrn("corpGroup", "name properties { displayName }", "urn:li:corpGroup:analysts")}
    ${byUrn("role", "id properties { name }", "urn:li:role:reader")}
  }`,
  governance: `{
    ${byUrn("assertion", "info { type customAssertion { type entityUrn } }", "urn:li:assertion:fresh")}
    ${byUrn("businessAttribute", "properties { name }", "urn:li:businessAttribute:mail")}
    ${byUrn("form", "info { name type }")}
    ${byUrn("structuredProperty", "definition { qualifiedName displayName cardinality valueType { urn } }")}
    ${byUrn("test", "name category", "urn:li:test:owned")}
    ${byUrn("view", "name viewType", view)}
    ingestionSource(urn: "${urnOf("ingestionSource")}") { urn name type schedule { interval } config { executorId }
      executions(start: 0, count: 10) { total executionRequests { urn } } }
    ${byUrn("executionRequest", "input { task requestedAt arguments { key value } source { type } }")}
    connection(urn: "urn:li:dataHubConnection:${CONNECTION}") { urn details { type name } platform { urn } }
    listIngestionSources(input: {}) { total ingestionSources { urn } }
    getSecretValues(input: {secrets: ["${SECRET}", "none"]}) { name value }
    listPolicies(input: {}) { total }
  }`,
  anything: `{
    entity(urn: "${urnOf("chart")}") { urn type }
    entities(urns: ["${orders}", "urn:li:tag:none"], checkForExistence: true) { urn }
    entityExists(urn: "urn:li:tag:none")
    search(input: {type: DATASET, query: "orders"}) { total searchResults { entity { urn } matchedFields { name } } }
    autoComplete(input: {type: DATASET, query: "ord"}) { query suggestions entities { urn } }
    browse(input: {type: DATASET, path: ["prod"]}) { total entities { urn } groups { name count } metadata { path } }
    browseV2(input: {type: DATASET, path: []}) { total groups { name count hasSubGroups } }
    searchAcrossLineage(input: {urn: "${orders}", direction: UPSTREAM}) { ${LINEAGE} }
    scrollAcrossLineage(input: {urn: "${clicks}", direction: DOWNSTREAM}) { nextScrollId ${LINEAGE} }
  }`,
};

/** Queries of random tokens; $token is a token of the caller. */
export const tokenQueries = `query($token: String!) {
  listAccessTokens(input: {}) { total tokens { name actorUrn } }
  getAccessTokenMetadata(token: $token) { name actorUrn }
}`;

/** Roots that create tokens: apart from those that read them, because roots run concurrently. */
export const createdTokens = `{
  getAccessToken(input: {type: PERSONAL, actorUrn: "${ROOT}", duration: ONE_HOUR}) { __typename }
  getInviteToken(input: {}) { __typename }
}`;

/** Queries without data, which return errors. */
export const rejected: readonly string[] = [
  '{ semanticSearch(input: {type: TAG, query: "x"}) { total } }',
  '{ semanticSearchAcrossEntities(input: {query: "x"}) { total } }',
  `{ getPresignedUploadUrl(input: {scenario: ASSET_DOCUMENTATION, assetUrn: "${orders}",
     contentType: "text/plain"}) { url } }`,
];
