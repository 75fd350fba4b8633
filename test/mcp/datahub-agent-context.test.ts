/** DataHub's agent tools, unmodified: every tool reads and writes the catalog. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import {
  callTools,
  entity_urns,
  forecast,
  serviceForTools,
  type ToolCall,
  toolCalls,
} from "./agent-tools.ts";

const script = fileURLToPath(new URL("agent_context_tools.py", import.meta.url));
const assertion = "urn:li:assertion:viable";

/** They need the AI assistant of DataHub Cloud, and say so. */
const cloudOnly = ["ask_datahub_chat", "get_datahub_chat"];

test("every agent tool of DataHub works", installing, async (context) => {
  const python = await pythonWith(["datahub-agent-context==1.7.0.17"], context);
  await using service = await serviceForTools();
  await service.client.upsert(assertion, "assertionInfo", {
    ...{ type: "FRESHNESS", description: "seeds keep" },
    freshnessAssertion: {
      ...{ type: "DATASET_CHANGE", entity: forecast },
      schedule: { type: "FIXED_INTERVAL", fixedInterval: { unit: "DAY", multiple: 1 } },
    },
  });
  await service.client.upsert(assertion, "assertionRunEvent", {
    ...{ timestampMillis: Date.now(), runId: "1", asserteeUrn: forecast, assertionUrn: assertion },
    ...{ status: "COMPLETE", result: { type: "SUCCESS" } },
  });
  const incident = {
    ...{ urn: forecast, title: "Late", description: "Since noon" },
    incident_type: "FRESHNESS",
  };
  const calls: readonly ToolCall[] = [
    ...toolCalls("glossary_terms", "__system__technical_owner"),
    ["get_dataset_assertions", { urn: forecast, run_events_count: 1 }, '"SUCCESS"'],
    ["raise_incident", incident, "urn:li:incident:"],
    [
      "resolve_incident",
      { incident_urn: { from: ["incidentUrn"] }, message: "Loaded" },
      "Successfully resolved",
    ],
    ["list_incidents", { urn: forecast, state: "RESOLVED" }, "Since noon"],
    ["get_entities", { urns: entity_urns }, "By an agent"],
  ];
  const tools = await callTools(service, { python, script, calls });
  const called = [...new Set(calls.map(([name]) => name))];
  expect([...called, ...cloudOnly].sort()).toEqual(tools);
});
