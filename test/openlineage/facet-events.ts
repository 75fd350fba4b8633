/** An event with one facet each, for every facet of OpenLineage 2-0-2 (August 2026). */

export const PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.30.0/client/python";
export const RUN_ID = "0195a1c2-7d30-7a10-8c55-3f1f4c2b9a01";
const OTHER_RUN = "0195a1c2-7d30-7a10-8c55-3f1f4c2b9a02";
export const ORDERS = { namespace: "postgres://db:5432", name: "shop.public.orders" };
export const REVENUE = { namespace: "postgres://db:5432", name: "shop.mart.revenue" };
const UPSTREAM = { namespace: "shop", name: "nightly.extract" };

type Facets = Readonly<Record<string, object>>;

interface WithFacets {
  readonly run?: Facets;
  readonly job?: Facets;
  readonly input?: Facets;
  readonly inputFacets?: Facets;
  readonly output?: Facets;
  readonly outputFacets?: Facets;
}

export const runEvent = (
  facets: WithFacets = {},
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  eventType: "COMPLETE",
  eventTime: "2026-03-02T06:15:00Z",
  producer: PRODUCER,
  schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  run: { runId: RUN_ID, ...(facets.run && { facets: facets.run }) },
  job: {
    namespace: "shop",
    name: "nightly.load_revenue",
    ...(facets.job && { facets: facets.job }),
  },
  inputs: [
    {
      ...ORDERS,
      ...(facets.input && { facets: facets.input }),
      ...(facets.inputFacets && { inputFacets: facets.inputFacets }),
    },
  ],
  outputs: [
    {
      ...REVENUE,
      ...(facets.output && { facets: facets.output }),
      ...(facets.outputFacets && { outputFacets: facets.outputFacets }),
    },
  ],
  ...more,
});

const described = { description: "Revenue by day" };
const owned = { owners: [{ name: "team:finance", type: "BUSINESS_OWNER" }, { name: "mira" }] };
const tagged = [{ key: "tier", value: "gold" }];
const metrics = {
  rowCount: 12,
  bytes: 4096,
  fileCount: 2,
  columnMetrics: {
    amount: {
      ...{ nullCount: 1, distinctCount: 9, sum: 60, count: 12, min: 1, max: 9 },
      quantiles: { "0.5": 4.5 },
    },
  },
};
const condition = { type: "partition", partitions: [{ dimensions: { day: "2026-03-01" } }] };

/** By the key of the facet and the entity with it. */
export const facetEvents: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "run processing_engine": runEvent({
    run: {
      processing_engine: { name: "Spark", version: "3.5.0", openlineageAdapterVersion: "1.30.0" },
    },
  }),
  "run parent": runEvent({
    run: {
      parent: {
        run: { runId: OTHER_RUN },
        job: { namespace: "shop", name: "nightly" },
        root: { run: { runId: OTHER_RUN }, job: { namespace: "shop", name: "nightly" } },
      },
    },
  }),
  "run nominalTime": runEvent({
    run: {
      nominalTime: {
        nominalStartTime: "2026-03-02T06:00:00Z",
        nominalEndTime: "2026-03-02T07:00:00Z",
      },
    },
  }),
  "run errorMessage": runEvent(
    {
      run: {
        errorMessage: {
          ...{ message: "disk full", programmingLanguage: "python" },
          stackTrace: "Traceback: write failed for postgres://me:secret@db/shop",
        },
      },
    },
    { eventType: "FAIL" },
  ),
  "run environmentVariables": runEvent({
    run: {
      environmentVariables: {
        environmentVariables: [
          { name: "REGION", value: "eu" },
          { name: "API_TOKEN", value: "t0psecret" },
        ],
      },
    },
  }),
  "run jobDependencies": runEvent({
    run: {
      jobDependencies: {
        upstream: [
          { job: UPSTREAM, run: { runId: OTHER_RUN }, dependency_type: "DIRECT_INVOCATION" },
        ],
        downstream: [{ job: { namespace: "shop", name: "nightly.report" } }],
        trigger_rule: "ALL_SUCCESS",
      },
    },
  }),
  "run externalQuery": runEvent({
    run: { externalQuery: { externalQueryId: "job_17", source: "bigquery" } },
  }),
  "run extractionError": runEvent({
    run: {
      extractionError: {
        ...{ totalTasks: 2, failedTasks: 1 },
        errors: [{ errorMessage: "syntax", task: "SELECT", taskNumber: 1 }],
      },
    },
  }),
  "run executionParameters": runEvent({
    run: { executionParameters: { parameters: [{ key: "day", value: "2026-03-01" }] } },
  }),
  "run tags": runEvent({ run: { tags: { tags: tagged } } }),
  "run test": runEvent({
    run: { test: { tests: [{ name: "not_null", status: "pass", expected: "0", actual: "0" }] } },
  }),
  "run spark_properties": runEvent({
    run: {
      spark_properties: {
        properties: { "spark.master": "local", "spark.ssl.keyPassword": "hidden" },
      },
    },
  }),
  "job documentation": runEvent({ job: { documentation: described } }),
  "job ownership": runEvent({ job: { ownership: owned } }),
  "job tags": runEvent({ job: { tags: { tags: tagged } } }),
  "job sql": runEvent({ job: { sql: { query: "select 1", dialect: "postgres" } } }),
  "job sourceCode": runEvent({
    job: { sourceCode: { language: "python", sourceCode: "load()" } },
  }),
  "job sourceCodeLocation": runEvent({
    job: {
      sourceCodeLocation: {
        ...{ type: "git", url: "https://example.com/shop/load.py", branch: "main" },
      },
    },
  }),
  "job jobType": runEvent({
    job: {
      jobType: {
        ...{ processingType: "STREAMING", integration: "SPARK", jobType: "JOB" },
        emissionPattern: { eventTrigger: "PERIODIC", eventContentMode: "ACCUMULATIVE" },
      },
    },
  }),
  "job lineage": runEvent({
    job: {
      lineage: {
        entries: [
          {
            ...{ ...REVENUE, type: "DATASET", inputs: [{ ...ORDERS, type: "DATASET" }] },
            fields: {
              amount: {
                inputs: [
                  {
                    ...{ ...ORDERS, type: "DATASET", field: "total" },
                    transformations: [{ type: "DIRECT", subtype: "AGGREGATION" }],
                  },
                ],
              },
            },
          },
          { type: "JOB", inputs: [{ ...UPSTREAM, type: "JOB", runId: OTHER_RUN }] },
        ],
      },
    },
  }),
  "dataset schema": runEvent({
    output: {
      schema: {
        fields: [
          { name: "amount", type: "decimal(10,2)", description: "In euros" },
          { name: "address", type: "struct", fields: [{ name: "city", type: "varchar" }] },
        ],
      },
    },
  }),
  "dataset columnLineage": runEvent({
    output: {
      columnLineage: {
        fields: {
          amount: {
            inputFields: [
              {
                ...{ ...ORDERS, field: "total" },
                transformations: [
                  { type: "DIRECT", subtype: "AGGREGATION" },
                  { type: "INDIRECT", subtype: "FILTER", masking: false },
                ],
              },
              { ...ORDERS, field: "currency" },
            ],
          },
        },
        dataset: [{ ...ORDERS, field: "day" }],
      },
    },
  }),
  "dataset lineage": {
    eventTime: "2026-03-02T06:15:00Z",
    producer: PRODUCER,
    dataset: {
      ...REVENUE,
      facets: {
        lineage: {
          inputs: [
            { ...ORDERS, type: "DATASET" },
            { ...UPSTREAM, type: "JOB" },
          ],
          fields: { amount: { inputs: [{ ...ORDERS, type: "DATASET", field: "total" }] } },
        },
      },
    },
  },
  "dataset symlinks": runEvent({
    output: {
      symlinks: {
        identifiers: [{ namespace: "hive://metastore", name: "mart.revenue", type: "TABLE" }],
      },
    },
  }),
  "dataset documentation": runEvent({ output: { documentation: described } }),
  "dataset ownership": runEvent({ output: { ownership: owned } }),
  "dataset tags": runEvent({
    output: { tags: { tags: [...tagged, { key: "pii", value: "", field: "amount" }] } },
  }),
  "dataset datasetType": runEvent({
    output: { datasetType: { datasetType: "VIEW", subType: "MATERIALIZED" } },
  }),
  "dataset version": runEvent({ output: { version: { datasetVersion: "7" } } }),
  "dataset storage": runEvent({
    output: { storage: { storageLayer: "iceberg", fileFormat: "parquet" } },
  }),
  "dataset catalog": runEvent({
    output: {
      catalog: {
        ...{ framework: "iceberg", type: "rest", name: "lake", warehouseUri: "s3://lake" },
        catalogProperties: { region: "eu", "secret-key": "hidden" },
      },
    },
  }),
  "dataset dataSource": runEvent({
    output: { dataSource: { name: "shop", uri: "postgres://db:5432" } },
  }),
  "dataset hierarchy": runEvent({
    output: {
      hierarchy: {
        hierarchy: [
          { type: "DATABASE", name: "shop" },
          { type: "SCHEMA", name: "mart" },
          { type: "TABLE", name: "revenue" },
        ],
      },
    },
  }),
  "dataset lifecycleStateChange": runEvent({
    output: {
      lifecycleStateChange: {
        lifecycleStateChange: "RENAME",
        previousIdentifier: { ...REVENUE, name: "shop.mart.income" },
      },
    },
  }),
  "dataset dataQualityMetrics": runEvent({ output: { dataQualityMetrics: metrics } }),
  "input dataQualityMetrics": runEvent({ inputFacets: { dataQualityMetrics: metrics } }),
  "input dataQualityAssertions": runEvent({
    inputFacets: {
      dataQualityAssertions: {
        assertions: [
          { assertion: "not_null", success: true, column: "total" },
          {
            ...{ assertion: "row_count", success: false, severity: "error" },
            ...{ expected: "> 0", actual: "0", name: "rows", params: { min: 1 } },
          },
        ],
      },
    },
  }),
  "input inputStatistics": runEvent({
    inputFacets: { inputStatistics: { rowCount: 100, size: 4096, fileCount: 1 } },
  }),
  "input subset": runEvent({ inputFacets: { subset: { inputCondition: condition } } }),
  "output subset": runEvent({ outputFacets: { subset: { outputCondition: condition } } }),
  "output outputStatistics": runEvent({
    outputFacets: { outputStatistics: { rowCount: 12, size: 512, fileCount: 1 } },
  }),
  "output icebergCommitReport": runEvent({
    outputFacets: { icebergCommitReport: { snapshotId: 3, metrics: { added: 12 } } },
  }),
};
