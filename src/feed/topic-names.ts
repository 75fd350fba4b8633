/** DataHub's names of the topics of events, and its release. */
export const topics = {
  versioned: "MetadataChangeLog_Versioned_v1",
  timeseries: "MetadataChangeLog_Timeseries_v1",
  proposals: "MetadataChangeProposal_v1",
  failedProposals: "FailedMetadataChangeProposal_v1",
  platformEvents: "PlatformEvent_v1",
  upgradeHistory: "DataHubUpgradeHistory_v1",
} as const;

/**
 * The release of DataHub that the service reports. Its clients choose their requests by it: from
 * 1.0.1 on OpenAPI and traces, from 1.3.1 on patches of all aspects.
 */
export const spokenVersion = "v1.6.0";
