/** DataHub's MCP server, unmodified: every tool reads and writes the catalog. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { start } from "../cli/run-program.ts";
import { installing, pythonWith } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";

const script = fileURLToPath(new URL("datahub_tools.py", import.meta.url));
const sample = fileURLToPath(new URL("../data/sample/catalog.json", import.meta.url));
const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

const forecast = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";
const accession = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";
const tag = "urn:li:tag:gold";
const term = "urn:li:glossaryTerm:viable";
const domain = "urn:li:domain:vault";
const property = "urn:li:structuredProperty:keeper";
const owner = "urn:li:corpuser:datahub";
const entity_urns = [forecast];

/** The calls in their order, and what the answer contains. */
const calls: readonly (readonly [name: string, args: object, contains: string])[] = [
  ["search", { query: "forecast" }, forecast],
  ["get_entities", { urns: [forecast, accession] }, accession],
  ["list_schema_fields", { urn: forecast }, "fieldPath"],
  ["get_lineage", { urn: forecast, upstream: true, max_hops: 3 }, "upstreams"],
  ["get_dataset_queries", { urn: forecast }, '"total":0'],
  ["get_aspect_history", { urns: entity_urns, aspect_names: ["ownership"] }, "ownership"],
  ["get_me", {}, owner],
  ["add_tags", { tag_urns: [tag], entity_urns }, "Successfully added 1 tag"],
  ["search", { query: "*", filter: `tag = ${tag}` }, forecast],
  ["remove_tags", { tag_urns: [tag], entity_urns }, "Successfully removed 1 tag"],
  ["add_terms", { term_urns: [term], entity_urns }, "Successfully added 1"],
  ["remove_terms", { term_urns: [term], entity_urns }, "Successfully removed 1"],
  [
    "add_owners",
    {
      owner_urns: [owner],
      entity_urns,
      ownership_type: "urn:li:ownershipType:__system__technical_owner",
    },
    "Successfully added",
  ],
  ["remove_owners", { owner_urns: [owner], entity_urns }, "Successfully removed"],
  ["set_domains", { domain_urn: domain, entity_urns }, "Successfully set domain"],
  ["remove_domains", { entity_urns }, "Successfully removed domain"],
  [
    "update_description",
    { entity_urn: forecast, operation: "replace", description: "By an agent" },
    "updated successfully",
  ],
  ["get_entities", { urns: entity_urns }, "By an agent"],
  [
    "add_structured_properties",
    { property_values: { [property]: ["ada"] }, entity_urns },
    "Successfully added 1",
  ],
  [
    "remove_structured_properties",
    { property_urns: [property], entity_urns },
    "Successfully removed 1",
  ],
  [
    "save_document",
    { document_type: "Note", title: "Seeds", content: "They keep." },
    "Successfully created",
  ],
  ["search_documents", { query: "seeds" }, '"total":1'],
  ["grep_documents", { urns: [], pattern: "keep" }, "total_matches"],
  ["get_lineage_paths_between", { source_urn: accession, target_urn: forecast }, "paths"],
];

test("every tool of DataHub's MCP server works", installing, async (context) => {
  const python = await pythonWith(["mcp-server-datahub==0.8.0"], context);
  await using service = await runningService({ builtInEntities: "on" });
  const { client, address } = service;
  const ingested = await start(process.execPath, [main, "ingest", sample, "--server", address])
    .ended;
  expect(ingested.code, ingested.stderr).toBe(0);
  await client.upsert(tag, "tagProperties", { name: "gold" });
  await client.upsert(term, "glossaryTermInfo", { definition: "", termSource: "INTERNAL" });
  await client.upsert(domain, "domainProperties", { name: "Vault" });
  const definition = {
    ...{ qualifiedName: "keeper", valueType: "urn:li:dataType:datahub.string" },
    entityTypes: ["urn:li:entityType:datahub.dataset"],
  };
  const { position } = await client.upsert(property, "propertyDefinition", definition);
  await client.call(
    "POST",
    "/entities?action=search",
    { input: "*", entity: "dataset", start: 0, count: 1 },
    { "X-Annals-Min-Position": String(position) },
  );

  const asked = JSON.stringify(calls.map(([name, args]) => [name, args]));
  const { code, stdout, stderr } = await start(python, [script, address, asked]).ended;
  expect(code, stderr).toBe(0);
  const lines = stdout
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const [{ tools }, ...answers] = lines.map((line) => JSON.parse(line));
  expect(tools).toHaveLength(22);
  expect([...new Set(calls.map(([name]) => name))].sort()).toEqual(tools);
  for (const [at, [name, , contains]] of calls.entries()) {
    expect(answers[at].error, name).toBeUndefined();
    expect(answers[at].value, name).toContain(contains);
  }
});
