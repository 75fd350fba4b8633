/** Fields of entities that are computed: ancestors, lineage, quality, statistics, runs, privileges. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../../support/running-service.ts";
import { asActor, ask, ROOT } from "../graphql-client.ts";
import { ada, clicks, job, orders, run, sales, shop, writeSample } from "./sample.ts";

let service: RunningService;
let position = 0;
beforeAll(async () => {
  service = await runningService();
  position = await writeSample(service.client);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function data(query: string, headers = asActor(ROOT)) {
  const least = { "X-Annals-Min-Position": String(position) };
  const { body } = await ask(service.client, query, {}, { ...headers, ...least });
  expect(body.errors, query).toBeUndefined();
  return body.data;
}

const LINEAGE =
  "start count total filtered relationships { type degree entity { urn } paths { path { urn } } }";

const queries: Readonly<Record<string, string>> = {
  hierarchies: `{
    dataset(urn: "${orders}") { parentContainers { count containers { urn } } }
    domain(urn: "urn:li:domain:web") { parentDomains { count domains { urn } } }
    glossaryTerm(urn: "urn:li:glossaryTerm:revenue") { parentNodes { count nodes { urn } } }
    document(urn: "urn:li:document:part") { parentDocuments { count documents { urn } } }
    container(urn: "${shop}") { entities(input: {}) { total searchResults { entity { urn } } } }
    sales: domain(urn: "${sales}") { entities(input: {}) { total searchResults { entity { urn } } } }
    glossaryNode(urn: "urn:li:glossaryNode:money") {
      childrenCount { termsCount nodesCount }
      glossaryChildrenSearch(input: {query: "*"}) { total searchResults { entity { urn } } } }
  }`,
  lineage: `{
    dataset(urn: "${orders}") {
      separate: lineage(input: {direction: UPSTREAM, separateSiblings: true}) { ${LINEAGE} }
      merged: lineage(input: {direction: UPSTREAM}) { total relationships { entity { urn } } }
      siblingsSearch(input: {query: "*"}) { total searchResults { entity { urn } } }
      relatedDocuments(input: {}) { total documents { urn } }
      relationships(input: {types: ["DownstreamOf"], direction: OUTGOING}) {
        relationships { type entity { urn } created { time actor } } } }
  }`,
  quality: `{
    dataset(urn: "${orders}") {
      health { type status message causes reportedAt activeIncidentHealthDetails { count latestIncidentTitle }
        latestAssertionStatusByType { type status total statusCount lastStatusResultAt } }
      incidents(state: ACTIVE) { total incidents { urn title status { state } } }
      none: incidents(state: RESOLVED, start: 0, count: 1) { start count total incidents { urn } }
      contract { urn properties { entityUrn freshness { assertion { urn } } } }
      assertions { total }
    }
    dataJob(urn: "${job}") { health { type status } incidents { total } }
    clicks: dataset(urn: "${clicks}") { health { type status } contract { urn } }
  }`,
  statistics: `{
    dataset(urn: "${orders}") {
      usageStats(range: ALL) { buckets { bucket duration metrics { totalSqlQueries uniqueUserCount } }
        aggregations { totalSqlQueries uniqueUserCount users { user { urn } count } } }
      statsSummary { queryCountLast30Days }
      datasetProfiles { timestampMillis rowCount columnCount }
      operations { timestampMillis operationType }
      operationsStats(input: {range: ALL}) { buckets { bucket aggregations { totalInserts } } aggregations { totalOperations } }
      timeseriesCapabilities { assetStats { oldestOperationTime oldestDatasetUsageTime oldestDatasetProfileTime } }
    }
    dashboard(urn: "urn:li:dashboard:(looker,none)") { exists usageStats { buckets { bucket } metrics { viewsCount } } statsSummary { viewCount } }
  }`,
  runs: `{
    dataset(urn: "${orders}") {
      written: runs(direction: OUTGOING) { total runs { urn name } }
      read: runs(direction: INCOMING) { total } }
    dataJob(urn: "${job}") { runs { total runs { urn state { status timestampMillis result { resultType nativeResultType } } } } }
    dataFlow(urn: "urn:li:dataFlow:(airflow,shop,PROD)") { runs { total } dataJobs { entities { entity { urn } } } }
    dataProcessInstance(urn: "${run}") { name parentTemplate { urn } }
  }`,
  access: `{
    role(urn: "urn:li:role:reader") { isAssignedToMe }
    dataset(urn: "${orders}") { autoRenderAspects: aspects(input: {autoRenderOnly: true}) { aspectName }
      privileges { canEditTags canEditEmbed canManageEntity canViewDatasetUsage } }
    glossaryNode(urn: "urn:li:glossaryNode:money") { privileges { canManageEntity canManageChildren canEditEmbed } }
    corpUser(urn: "${ada}") { isNativeUser
      relationships(input: {types: ["IsMemberOfGroup", "IsMemberOfRole"], direction: OUTGOING, start: 1, count: 5}) {
        start count total relationships { type entity { urn } } } }
    document(urn: "urn:li:document:guide") { changeHistory(startTimeMillis: 0) { changeType description } }
  }`,
};

test.each(Object.keys(queries))("fields of %s have their golden values", async (name) => {
  expect(await data(queries[name] ?? "")).toMatchSnapshot();
});

test("a user without privileges edits nothing and reads no statistics", async () => {
  const { dataset, role } = await data(
    `{ dataset(urn: "${orders}") { privileges { canEditTags canViewDatasetUsage } usageStats { buckets { bucket } }
       statsSummary { queryCountLast30Days } datasetProfiles { rowCount } }
       role(urn: "urn:li:role:reader") { isAssignedToMe } }`,
    asActor(ada),
  );
  expect(dataset).toEqual({
    privileges: { canEditTags: false, canViewDatasetUsage: false },
    ...{ usageStats: null, statsSummary: null, datasetProfiles: [] },
  });
  expect(role).toEqual({ isAssignedToMe: false });
});
