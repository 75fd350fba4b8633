/** Why fields of the schema are always empty: `Type.field` or a whole type, its value, and the reason. */

import { featureFlags } from "../../../src/graphql/queries/settings/feature-flags.ts";

type Row = readonly [field: string, value: string, reason: string];

const noNews = "The service has no news about releases of DataHub.";
const noFiles = "The service stores no files.";
const noEvents = "The service stores no usage events; charts have bars that count entities.";
const noRendering = "The model annotates no aspect with a rendering.";
const noInsights = "DataHub returns none, too.";
const allTypes = "Recommendations link to searches of all types, by a filter.";
const noFeature =
  "The service does not have the feature, or the web application shows its default.";

/** Fields that the measuring test reads, and finds empty. */
export const emptyFields: readonly Row[] = [
  ["Query.latestProductUpdate", "null", noNews],
  ["ProductUpdate", "not returned", noNews],
  ["ProductUpdateFeature", "not returned", noNews],
  ["Query.getPresignedUploadUrl", "error", noFiles],
  ["GetPresignedUploadUrlResponse", "not returned", noFiles],
  ["TimeSeriesChart", "not returned", noEvents],
  ["DateRange", "not returned", noEvents],
  ["NamedLine", "not returned", noEvents],
  ["NumericDataPoint", "not returned", noEvents],
  ["TableChart", "not returned", noEvents],
  ["Row", "not returned", noEvents],
  ["Cell", "not returned", noEvents],
  ["LinkParams", "not returned", noEvents],
  ["RawAspect.renderSpec", "null", noRendering],
  ["AspectRenderSpec", "not returned", noRendering],
  ["SearchResult.insights", "[]", noInsights],
  ["SearchAcrossLineageResult.insights", "[]", noInsights],
  ["SearchInsight", "not returned", noInsights],
  [
    "SearchAcrossLineageResult.matchedFields",
    "[]",
    "Searches across lineage highlight nothing, as in DataHub.",
  ],
  ["SearchAcrossLineageResult.ignoredAsHop", "false", "Every entity on a path counts as a hop."],
  [
    "SearchAcrossLineageResults.lineageSearchPath",
    "null",
    "Searches across lineage have a single algorithm.",
  ],
  ["SearchParams.types", "null", allTypes],
  ["SearchParams.query", '""', allTypes],
  ["Restricted", "not returned", "Entities that the caller may not view are left out."],
  [
    "ManagedIngestionConfig.enabled",
    "false",
    "Ingestion sources are stored; the service runs none.",
  ],
  ["TestsConfig.enabled", "false", "Tests are stored; the service evaluates none."],
  ["TelemetryConfig.enableThirdPartyLogging", "false", noFeature],
  ["EntityProfileConfig.defaultTab", '""', noFeature],
  ["VisualConfig.appTitle", '""', noFeature],
  ["VisualConfig.hideGlossary", "false", noFeature],
  ["VisualConfig.showFullTitleInLineage", "false", noFeature],
  ["ThemeConfig.themeId", '""', noFeature],
  ["SearchCardConfig.showDescription", "false", noFeature],
  ["SearchFlagsConfig.defaultSkipHighlighting", "false", noFeature],
];

/** The flags of features that the service does not have. */
export const offFlags: readonly string[] = Object.keys(featureFlags)
  .filter((name) => featureFlags[name] === false)
  .map((name) => `FeatureFlagsConfig.${name}`);

/** Fields that only other tests give a value, and the test. */
export const seenElsewhere: ReadonlyMap<string, string> = new Map([
  ["ResetToken.resetToken", "test/auth/session.test.ts"],
]);

/** Fields that the web application does not read. */
export const otherEmptyFields: readonly Row[] = [
  ["Query.semanticSearch", "error", "The service computes no embeddings."],
  ["Query.semanticSearchAcrossEntities", "error", "The service computes no embeddings."],
  ["AppConfig.semanticSearchConfig", "disabled", "The service computes no embeddings."],
  ["Entity.aspects(autoRenderOnly: true)", "[]", noRendering],
  [
    "SearchAcrossLineageResults.freshness",
    "null",
    "Lineage is read from the views, not from a cache.",
  ],
];
