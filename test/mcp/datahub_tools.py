"""Calls every tool of DataHub's MCP server, and prints one JSON line for each: name, value or error.

Searches show a write shortly after it, so a search is repeated until it has the expected text.
"""

import asyncio
import json
import os
import sys

os.environ.update(
    DATAHUB_TELEMETRY_ENABLED="false",
    TOOLS_IS_MUTATION_ENABLED="true",
    TOOLS_IS_USER_ENABLED="true",
)

import mcp_server_datahub.__main__ as server  # noqa: E402
from datahub.ingestion.graph.config import ClientMode, DatahubClientConfig  # noqa: E402
from datahub.sdk.main_client import DataHubClient  # noqa: E402
from fastmcp import Client  # noqa: E402
from mcp_server_datahub.mcp_server import mcp  # noqa: E402

address, calls = sys.argv[1], json.loads(sys.argv[2])
config = DatahubClientConfig(
    server=address,
    client_mode=ClientMode.SDK,
    extra_headers={"X-Service-Actor": "urn:li:corpuser:datahub"},
)
mcp.add_middleware(server._DataHubClientMiddleware(DataHubClient(config=config)))


async def main() -> None:
    async with Client(mcp) as client:
        names = sorted(tool.name for tool in await client.list_tools())
        print(json.dumps({"tools": names}))
        for name, arguments, contains in calls:
            try:
                for attempt in range(100):
                    result = await client.call_tool(name, arguments)
                    value = result.content[0].text
                    if contains in value or not name.startswith("search"):
                        break
                    await asyncio.sleep(0.1)
                print(json.dumps({"name": name, "value": value}))
            except Exception as error:
                print(json.dumps({"name": name, "error": str(error)}))


asyncio.run(main())
