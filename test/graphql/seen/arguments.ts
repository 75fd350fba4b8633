/** Arguments and members of inputs that no resolver reads by their names. */

/** Inputs that are passed on, and read in src/catalog/search. */
export const readByCatalog: readonly string[] = [
  "SearchFlags",
  "FacetFilterInput",
  "SortCriterion",
];

/** Inputs whose members are copied to an aspect as they are. */
export const copiedInputs: readonly string[] = [
  ...["ActorFilterInput", "PolicyMatchFilterInput", "ResourceFilterInput"],
  ...[
    "AssertionStdParametersInput",
    "AssetCollectionModuleParamsInput",
    "HierarchyViewModuleParamsInput",
  ],
  ...["LinkModuleParamsInput", "RichTextModuleParamsInput"],
  ...["PageTemplateAssetSummaryInput", "SummaryElementInput"],
  ...["CorpGroupUpdateInput", "CorpUserUpdateInput"],
  ...["CreateDataHubFileInput", "ERModelRelationshipEditablePropertiesUpdate"],
  ...["CreateQueryPropertiesInput", "QueryStatementInput", "UpdateQueryPropertiesInput"],
  ...["LinkSettingsInput", "StructuredPropertySettingsInput"],
  ...["UpdateIngestionSourceConfigInput", "UpdateIngestionSourceScheduleInput"],
  ...["UpdateMediaInput", "UpdatePostContentInput"],
];

const scenario = "Recommendations depend on the scenario only, as in DataHub.";
const scroll = "A scroll can be continued at any time.";
const created = "The service records the time of the creation, and the caller.";
const asInDataHub = "DataHub ignores it, too.";

/** An argument, a member of an input or a whole input, and the reason. */
export const withoutEffect: readonly (readonly [name: string, reason: string])[] = [
  ["Query.latestProductUpdate(refreshCache)", "The service has no news about releases of DataHub."],
  ["Query.getPresignedUploadUrl(input)", "The service stores no files."],
  ["GetPresignedUploadUrlInput", "The service stores no files."],
  ["SearchFlags.skipCache", "Searches are not cached."],
  ["SearchFlags.fulltext", "There is one search algorithm."],
  ["SearchFlags.includeRestricted", "Entities that the caller may not view are left out."],
  ["ScrollAcrossEntitiesInput.keepAlive", scroll],
  ["ScrollAcrossLineageInput.keepAlive", scroll],
  ["Dataset.usageStats(resource)", "The statistics are those of the dataset."],
  ["Dataset.usageStats(timeZone)", "Buckets keep the length with which they were written."],
  ["BrowsePathsInput.type", "The urn states the type."],
  ["ListRecommendationsInput.userUrn", scenario],
  ["RecommendationRequestContext.searchRequestContext", scenario],
  ["RecommendationRequestContext.entityRequestContext", scenario],
  ["CreatePostInput.subResource", asInDataHub],
  ["CreatePostInput.subResourceType", asInDataHub],
  ["UpdateDeprecationInput.subResource", asInDataHub],
  ["UpdateDeprecationInput.subResourceType", asInDataHub],
  ["UpdateIngestionSourceInput.description", "The aspect has no such member."],
  ["RaiseIncidentInput.source", "The source of raised incidents is MANUAL, as in DataHub."],
  ["TagUpdateInput.ownership", "Mutations of owners change it."],
  ["ERModelRelationshipPropertiesInput.created", created],
  ["ERModelRelationshipPropertiesInput.createdAt", created],
  ["ERModelRelationshipPropertiesInput.createdBy", created],
];
