"""Runs a checkpoint of Great Expectations with DataHub's action."""

import sys

import great_expectations as gx
import pandas as pd
from datahub_gx_plugin.action_v1 import DataHubValidationAction

address, emit_mode = sys.argv[1:]
context = gx.get_context(mode="ephemeral")
asset = context.data_sources.add_pandas("shop").add_dataframe_asset("orders")
batch = asset.add_batch_definition_whole_dataframe("all")
suite = context.suites.add(gx.ExpectationSuite(name="orders"))
suite.add_expectation(gx.expectations.ExpectColumnValuesToNotBeNull(column="total"))
suite.add_expectation(gx.expectations.ExpectTableRowCountToBeBetween(min_value=10))
validation = context.validation_definitions.add(
    gx.ValidationDefinition(name="orders", data=batch, suite=suite)
)
action = DataHubValidationAction(
    server_url=address,
    platform="postgres",
    dataset_name="shop.public.orders",
    graceful_exceptions=False,
    emit_mode=emit_mode,
)
checkpoint = context.checkpoints.add(
    gx.Checkpoint(name="orders", validation_definitions=[validation], actions=[action])
)
checkpoint.run(batch_parameters={"dataframe": pd.DataFrame({"total": [1.0, 2.5, 3.0]})})
