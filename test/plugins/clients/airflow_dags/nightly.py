"""A DAG with one task, which reads a table and writes another one."""

import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG
from datahub_airflow_plugin.entities import Dataset

with DAG("nightly", schedule=None, start_date=datetime.datetime(2026, 1, 1)):
    BashOperator(
        task_id="load",
        bash_command="true",
        inlets=[Dataset("postgres", "shop.public.orders")],
        outlets=[Dataset("postgres", "shop.mart.revenue")],
    )
