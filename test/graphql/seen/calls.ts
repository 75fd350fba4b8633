/** The arguments of fields, and the calls of roots, with which the web application's fields are read. */
import { ROOT } from "../graphql-client.ts";
import { clicks, orders, robot, shop, stamp } from "../queries/sample.ts";

/** By field, or by `Type.field`. */
export const fieldArguments: Readonly<Record<string, string>> = {
  relationships:
    'input: {types: ["OwnedBy", "TaggedWith", "DownstreamOf", "IsPartOf"], direction: OUTGOING}',
  lineage: "input: {direction: UPSTREAM, separateSiblings: true}",
  relatedDocuments: "input: {}",
  "Dataset.runs": "direction: OUTGOING",
  siblingsSearch: 'input: {query: "*"}',
  glossaryChildrenSearch: 'input: {query: "*", count: 1}',
  childMetrics: 'input: {query: "*"}',
  "SemanticModel.metrics": 'input: {query: "*"}',
  versionsSearch: 'input: {query: "*"}',
  entities: 'input: {query: "*"}',
  "Dataset.usageStats": "range: ALL",
  operationsStats: "input: {range: ALL}",
  changeHistory: "startTimeMillis: 0",
};

const full = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";

/** Calls of query roots, in addition to those with golden answers. */
export const queryCalls: readonly string[] = [
  'document(urn: "urn:li:document:part")',
  'domain(urn: "urn:li:domain:web")',
  'metric(urn: "urn:li:metric:(urn:li:dataPlatform:hive,shop,below)")',
  `dataset(urn: "${orders}")`,
  'ingestionSource(urn: "urn:li:dataHubIngestionSource:a")',
  `versionedDataset(urn: "${full}")`,
  `getServiceAccount(urn: "${robot}")`,
  `entityExists(urn: "${orders}")`,
  'debugAccess(userUrn: "urn:li:corpuser:a")',
  `getTimeline(input: {urn: "${full}"})`,
  'search(input: {type: DATASET, query: "ordres", searchFlags: {getSuggestions: true}})',
  'scrollAcrossEntities(input: {query: "*", count: 1})',
  `scrollAcrossLineage(input: {urn: "${orders}", direction: UPSTREAM, count: 1})`,
  'searchAcrossEntities(input: {query: "*", searchFlags: {includeStructuredPropertyFacets: true}})',
  'browse(input: {type: DATASET, path: ["text"]})',
  "browseV2(input: {type: DATASET, path: []})",
  "listAccessTokens(input: {})",
  `getAccessToken(input: {type: PERSONAL, actorUrn: "${ROOT}", duration: ONE_HOUR})`,
  "getInviteToken(input: {})",
];

/** Entity types without a type of their own in the schema. */
export const untyped = ["mlModelDeployment", "service", "aiAgent", "api", "repository"];

/** Calls of mutation roots whose results are types of their own. */
export const mutationCalls: readonly string[] = [
  'batchUpdateStepStates(input: {states: [{id: "tour", properties: [{key: "seen", value: "true"}]}]})',
  `createDataHubFile(input: {id: "f", storageKey: "k", originalFileName: "f.txt", mimeType: "text/plain",
    sizeInBytes: 1, scenario: ASSET_DOCUMENTATION, referencedByAsset: "${orders}"})`,
  `importDocumentsFromFiles(input: {documents: [{fileName: "a.md", content: "a"}, {fileName: "", content: "b"}]})`,
  `importDocumentsFromFiles(input: {documents: [{fileName: "a.md", content: "c"}]})`,
  `createAccessToken(input: {type: PERSONAL, actorUrn: "${ROOT}", duration: ONE_HOUR, name: "t", description: "d"})`,
];

const document = (title: string) => ({
  ...{ title, status: { state: "PUBLISHED" }, contents: { text: "part" } },
  ...{ created: stamp, lastModified: stamp },
  parentDocument: { document: "urn:li:document:guide" },
});

/** Aspects that the samples lack. */
export const moreAspects: readonly (readonly [urn: string, aspect: string, value: object])[] = [
  [
    "urn:li:glossaryTerm:root",
    "glossaryTermInfo",
    { definition: "a root", termSource: "INTERNAL" },
  ],
  [
    "urn:li:metric:(urn:li:dataPlatform:hive,shop,below)",
    "metricRelationships",
    { parentMetric: "urn:li:metric:(urn:li:dataPlatform:hive,shop,revenue)" },
  ],
  ["urn:li:document:part", "documentInfo", document("First")],
  ["urn:li:document:part", "documentInfo", document("Second")],
  [orders, "browsePathsV2", { path: [{ id: shop, urn: shop }, { id: "raw" }] }],
  [
    orders,
    "upstreamLineage",
    {
      upstreams: [clicks, "urn:li:dataset:(urn:li:dataPlatform:hive,none,PROD)"].map((dataset) => ({
        ...{ dataset, type: "TRANSFORMED", auditStamp: stamp, created: stamp },
        properties: { source: "UI" },
      })),
    },
  ],
  [
    "urn:li:glossaryNode:cents",
    "glossaryNodeInfo",
    { definition: "small", parentNode: "urn:li:glossaryNode:money" },
  ],
  [
    robot,
    "corpUserSettings",
    { appearance: {}, views: { defaultView: "urn:li:dataHubView:hive" } },
  ],
  [
    "urn:li:dataHubPolicy:applications",
    "dataHubPolicyInfo",
    {
      ...{ displayName: "Applications", description: "Manage them", type: "PLATFORM" },
      ...{ state: "ACTIVE", editable: true, privileges: ["MANAGE_APPLICATIONS"] },
      actors: { users: [ROOT], allUsers: false, allGroups: false, resourceOwners: false },
    },
  ],
  ...["INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "CUSTOM"].map(
    (operationType, n) =>
      [
        orders,
        "operation",
        { timestampMillis: stamp.time + n, lastUpdatedTimestamp: stamp.time, operationType },
      ] as const,
  ),
  [
    "urn:li:assertion:fresh",
    "assertionRunEvent",
    {
      ...{ timestampMillis: 4, assertionUrn: "urn:li:assertion:fresh", asserteeUrn: orders },
      ...{ runId: "0", status: "COMPLETE", result: { type: "SUCCESS" } },
    },
  ],
  [
    "urn:li:assertion:fresh",
    "assertionRunEvent",
    {
      ...{ timestampMillis: 3, assertionUrn: "urn:li:assertion:fresh", asserteeUrn: orders },
      ...{ runId: "1", status: "COMPLETE", result: { type: "ERROR" } },
    },
  ],
  [
    "urn:li:chart:(looker,sales)",
    "chartUsageStatistics",
    { timestampMillis: stamp.time, viewsCount: 3 },
  ],
  [
    "urn:li:dashboard:(looker,board)",
    "dashboardUsageStatistics",
    {
      ...{ timestampMillis: stamp.time, viewsCount: 3, executionsCount: 2, favoritesCount: 1 },
      lastViewedAt: stamp.time,
    },
  ],
];
