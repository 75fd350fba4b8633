/** Why fields of the schema are always empty: `Type.field` or a whole type, its value, and the reason. */

import featureFlags from "../../../src/graphql/schema/feature-flags.json" with { type: "json" };

type Row = readonly [field: string, value: string, reason: string];

const noNews = "The service has no news about releases of DataHub.";
const noFiles = "The service stores no files.";
const noEvents = "The service stores no usage events; charts have bars that count entities.";
const noRendering = "The model annotates no aspect with a rendering.";
const noInsights = "DataHub returns none, too.";
const allTypes = "Recommendations link to searches of all types, by a filter.";
const noEmbeddings = "The service computes no embeddings.";
const noCache = "Lineage is read from the views, not from a cache.";
const noEdits = "Entity types without a type of their own have no aspect of edits.";
const noMember = "The aspects of entity types without a type of their own have no such member.";
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
  ["Query.semanticSearch", "error", noEmbeddings],
  ["Query.semanticSearchAcrossEntities", "error", noEmbeddings],
  ["SemanticSearchConfig", "disabled", noEmbeddings],
  ["EmbeddingConfig", "not returned", noEmbeddings],
  ["AwsProviderConfig", "not returned", noEmbeddings],
  ["VertexProviderConfig", "not returned", noEmbeddings],
  ["SearchAcrossLineageResults.freshness", "null", noCache],
  ["ScrollAcrossLineageResults.freshness", "null", noCache],
  ["FreshnessStats", "not returned", noCache],
  ["SystemFreshness", "not returned", noCache],
  ["CatalogEntity.editableProperties", "null", noEdits],
  ["EditableProperties", "not returned", noEdits],
  ...["qualifiedName", "email", "colorHex", "logoUrl"].map(
    (name) => [`EntityProperties.${name}`, "null", noMember] as const,
  ),
  ["EditableTagProperties", "not returned", "`Tag.properties` has the description."],
  ["SearchCardConfig.showDescription", "false", noFeature],
  ["SearchFlagsConfig.defaultSkipHighlighting", "false", noFeature],
];

/** The flags of features that the service does not have. */
export const offFlags: readonly string[] = Object.entries(featureFlags)
  .filter(([, on]) => !on)
  .map(([name]) => `FeatureFlagsConfig.${name}`);

/** Fields that only other tests give a value, and the test. */
export const seenElsewhere: ReadonlyMap<string, string> = new Map([
  ["ResetToken.resetToken", "test/auth/session.test.ts"],
  ["AccessTokenMetadata.lastUsedAt", "test/auth/audit.test.ts"],
  ["IngestionRun.executionRequestUrn", "test/graphql/settings-and-accounts.test.ts"],
  ...[
    ...["SearchAcrossLineageResults.isPartial", "ScrollAcrossLineageResults.isPartial"],
    ...["ignoredAsHop", "truncatedChildren"].map((name) => `SearchAcrossLineageResult.${name}`),
  ].map((field) => [field, "test/graphql/lineage-flags.test.ts"] as const),
  ...["urn", "name", "success", "error"].map(
    (name) => [`PatchEntityResult.${name}`, "test/graphql/asset-mutations.test.ts"] as const,
  ),
]);
