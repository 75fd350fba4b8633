/**
 * Where this service answers otherwise than the recorded reference, each with its reason. Keyed by
 * the recording's name. `status`: the status given instead. `body: "other"`: the body is not
 * compared beyond its being an error body (4xx) or JSON.
 */
export interface Difference {
  readonly why: string;
  readonly status?: number;
  /** Members (JSON paths without indexes) that differ on purpose. */
  readonly without?: readonly RegExp[];
  readonly body?: "other";
}

const noServerFaults = "a fault of the request is the caller's: 4xx, never 500";
const urnsAreChecked = "a urn that does not fit its entity type is refused, not stored";
const listEverywhere = "List(…) is understood whatever protocol version the request names";

const onceTold = "an event that is told again is the later telling; the reference mixes the two";

const typesInAnySpelling = "types are understood in any spelling, whatever the protocol version";
const edgesAsTold = "the tags of an entity come in the order in which they were told";

const jobsOfOurOwn = "the recorded job is of another node: here there is none of that id";
const strictlyOlder = "what is exactly as old as the end stays; golden/operations.test.ts";
const restoredInFull =
  "times and ids are of the run, and browsePaths (v1) is a row more; golden/operations.test.ts has the form";

const valuesCount = "`value` counts in a filter as `values` does; the reference passes it over";
const anyQuery = "whatever is typed is a query: what is no syntax is words";
const commaInName = "a comma in a name is rejected; DataHub answers success and writes nothing";
const sums = "scores are sums of weights, and equal counts come in order of their values";
const ownOrder: readonly RegExp[] = [
  /^\/value\/entities\/\d\/(score|features|matchedFields)/,
  /^\/value\/metadata\/aggregations\/\d+\/filterValues/,
];
/** The same entities, in an order of their own. */
const sameEntities: readonly RegExp[] = [...ownOrder, /^\/value\/entities\/\d+\/entity/];
/** Of so many, so many are found: their order is ours, and the counts of facets follow. */
const found = (expected: number, here: number): readonly RegExp[] => [
  new RegExp(`^/value/(numEntities|total): expected ${expected}, found ${here}$`),
  new RegExp(`^/value/entities: expected ${expected} members, found ${here}$`),
  /^\/value\/entities\/\d\/(entity|score|features|matchedFields)/,
  /^\/value\/metadata\/aggregations(: expected \d+ members, found \d+$|\/\d+\/(aggregations|filterValues))/,
];
const folders = "every entity gets a browse path (v1); the reference makes none";

export const differences: Readonly<Record<string, Difference>> = {
  "runs list": {
    why: "the recorded ones are of the reference's own start; a fresh catalog here has no run",
    without: [/^\/value: expected 10 members, found 2$/],
  },
  "runs describe": {
    why: "what a run told is told also when another run has told something else since",
    without: [/^\/value: expected 0 members, found 1$/],
  },
  config: {
    why: "it names this service's own version and capabilities",
    without: [
      /^\/managedIngestion/,
      /^\/versions/,
      /^\/telemetry/,
      /^\/datahub\/serverType/,
      /^\/timeZone/,
    ],
  },
  health: { why: "the recorded deployment had no health servlet", status: 200, body: "other" },
  "value not json": { why: noServerFaults, status: 400 },
  "bad urn": { why: noServerFaults, status: 400 },
  "no aspect name": { why: noServerFaults, status: 400 },
  "no value": { why: noServerFaults, status: 400 },
  "dataset urn with two parts": { why: urnsAreChecked, status: 400, body: "other" },
  "unknown env": { why: urnsAreChecked, status: 422, body: "other" },
  "long urn": { why: urnsAreChecked, status: 400, body: "other" },
  "legacy bad field": {
    why: "a value that does not fit is content: 422 like everywhere",
    status: 422,
  },
  "odd urn": { why: commaInName, status: 400 },
  "v2 odd": { why: "what was written can be read", status: 200, body: "other" },
  "v2 bad urn": { why: noServerFaults, status: 400 },
  "v2 protocol 1": { why: listEverywhere, body: "other" },
  "v2 no header": { why: listEverywhere, body: "other" },
  "legacy read bad": { why: noServerFaults, status: 400 },
  "legacy read orders": {
    why: "the deleted institutionalMemory is gone, so that the lists differ",
    body: "other",
  },
  "legacy read chart": { why: "browsePaths (v1) is made as well", body: "other" },
  "v2 orders": {
    why: "the deleted institutionalMemory is gone; a deletion is done, not only answered",
    without: [/institutionalMemory/],
  },
  "aspect version 4": {
    why: "the n-th value has number n for ever, the newest too",
    status: 200,
    body: "other",
  },
  "aspect no version": { why: "without version the latest is meant", status: 200, body: "other" },
  "aspect no aspect": { why: noServerFaults, status: 400 },
  "aspect deleted": { why: "DELETE deletes", status: 404, body: "other" },
  "timeseries without limit": { why: "without limit 10,000", status: 200, body: "other" },
  "timeseries unknown aspect": { why: noServerFaults, status: 422 },
  "timeseries versioned aspect": { why: noServerFaults, status: 422 },
  "timeseries unknown entity": { why: "an unknown name is content: 422", status: 422 },
  "timeseries latest": { why: "the latest value is one value", body: "other" },
  "list urns": {
    why: "the two malformed urns of the recording were refused here; the bootstrap entities differ",
    body: "other",
  },
  "legacy read term": {
    why: "the aspects stand in the order of the registry, the reference's in none",
    body: "other",
  },
  "timeseries all": { why: onceTold, without: [/fieldProfiles/] },
  "timeseries range": { why: onceTold, without: [/fieldProfiles/] },
  "truncate dry": { why: strictlyOlder, without: [/^\/value/] },
  "truncate dry explicit": { why: strictlyOlder, without: [/^\/value/] },
  "timeseries after truncate": { why: "here the truncation before it is done", body: "other" },
  "timeseries after truncate by query": { why: strictlyOlder, body: "other" },
  sizes: {
    why: "a store of another kind takes other room, and lists in the model's order",
    body: "other",
  },
  "truncate unknown": { why: noServerFaults, status: 422 },
  truncate: { why: "the recorded deployment could not reindex", status: 200, body: "other" },
  "truncate by query": { why: "a job has an id of its own", without: [/^\/value/] },
  "task of truncate": { why: jobsOfOurOwn, body: "other" },
  "task of truncate by parts": { why: jobsOfOurOwn, body: "other" },
  "restore urn": { why: restoredInFull, without: [/^\/value/] },
  "restore urn aspect": { why: restoredInFull, without: [/^\/value/] },
  "restore like": { why: restoredInFull, without: [/^\/value/] },
  "restore unknown": { why: restoredInFull, without: [/^\/value/] },
  "restore nothing": { why: restoredInFull, without: [/^\/value/] },
  "token entity": { why: "the GraphQL request that makes it is not replayed here", body: "other" },
  count: { why: "as for list urns", body: "other" },
  "delete dry": { why: "browsePaths (v1) is one aspect more", body: "other" },
  delete: { why: "browsePaths (v1) is one aspect more", body: "other" },
  "rel plain type, protocol 2": { why: typesInAnySpelling, status: 200, body: "other" },
  "rel repeated": { why: typesInAnySpelling, status: 200, body: "other" },
  "rel repeated types, no header": { why: edgesAsTold, without: [/^\/relationships\/\d\/entity/] },
  "rel list": { why: edgesAsTold, without: [/^\/relationships\/\d\/entity/] },
  "rel bad direction": { why: noServerFaults, status: 400 },
  "rel bad urn": { why: noServerFaults, status: 400 },
  "lineage action": {
    why: "an edge keeps the actor that updated it, though nobody says who created it; times are the run's",
    without: [/\/updatedActor/, /\/createdOn/],
  },
  "across lineage": {
    why: `${sums}; a facet without values is not told, that of degrees has counts`,
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
    why: `${sums}; what fulfils a filter is no match, and comes by urn`,
    without: [...ownOrder, /^\/value\/entities\/\d\/entity/],
  },
  "search filter EXISTS": {
    why: `${sums}; what fulfils a filter is no match, and comes by urn`,
    without: [...ownOrder, /^\/value\/entities\/\d\/entity/],
  },
  "search filter unknown field": {
    why: "a field that no entity type has is refused, with those that come near",
    status: 400,
  },
  "search filter old criteria": {
    why: "the older form of filters is understood",
    status: 200,
    body: "other",
  },
  across: {
    why: `${sums}; entity types without hits are told when they are named`,
    without: [...ownOrder, /aggregations\/\d\/aggregations\/[a-z]+: expected 0, found nothing/],
  },
  autocomplete: {
    why: "the value that begins with what was typed comes first",
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
