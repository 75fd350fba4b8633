/**
 * Intended differences between this service and the recordings of DataHub, each with its reason, by
 * the name of the recording. `status`: the status of this service. `body: "other"`: the body is
 * only checked to be an error body (4xx) or JSON.
 */
export interface Difference {
  readonly why: string;
  readonly status?: number;
  /** Members (JSON paths without indexes) that differ intentionally. */
  readonly without?: readonly RegExp[];
  readonly body?: "other";
}

const invalidRequests = "an invalid request is answered with 4xx, never with 500";
const urnsAreChecked = "a urn that does not match its entity type is rejected";
const listEverywhere = "List(…) is accepted in every protocol version";

const lastWriteWins = "an event that is written again has the later value; DataHub merges the two";

const typesInAnyForm = "types are accepted in every form and protocol version";
const edgesInAspectOrder = "the tags of an entity have the order of their aspect";

const jobsOfAnotherNode = "the recorded job belongs to another node, and its id is unknown here";
const strictlyOlder = "events at exactly the end stay; golden/operations.test.ts";
const restoredInFull =
  "times and ids differ between runs, and browsePaths (v1) is a further row; golden/operations.test.ts checks the form";

const valuesCount = "`value` acts in a filter like `values`; DataHub ignores it";
const anyQuery = "every text is a query: invalid syntax is read as words";
const commaInName = "a comma in a name is rejected; DataHub answers success and writes nothing";
const sums = "scores are sums of weights, and equal counts are sorted by value";
const ownOrder: readonly RegExp[] = [
  /^\/value\/entities\/\d\/(score|features|matchedFields)/,
  /^\/value\/metadata\/aggregations\/\d+\/filterValues/,
];
/** The same entities in another order. */
const sameEntities: readonly RegExp[] = [...ownOrder, /^\/value\/entities\/\d+\/entity/];
/** The same number of hits in another order, with the facets that follow from it. */
const found = (expected: number, here: number): readonly RegExp[] => [
  new RegExp(`^/value/(numEntities|total): expected ${expected}, found ${here}$`),
  new RegExp(`^/value/entities: expected ${expected} members, found ${here}$`),
  /^\/value\/entities\/\d\/(entity|score|features|matchedFields)/,
  /^\/value\/metadata\/aggregations(: expected \d+ members, found \d+$|\/\d+\/(aggregations|filterValues))/,
];
const folders = "every entity gets a browse path (v1); DataHub creates none";

export const differences: Readonly<Record<string, Difference>> = {
  "runs list": {
    why: "the recorded runs are those of DataHub's own start; a new catalog has none",
    without: [/^\/value: expected 10 members, found 2$/],
  },
  "runs describe": {
    why: "aspects of a run are listed although a later run has changed them",
    without: [/^\/value: expected 0 members, found 1$/],
  },
  config: {
    why: "the response names this service's own version and capabilities",
    without: [
      /^\/managedIngestion/,
      /^\/versions/,
      /^\/telemetry/,
      /^\/datahub\/serverType/,
      /^\/timeZone/,
    ],
  },
  health: { why: "the recorded deployment had no health servlet", status: 200, body: "other" },
  "value not json": { why: invalidRequests, status: 400 },
  "bad urn": { why: invalidRequests, status: 400 },
  "no aspect name": { why: invalidRequests, status: 400 },
  "no value": { why: invalidRequests, status: 400 },
  "dataset urn with two parts": { why: urnsAreChecked, status: 400, body: "other" },
  "unknown env": { why: urnsAreChecked, status: 422, body: "other" },
  "long urn": { why: urnsAreChecked, status: 400, body: "other" },
  "legacy bad field": {
    why: "a value that violates the schema is answered with 422, as everywhere",
    status: 422,
  },
  "odd urn": { why: commaInName, status: 400 },
  "v2 odd": { why: "a written value can be read", status: 200, body: "other" },
  "v2 bad urn": { why: invalidRequests, status: 400 },
  "v2 protocol 1": { why: listEverywhere, body: "other" },
  "v2 no header": { why: listEverywhere, body: "other" },
  "legacy read bad": { why: invalidRequests, status: 400 },
  "legacy read orders": {
    why: "the deleted institutionalMemory is gone, so that the lists differ",
    body: "other",
  },
  "legacy read chart": { why: "browsePaths (v1) is created, too", body: "other" },
  "v2 orders": {
    why: "the deleted institutionalMemory is gone, and schema versions are those of DataHub 1.7",
    without: [/institutionalMemory/, /\/systemMetadata\/schemaVersion/],
  },
  "aspect version 4": {
    why: "the n-th value keeps the number n, also the newest",
    status: 200,
    body: "other",
  },
  "aspect no version": {
    why: "without a version, the latest is returned",
    status: 200,
    body: "other",
  },
  "aspect no aspect": { why: invalidRequests, status: 400 },
  "aspect deleted": { why: "DELETE deletes", status: 404, body: "other" },
  "timeseries without limit": { why: "without limit 10,000", status: 200, body: "other" },
  "timeseries unknown aspect": { why: invalidRequests, status: 422 },
  "timeseries versioned aspect": { why: invalidRequests, status: 422 },
  "timeseries unknown entity": { why: "an unknown name is content: 422", status: 422 },
  "timeseries latest": { why: "the latest value is one value", body: "other" },
  "list urns": {
    why: "the two malformed urns of the recording were rejected here; the bootstrap entities differ",
    body: "other",
  },
  "legacy read term": {
    why: "aspects are in the order of the registry, and in no order in DataHub",
    body: "other",
  },
  "timeseries all": { why: lastWriteWins, without: [/fieldProfiles/] },
  "timeseries range": { why: lastWriteWins, without: [/fieldProfiles/] },
  "truncate dry": { why: strictlyOlder, without: [/^\/value/] },
  "truncate dry explicit": { why: strictlyOlder, without: [/^\/value/] },
  "timeseries after truncate": { why: "the truncation before it was executed here", body: "other" },
  "timeseries after truncate by query": { why: strictlyOlder, body: "other" },
  sizes: {
    why: "another store has other sizes, and lists in the order of the model",
    body: "other",
  },
  "truncate unknown": { why: invalidRequests, status: 422 },
  truncate: { why: "the recorded deployment could not reindex", status: 200, body: "other" },
  "truncate by query": { why: "each job has its own id", without: [/^\/value/] },
  "task of truncate": { why: jobsOfAnotherNode, body: "other" },
  "task of truncate by parts": { why: jobsOfAnotherNode, body: "other" },
  "restore urn": { why: restoredInFull, without: [/^\/value/] },
  "restore urn aspect": { why: restoredInFull, without: [/^\/value/] },
  "restore like": { why: restoredInFull, without: [/^\/value/] },
  "restore unknown": { why: restoredInFull, without: [/^\/value/] },
  "restore nothing": { why: restoredInFull, without: [/^\/value/] },
  "token entity": {
    why: "the GraphQL request that creates it is not replayed here",
    body: "other",
  },
  count: { why: "as for list urns", body: "other" },
  "delete dry": { why: "browsePaths (v1) is a further aspect", body: "other" },
  delete: { why: "browsePaths (v1) is a further aspect", body: "other" },
  "rel plain type, protocol 2": { why: typesInAnyForm, status: 200, body: "other" },
  "rel repeated": { why: typesInAnyForm, status: 200, body: "other" },
  "rel repeated types, no header": {
    why: edgesInAspectOrder,
    without: [/^\/relationships\/\d\/entity/],
  },
  "rel list": { why: edgesInAspectOrder, without: [/^\/relationships\/\d\/entity/] },
  "rel bad direction": { why: invalidRequests, status: 400 },
  "rel bad urn": { why: invalidRequests, status: 400 },
  "lineage action": {
    why: "an edge keeps the actor of its update without one of its creation; times differ between runs",
    without: [/\/updatedActor/, /\/createdOn/],
  },
  "across lineage": {
    why: `${sums}; facets without values are omitted, and the facet of degrees has counts`,
    without: [...ownOrder, /aggregations: expected 11 members, found 10/],
  },
  "search word": { why: sums, without: ownOrder },
  "search field": { why: sums, without: ownOrder },
  "search field raw": { why: anyQuery, status: 200, body: "other" },
  "search hostile": { why: anyQuery, status: 200, body: "other" },
  "search unknown entity": { why: "an unknown name is content: 422", status: 422 },
  "search star": { why: sums, without: sameEntities },
  "search empty": { why: sums, without: sameEntities },
  "search huge": { why: sums, without: sameEntities },
  "search sorted": { why: sums, without: sameEntities },
  "across some": { why: sums, without: sameEntities },
  "search filter EQUAL": { why: valuesCount, without: found(7, 5) },
  "search filter keyword": { why: valuesCount, without: found(7, 5) },
  "search filter CONTAIN": { why: valuesCount, without: found(7, 1) },
  "search filter START_WITH": { why: valuesCount, without: found(7, 1) },
  "search filter END_WITH": { why: valuesCount, without: found(7, 1) },
  "search filter GREATER_THAN": { why: valuesCount, without: found(7, 0) },
  "search filter negated": { why: valuesCount, without: found(7, 2) },
  "search filter removed": { why: valuesCount, without: found(7, 0) },
  "filter action": { why: valuesCount, without: found(7, 5) },
  list: { why: valuesCount, without: found(7, 5) },
  "search filter values": {
    why: `${sums}; filters are not matched fields, and results are sorted by urn`,
    without: [...ownOrder, /^\/value\/entities\/\d\/entity/],
  },
  "search filter EXISTS": {
    why: `${sums}; filters are not matched fields, and results are sorted by urn`,
    without: [...ownOrder, /^\/value\/entities\/\d\/entity/],
  },
  "search filter unknown field": {
    why: "an unknown field is rejected with similar names",
    status: 400,
  },
  "search filter old criteria": {
    why: "the older form of filters is accepted",
    status: 200,
    body: "other",
  },
  across: {
    why: `${sums}; entity types without hits are in the facet when the request names them`,
    without: [...ownOrder, /aggregations\/\d\/aggregations\/[a-z]+: expected 0, found nothing/],
  },
  autocomplete: {
    why: "the value that begins with the typed text comes first",
    without: [/^\/value\/suggestions/],
  },
  "browse root": { why: folders, body: "other" },
  "browse /prod": { why: folders, body: "other" },
  "browse /prod/postgres": { why: folders, body: "other" },
  "browse /prod/postgres/farmly": { why: folders, body: "other" },
  "browse after soft delete": { why: folders, body: "other" },
  "browse paths": { why: folders, body: "other" },
  "search after undelete": { why: sums, without: ownOrder },
};
