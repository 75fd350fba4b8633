"""Sends the life of a run, and a dataset and a job without one, with the client of OpenLineage."""

import sys

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import (
    Dataset,
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    StaticDataset,
)
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    data_quality_assertions_dataset,
    data_quality_metrics_input_dataset,
    documentation_job,
    error_message_run,
    job_type_job,
    nominal_time_run,
    output_statistics_output_dataset,
    ownership_job,
    parent_run,
    schema_dataset,
    sql_job,
)
from openlineage.client.transport.http import HttpCompression, HttpConfig, HttpTransport

address, run_id, parent_id = sys.argv[1:]
config = HttpConfig(url=address, compression=HttpCompression.GZIP)
client = OpenLineageClient(transport=HttpTransport(config))
producer = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/client/python"
namespace = "postgres://db:5432"


def run_event(state, time, run_facets, inputs, outputs):
    job = Job(
        namespace="shop",
        name="python.load",
        facets={
            "documentation": documentation_job.DocumentationJobFacet(description="Loads"),
            "jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration="PYTHON"),
            "ownership": ownership_job.OwnershipJobFacet(
                owners=[ownership_job.Owner(name="team:finance")]
            ),
            "sql": sql_job.SQLJobFacet(query="select 1"),
        },
    )
    run = Run(runId=run_id, facets=run_facets)
    client.emit(
        RunEvent(
            eventType=state,
            eventTime=time,
            run=run,
            job=job,
            inputs=inputs,
            outputs=outputs,
            producer=producer,
        )
    )


orders = InputDataset(
    namespace=namespace,
    name="shop.public.orders",
    inputFacets={
        "dataQualityMetrics": data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
            rowCount=12,
            columnMetrics={
                "total": data_quality_metrics_input_dataset.ColumnMetrics(nullCount=1)
            },
        ),
        "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
            assertions=[
                data_quality_assertions_dataset.Assertion(
                    assertion="not_null", success=True, column="total"
                )
            ]
        ),
    },
)
source = column_lineage_dataset.InputField(
    namespace=namespace,
    name="shop.public.orders",
    field="total",
    transformations=[
        column_lineage_dataset.Transformation(type="DIRECT", subtype="AGGREGATION")
    ],
)
revenue = OutputDataset(
    namespace=namespace,
    name="shop.mart.revenue",
    facets={
        "schema": schema_dataset.SchemaDatasetFacet(
            fields=[schema_dataset.SchemaDatasetFacetFields(name="amount", type="int")]
        ),
        "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(
            fields={"amount": column_lineage_dataset.Fields(inputFields=[source])}
        ),
    },
    outputFacets={
        "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
            rowCount=12, size=512
        )
    },
)
parent = parent_run.ParentRunFacet(
    run=parent_run.Run(runId=parent_id), job=parent_run.Job(namespace="shop", name="python")
)
nominal = nominal_time_run.NominalTimeRunFacet(nominalStartTime="2026-03-02T06:00:00Z")
error = error_message_run.ErrorMessageRunFacet(message="late", programmingLanguage="python")

run_event(
    RunState.START,
    "2026-03-02T06:00:00Z",
    {"parent": parent, "nominalTime": nominal},
    [orders],
    [],
)
run_event(RunState.FAIL, "2026-03-02T06:15:00Z", {"errorMessage": error}, [], [revenue])
client.emit(
    DatasetEvent(
        eventTime="2026-03-02T06:20:00Z",
        dataset=StaticDataset(namespace=namespace, name="shop.mart.of_python"),
        producer=producer,
    )
)
client.emit(
    JobEvent(
        eventTime="2026-03-02T06:20:00Z",
        job=Job(namespace="shop", name="python.design"),
        inputs=[Dataset(namespace=namespace, name="shop.public.orders")],
        producer=producer,
    )
)
client.close()
