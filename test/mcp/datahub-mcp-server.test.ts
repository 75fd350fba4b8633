/** DataHub's MCP server, unmodified: every tool reads and writes the catalog. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import {
  callTools,
  entity_urns,
  serviceForTools,
  type ToolCall,
  toolCalls,
} from "./agent-tools.ts";

const script = fileURLToPath(new URL("datahub_tools.py", import.meta.url));

test("every tool of DataHub's MCP server works", installing, async (context) => {
  const python = await pythonWith(["mcp-server-datahub==0.8.0"], context);
  await using service = await serviceForTools();
  const calls: readonly ToolCall[] = [
    ...toolCalls("terms", "urn:li:ownershipType:__system__technical_owner"),
    ["get_aspect_history", { urns: entity_urns, aspect_names: ["ownership"] }, "ownership"],
  ];
  const tools = await callTools(service, { python, script, calls });
  expect(tools).toHaveLength(22);
  expect([...new Set(calls.map(([name]) => name))].sort()).toEqual(tools);
});
