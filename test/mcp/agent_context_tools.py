"""Calls tools of DataHub's agent tools, and prints one JSON line for each: name, value or error.

Searches show a write shortly after it, so a search is repeated until it has the expected text.
"""

import json
import os
import sys
import time

os.environ["DATAHUB_TELEMETRY_ENABLED"] = "false"

from datahub.ingestion.graph.config import ClientMode, DatahubClientConfig  # noqa: E402
from datahub.sdk.main_client import DataHubClient  # noqa: E402
from datahub_agent_context import mcp_tools  # noqa: E402
from datahub_agent_context.context import DataHubContext  # noqa: E402
from pydantic import validate_call  # noqa: E402

address, calls = sys.argv[1], json.loads(sys.argv[2])
config = DatahubClientConfig(
    server=address,
    client_mode=ClientMode.SDK,
    extra_headers={"X-Service-Actor": "urn:li:corpuser:datahub"},
)
print(json.dumps({"tools": sorted(mcp_tools.__all__)}))
last = None
with DataHubContext(DataHubClient(config=config)):
    for name, arguments, contains in calls:
        # An argument may be a member of the last result: {"from": ["data", "urn"]}.
        for key, value in arguments.items():
            if isinstance(value, dict) and "from" in value:
                found = last
                for step in value["from"]:
                    found = found[step]
                arguments[key] = found
        try:
            for attempt in range(100):
                last = validate_call(getattr(mcp_tools, name))(**arguments)
                value = json.dumps(last, separators=(",", ":"))
                if contains in value or not name.startswith("search"):
                    break
                time.sleep(0.1)
            print(json.dumps({"name": name, "value": value}))
        except Exception as error:
            print(json.dumps({"name": name, "error": str(error)}))
