"""Runs a job of Dagster with two ops, and DataHub's sensor on its end."""

import sys

from dagster import DagsterInstance, build_run_status_sensor_context, job, op
from datahub.ingestion.graph.config import DatahubClientConfig
from datahub.utilities.urns.dataset_urn import DatasetUrn
from datahub_dagster_plugin.client.dagster_generator import DatasetLineage
from datahub_dagster_plugin.sensors.datahub_sensors import (
    DatahubDagsterSourceConfig,
    DatahubSensors,
)

address, emit_mode = sys.argv[1:]


@op
def extract():
    return [1, 2]


@op
def load(orders):
    return sum(orders)


@job
def nightly():
    load(extract())


def lineage(*_):
    orders = DatasetUrn("postgres", "shop.public.orders")
    revenue = DatasetUrn("postgres", "shop.mart.revenue")
    return {"load": DatasetLineage(inputs={orders}, outputs={revenue})}


instance = DagsterInstance.ephemeral()
result = nightly.execute_in_process(instance=instance)
config = DatahubDagsterSourceConfig(
    datahub_client_config=DatahubClientConfig(server=address),
    dagster_url="http://localhost:3000",
    emit_mode=emit_mode,
    asset_lineage_extractor=lineage,
)
sensors = DatahubSensors(config)
context = build_run_status_sensor_context(
    sensor_name="datahub_success_sensor",
    dagster_instance=instance,
    dagster_run=result.dagster_run,
    dagster_event=result.get_run_success_event(),
)
with context:
    outcome = sensors._emit_metadata(context)
if "is emitted" not in outcome.skip_message:
    sys.exit(outcome.skip_message)
