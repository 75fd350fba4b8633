/** One entity for each of the 21 legacy snapshot records, with aspects of its union. */
const ANN = "urn:li:corpuser:ann";
const time = 1_629_331_200_000;
const stamp = { time, actor: ANN };
const stamps = { created: stamp, lastModified: stamp };

const status = { "com.linkedin.common.Status": { removed: false } };
const ownership = {
  "com.linkedin.common.Ownership": {
    owners: [{ owner: ANN, type: "DATAOWNER" }],
    lastModified: stamp,
  },
};

export interface SnapshotSample {
  readonly record: string;
  readonly urn: string;
  readonly aspects: Readonly<Record<string, unknown>>;
}

const sample = (name: string, urn: string, aspects: SnapshotSample["aspects"]): SnapshotSample => ({
  record: `com.linkedin.metadata.snapshot.${name}Snapshot`,
  urn: `urn:li:${urn}`,
  aspects,
});

export const snapshotSamples: readonly SnapshotSample[] = [
  sample("CorpUser", "corpuser:ann", {
    "com.linkedin.identity.CorpUserInfo": {
      active: true,
      displayName: "Ann",
      fullName: "Ann Tide",
      email: "ann@example.org",
    },
  }),
  sample("CorpGroup", "corpGroup:harbour", {
    "com.linkedin.identity.CorpGroupInfo": {
      email: "harbour@example.org",
      admins: [ANN],
      members: [ANN],
      groups: [],
    },
  }),
  sample("Dataset", "dataset:(urn:li:dataPlatform:hive,harbour.ferries,PROD)", {
    ...status,
    ...ownership,
    "com.linkedin.common.BrowsePaths": { paths: ["/prod/hive/harbour"] },
    "com.linkedin.common.GlobalTags": { tags: [{ tag: "urn:li:tag:Tides" }] },
  }),
  sample("Chart", "chart:(looker,tides.1)", {
    "com.linkedin.chart.ChartInfo": {
      title: "Tides",
      description: "by day",
      inputs: [{ string: "urn:li:dataset:(urn:li:dataPlatform:hive,harbour.tides,PROD)" }],
      lastModified: stamps,
    },
  }),
  sample("Dashboard", "dashboard:(looker,harbour.1)", {
    "com.linkedin.dashboard.DashboardInfo": {
      title: "Harbour",
      description: "what comes in",
      charts: ["urn:li:chart:(looker,tides.1)"],
      lastModified: stamps,
    },
  }),
  sample("Tag", "tag:Tides", {
    "com.linkedin.tag.TagProperties": { name: "Tides", description: "about the sea" },
  }),
  sample("GlossaryTerm", "glossaryTerm:Harbour.Tide", {
    ...ownership,
    "com.linkedin.glossary.GlossaryTermInfo": {
      definition: "the rise and fall of the sea",
      customProperties: { unit: "cm" },
      sourceRef: "Almanac",
      sourceUrl: "https://example.org/tide",
      termSource: "EXTERNAL",
    },
  }),
  sample("GlossaryNode", "glossaryNode:Harbour", {
    "com.linkedin.glossary.GlossaryNodeInfo": { definition: "words of the harbour" },
  }),
  sample("DataPlatform", "dataPlatform:tidegauge", {
    "com.linkedin.dataplatform.DataPlatformInfo": {
      name: "tidegauge",
      type: "OTHERS",
      datasetNameDelimiter: ".",
    },
  }),
  sample("DataFlow", "dataFlow:(airflow,tides,PROD)", {
    "com.linkedin.datajob.DataFlowInfo": { name: "tides" },
  }),
  sample("DataJob", "dataJob:(urn:li:dataFlow:(airflow,tides,PROD),load)", {
    "com.linkedin.datajob.DataJobInfo": { name: "load", type: { string: "SQL" } },
  }),
  sample("DataProcess", "dataProcess:(smooth,airflow,PROD)", { ...status, ...ownership }),
  sample("MLModel", "mlModel:(urn:li:dataPlatform:science,surge,PROD)", {
    "com.linkedin.ml.metadata.MLModelProperties": { description: "foretells surges" },
  }),
  sample("MLModelGroup", "mlModelGroup:(urn:li:dataPlatform:science,surges,PROD)", {
    "com.linkedin.ml.metadata.MLModelGroupProperties": { description: "of surges" },
  }),
  sample("MLModelDeployment", "mlModelDeployment:(urn:li:dataPlatform:science,surge-live,PROD)", {
    "com.linkedin.ml.metadata.MLModelDeploymentProperties": { description: "live" },
  }),
  sample("MLFeature", "mlFeature:(sea,height)", {
    "com.linkedin.ml.metadata.MLFeatureProperties": { description: "height", dataType: "COUNT" },
  }),
  sample("MLFeatureTable", "mlFeatureTable:(urn:li:dataPlatform:feast,sea)", {
    "com.linkedin.ml.metadata.MLFeatureTableProperties": { description: "of the sea" },
  }),
  sample("MLPrimaryKey", "mlPrimaryKey:(sea,station)", {
    "com.linkedin.ml.metadata.MLPrimaryKeyProperties": {
      description: "station",
      dataType: "TEXT",
      sources: ["urn:li:dataset:(urn:li:dataPlatform:hive,harbour.tides,PROD)"],
    },
  }),
  sample(
    "SchemaField",
    "schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,harbour.tides,PROD),station)",
    {
      "com.linkedin.metadata.key.SchemaFieldKey": {
        parent: "urn:li:dataset:(urn:li:dataPlatform:hive,harbour.tides,PROD)",
        fieldPath: "station",
      },
    },
  ),
  sample("DataHubPolicy", "dataHubPolicy:readers", {
    "com.linkedin.policy.DataHubPolicyInfo": {
      displayName: "Readers",
      description: "may read",
      type: "METADATA",
      state: "ACTIVE",
      privileges: ["VIEW_ENTITY_PAGE"],
      actors: { allUsers: true },
      editable: true,
    },
  }),
  sample("DataHubRetention", "dataHubRetention:(dataset,status)", {
    "com.linkedin.retention.DataHubRetentionConfig": {
      retention: { version: { maxVersions: 5 } },
    },
  }),
];
