/** The queries of roots.test.ts, on the catalog of sample.ts. */
import { ROOT } from "../graphql-client.ts";
import { ada, clicks, draft, orders, robot, sales, view } from "./sample.ts";

const PAGE = "input: {start: 0, count: 10}";

export const queries: Readonly<Record<string, string>> = {
  lists: `{
    listDomains(input: {}) { start count total domains { urn properties { name } } }
    below: listDomains(input: {parentDomain: "${sales}"}) { domains { urn } }
    getRootGlossaryNodes(${PAGE}) { count total nodes { urn childrenCount { termsCount nodesCount } } }
    getRootGlossaryTerms(${PAGE}) { count total terms { urn } }
    getRootMetrics(input: {}) { total metrics { urn } }
    getSemanticModels(input: {}) { total semanticModels { urn } }
    listOwnershipTypes(input: {}) { total ownershipTypes { urn info { name } } }
    listBusinessAttributes(input: {}) { total businessAttributes { urn } }
    listQueries(input: {datasetUrn: "${orders}"}) { count total queries { urn properties { name } } }
    listMyViews(input: {}) { total views { urn } }
    listGlobalViews(input: {}) { total views { urn name definition { entityTypes } } }
    listPosts(input: {}) { total posts { urn content { title } } }
    listTests(input: {}) { total tests { urn name } }
    listUsers(input: {}) { total users { urn } }
    listGroups(input: {}) { total groups { urn } }
    listRoles(input: {}) { total roles { urn name } }
    listLifecycleStages { urn name hideInSearch }
    listSecrets(input: {}) { total secrets { urn } }
    listExecutionRequests(input: {}) { total executionRequests { urn } }
  }`,
  people: `{
    searchUsers(input: {query: "*"}) { total searchResults { entity { urn } } }
    listServiceAccounts(input: {}) { total serviceAccounts { urn name displayName createdBy } }
    getServiceAccount(urn: "${robot}") { urn type }
    getGrantedPrivileges(input: {actorUrn: "${ROOT}", includeEvaluationDetails: true}) {
      evaluationDetails { policyName reason } }
    debugAccess(userUrn: "${ada}") { roles groups allRoles }
    batchGetStepStates(input: {ids: ["ada-tour", "none"]}) { results { id properties { key value } } }
  }`,
  documents: `{
    searchDocuments(input: {}) { total documents { urn } }
    roots: searchDocuments(input: {rootOnly: true}) { documents { urn } }
    children: searchDocuments(input: {parentDocuments: ["urn:li:document:guide"]}) {
      documents { urn parentDocuments { count documents { urn } } } }
    searchAcrossEntities(input: {query: "*", types: [DOCUMENT]}) { total facets { field } }
    draft: document(urn: "${draft}") { exists info { title status { state } } }
  }`,
  products: `{
    listDataProductAssets(urn: "urn:li:dataProduct:shop", input: {query: "*"}) {
      total searchResults { entity { urn } extraProperties { name value } } }
    bulkEntityDataProducts(input: {urns: ["${clicks}"]}) {
      entities { urn dataProductAssociations { dataProduct { urn } isOutputPort } } }
    listApplicationAssets(urn: "urn:li:application:none", input: {query: "*"}) { total }
    dataProduct(urn: "urn:li:dataProduct:shop") {
      properties { numAssets } entities { total searchResults { entity { urn } } } }
  }`,
  counts: `{
    aggregateAcrossEntities(input: {query: "*", facets: ["platform", "tags", "nothing"]}) {
      facets { field displayName aggregations { value count displayName entity { urn } } } }
    getEntityCounts(input: {types: [DATASET, CHART]}) { counts { entityType count } }
    getQuickFilters(input: {}) { quickFilters { field value entity { urn } } }
    browsePaths(input: {type: DATASET, urn: "${orders}"}) { path }
    isAnalyticsEnabled
    getHighlights { value title body }
    getAnalyticsCharts { groupId title charts { ... on BarChart { title bars { name segments { label value } } } } }
    getMetadataAnalyticsCharts(input: {entityType: DATASET, domain: "${sales}"}) {
      groupId charts { ... on BarChart { title bars { name segments { value } } } } }
    listRecommendations(input: {userUrn: "${ROOT}", limit: 10, requestContext: {scenario: HOME}}) {
      modules { title moduleId renderType content { value entity { urn } params {
        searchParams { query filters { field values } } contentParams { count } entityProfileParams { urn type } } } } }
  }`,
  views: `{
    all: searchAcrossEntities(input: {query: "*"}) { total }
    seen: searchAcrossEntities(input: {query: "*", viewUrn: "${view}"}) {
      total searchResults { entity { urn } insights { text } } facets { field aggregations { value count } } }
    none: searchAcrossEntities(input: {query: "*", viewUrn: "${view}", types: [TAG]}) { total }
    unknown: searchAcrossEntities(input: {query: "*", viewUrn: "urn:li:dataHubView:none", types: [TAG]}) { total }
    scrollAcrossEntities(input: {query: "*", viewUrn: "${view}"}) { total }
    autoCompleteForMultiple(input: {query: "o", viewUrn: "${view}"}) { suggestions { type suggestions } }
    unfiltered: autoCompleteForMultiple(input: {query: "o"}) { suggestions { type suggestions } }
  }`,
  history: `{
    getSchemaVersionList(input: {datasetUrn: "${orders}"}) {
      latestVersion { semanticVersion } semanticVersionList { semanticVersion } }
    getSchemaBlame(input: {datasetUrn: "${orders}"}) {
      version { semanticVersion } schemaFieldBlameList { fieldPath schemaFieldChange {
        changeType lastSemanticVersion lastSchemaFieldChange } } }
    getTimeline(input: {urn: "${orders}", changeCategories: [TECHNICAL_SCHEMA, TAG]}) {
      changeTransactions { changeType lastSemanticVersion changes { category operation urn modifier description } } }
    versionedDataset(urn: "${orders}", versionStamp: "schemaMetadata:1") {
      urn name origin platform { urn } schema { fields { fieldPath } } }
  }`,
  settings: `{
    globalViewsSettings { defaultView }
    docPropagationSettings { docColumnPropagation }
    globalHomePageSettings { defaultTemplate { urn } }
    latestProductUpdate { id }
    me { corpUser { urn settings { views { defaultView { urn } } } } platformPrivileges { manageTests viewAnalytics } }
    appConfig { authConfig { tokenAuthEnabled } viewsConfig { enabled } policiesConfig { resourcePrivileges { resourceType } } }
  }`,
};
