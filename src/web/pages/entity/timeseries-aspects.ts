/** The timeseries aspects of the entity types that have some. */

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
