/** A small catalog of every kind that the queries list, written as the root user. */
import type { Client } from "../../support/client.ts";

export const orders = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
export const clicks = "urn:li:dataset:(urn:li:dataPlatform:kafka,shop.clicks,PROD)";
export const ada = "urn:li:corpuser:ada";
export const robot = "urn:li:corpuser:service_robot";
export const shop = "urn:li:container:shop";
export const sales = "urn:li:domain:sales";
export const stamp = { time: 1_700_000_000_000, actor: ada };
export const view = "urn:li:dataHubView:hive";
export const draft = "urn:li:document:draft";

const field = (fieldPath: string, nativeDataType: string) => ({
  ...{ fieldPath, nativeDataType, nullable: false, recursive: false, isPartOfKey: false },
  type: { type: { "com.linkedin.schema.StringType": {} } },
});

const schema = (...fields: readonly object[]) => ({
  ...{ schemaName: "orders", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields,
});

const assertion = "urn:li:assertion:fresh";
const incident = "urn:li:incident:late";
export const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,shop,PROD),load)";
export const run = "urn:li:dataProcessInstance:run1";

type Written = readonly [urn: string, aspect: string, value: object];

const aspects: readonly Written[] = [
  [ada, "corpUserInfo", { active: true, displayName: "Ada", title: "Analyst" }],
  [robot, "corpUserInfo", { active: true, displayName: "Robot", title: "Loads" }],
  [robot, "subTypes", { typeNames: ["SERVICE_ACCOUNT"] }],
  [
    "urn:li:corpGroup:analysts",
    "corpGroupInfo",
    { displayName: "Analysts", admins: [], members: [], groups: [], created: stamp },
  ],
  ["urn:li:dataHubRole:Editor", "dataHubRoleInfo", { name: "Editor", description: "Edits" }],
  ["urn:li:corpGroup:analysts", "roleMembership", { roles: ["urn:li:dataHubRole:Editor"] }],
  [ada, "groupMembership", { groups: ["urn:li:corpGroup:analysts"] }],
  [sales, "domainProperties", { name: "Sales", created: stamp }],
  ["urn:li:domain:web", "domainProperties", { name: "Web", parentDomain: sales }],
  ["urn:li:glossaryNode:money", "glossaryNodeInfo", { name: "Money", definition: "of the shop" }],
  [
    "urn:li:glossaryTerm:revenue",
    "glossaryTermInfo",
    {
      ...{ name: "Revenue", definition: "income", termSource: "INTERNAL" },
      parentNode: "urn:li:glossaryNode:money",
    },
  ],
  [
    "urn:li:ownershipType:steward",
    "ownershipTypeInfo",
    { name: "Steward", created: stamp, lastModified: stamp },
  ],
  [
    "urn:li:query:top",
    "queryProperties",
    {
      ...{ name: "Top", source: "MANUAL", created: stamp, lastModified: stamp },
      statement: { value: "SELECT 1", language: "SQL" },
    },
  ],
  ["urn:li:query:top", "querySubjects", { subjects: [{ entity: orders }] }],
  [
    view,
    "dataHubViewInfo",
    {
      ...{ name: "Hive", type: "GLOBAL", created: stamp, lastModified: stamp },
      definition: {
        entityTypes: ["dataset"],
        filter: {
          or: [
            {
              and: [
                {
                  ...{ field: "platform", condition: "EQUAL", value: "", negated: false },
                  values: ["urn:li:dataPlatform:hive"],
                },
              ],
            },
          ],
        },
      },
    },
  ],
  [
    "urn:li:post:news",
    "postInfo",
    {
      ...{ type: "HOME_PAGE_ANNOUNCEMENT", created: 1, lastModified: 2 },
      content: { type: "TEXT", title: "News" },
    },
  ],
  [
    "urn:li:test:owned",
    "testInfo",
    { name: "Owned", category: "G", definition: { type: "JSON", json: "{}" } },
  ],
  [
    "urn:li:businessAttribute:mail",
    "businessAttributeInfo",
    { name: "Mail", fieldPath: "mail", created: stamp, lastModified: stamp },
  ],
  [orders, "datasetProperties", { name: "orders", lastModified: stamp }],
  [orders, "schemaMetadata", schema(field("id", "int"))],
  [orders, "schemaMetadata", schema(field("id", "int"), field("total", "decimal"))],
  [orders, "domains", { domains: [sales] }],
  [orders, "container", { container: shop }],
  [orders, "globalTags", { tags: [{ tag: "urn:li:tag:pii" }] }],
  [orders, "siblings", { siblings: [clicks], primary: true }],
  [
    orders,
    "upstreamLineage",
    {
      upstreams: [{ dataset: clicks, type: "TRANSFORMED", auditStamp: stamp, created: stamp }],
    },
  ],
  ["urn:li:tag:pii", "tagProperties", { name: "PII" }],
  [shop, "containerProperties", { name: "shop" }],
  [shop, "dataPlatformInstance", { platform: "urn:li:dataPlatform:hive" }],
  [clicks, "datasetProperties", { name: "clicks" }],
  [clicks, "siblings", { siblings: [orders], primary: false }],
  [
    "urn:li:dataProduct:shop",
    "dataProductProperties",
    { name: "Shop", assets: [{ destinationUrn: orders, outputPort: true }] },
  ],
  [
    draft,
    "documentInfo",
    {
      ...{ title: "Draft", status: { state: "UNPUBLISHED" }, contents: { text: "x" } },
      ...{ created: stamp, lastModified: stamp },
    },
  ],
  [
    "urn:li:document:guide",
    "documentInfo",
    {
      ...{ title: "Guide", status: { state: "PUBLISHED" }, contents: { text: "how" } },
      ...{ created: stamp, lastModified: stamp, relatedAssets: [{ asset: orders }] },
    },
  ],
  [
    "urn:li:document:part",
    "documentInfo",
    {
      ...{ title: "Part", status: { state: "PUBLISHED" }, contents: { text: "part" } },
      ...{ created: stamp, lastModified: stamp },
      parentDocument: { document: "urn:li:document:guide" },
    },
  ],
  [
    "urn:li:lifecycleStageType:draft",
    "lifecycleStageTypeInfo",
    { name: "Draft", settings: { hideInSearch: true }, created: stamp, lastModified: stamp },
  ],
  [
    "urn:li:dataHubStepState:ada-tour",
    "dataHubStepStateProperties",
    { properties: { done: "true" }, lastModified: stamp },
  ],
  [
    assertion,
    "assertionInfo",
    { type: "CUSTOM", customAssertion: { type: "fresh", entity: orders } },
  ],
  [
    assertion,
    "assertionRunEvent",
    {
      ...{ timestampMillis: 5, assertionUrn: assertion, asserteeUrn: orders, runId: "1" },
      ...{ status: "COMPLETE", result: { type: "FAILURE" } },
    },
  ],
  [
    incident,
    "incidentInfo",
    {
      ...{ type: "OPERATIONAL", title: "Late", entities: [orders], created: stamp },
      status: { state: "ACTIVE", lastUpdated: stamp },
    },
  ],
  [
    orders,
    "datasetUsageStatistics",
    {
      ...{ timestampMillis: Date.UTC(2026, 0, 1), uniqueUserCount: 1, totalSqlQueries: 7 },
      eventGranularity: { unit: "DAY", multiple: 1 },
      userCounts: [{ user: ada, count: 7 }],
    },
  ],
  [orders, "datasetProfile", { timestampMillis: 9, rowCount: 3, columnCount: 2 }],
  [orders, "operation", { timestampMillis: 8, lastUpdatedTimestamp: 8, operationType: "INSERT" }],
  [job, "dataJobInfo", { name: "load", type: { string: "COMMAND" } }],
  [job, "dataJobInputOutput", { inputDatasets: [clicks], outputDatasets: [orders] }],
  [run, "dataProcessInstanceProperties", { name: "run1", created: stamp }],
  [run, "dataProcessInstanceRelationships", { upstreamInstances: [], parentTemplate: job }],
  [run, "dataProcessInstanceOutput", { outputs: [orders] }],
  [
    run,
    "dataProcessInstanceRunEvent",
    { timestampMillis: 7, status: "COMPLETE", result: { type: "SUCCESS", nativeResultType: "x" } },
  ],
  [
    "urn:li:dataContract:orders",
    "dataContractProperties",
    { entity: orders, freshness: [{ assertion }] },
  ],
  ["urn:li:role:reader", "roleProperties", { name: "Reader", type: "READ" }],
  ["urn:li:role:reader", "actors", { users: [{ user: "urn:li:corpuser:datahub" }] }],
];

/** Writes the sample; returns the log position after it. */
export async function writeSample(client: Client): Promise<number> {
  let last = 0;
  for (const [urn, aspect, value] of aspects) {
    const reply = await client.upsert(urn, aspect, value);
    if (reply.status !== 200) throw new Error(`${urn} ${aspect}: ${JSON.stringify(reply.body)}`);
    last = reply.position ?? last;
  }
  return last;
}
