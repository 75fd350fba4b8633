/** The entity types that have timeseries aspects, assertions or incidents. */

const aspects = new Map<string, readonly string[]>([
  ["dataset", ["datasetProfile", "datasetUsageStatistics", "operation"]],
  ["chart", ["chartUsageStatistics"]],
  ["dashboard", ["dashboardUsageStatistics"]],
  ["dataJob", ["datahubIngestionRunSummary"]],
  ["dataProcessInstance", ["dataProcessInstanceRunEvent"]],
  ["assertion", ["assertionRunEvent"]],
  ["document", ["documentUsageStatistics"]],
  ["query", ["queryUsageStatistics"]],
]);

export const timeseriesAspectsOf = (type: string): readonly string[] => aspects.get(type) ?? [];

/** Types that incidents and assertions name. */
const withIncidents: ReadonlySet<string> = new Set([
  ..."dataset chart dashboard dataFlow dataJob schemaField mlModel mlFeature service".split(" "),
  "aiAgent",
]);
const withAssertions: ReadonlySet<string> = new Set(["dataset", "dataJob", "schemaField"]);

export const hasIncidents = (type: string): boolean => withIncidents.has(type);

export const hasAssertions = (type: string): boolean => withAssertions.has(type);

export const hasQuality = (type: string): boolean =>
  hasIncidents(type) || hasAssertions(type) || timeseriesAspectsOf(type).length > 0;
