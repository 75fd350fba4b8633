/** DataHub's names of the topics of events. */
export const topics = {
  versioned: "MetadataChangeLog_Versioned_v1",
  timeseries: "MetadataChangeLog_Timeseries_v1",
  proposals: "MetadataChangeProposal_v1",
  failedProposals: "FailedMetadataChangeProposal_v1",
  platformEvents: "PlatformEvent_v1",
} as const;
