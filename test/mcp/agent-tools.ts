/** A catalog for tests of DataHub's agent tools, and their calls. */
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { start } from "../cli/run-program.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const sample = fileURLToPath(new URL("../data/sample/catalog.json", import.meta.url));
const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export const forecast =
  "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";
const accession = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";
const tag = "urn:li:tag:gold";
const term = "urn:li:glossaryTerm:viable";
const domain = "urn:li:domain:vault";
const property = "urn:li:structuredProperty:keeper";
const owner = "urn:li:corpuser:datahub";
export const entity_urns = [forecast];

/** A call of a tool, and what its answer contains. */
export type ToolCall = readonly [name: string, args: object, contains: string];

/** The calls in their order. `terms` is in the names of the tools for glossary terms. */
export const toolCalls = (terms: string, ownershipType: string): readonly ToolCall[] => [
  ["search", { query: "forecast" }, forecast],
  ["get_entities", { urns: [forecast, accession] }, accession],
  ["list_schema_fields", { urn: forecast }, "fieldPath"],
  ["get_lineage", { urn: forecast, upstream: true, max_hops: 3 }, "upstreams"],
  ["get_dataset_queries", { urn: forecast }, '"total":0'],
  ["get_me", {}, owner],
  ["add_tags", { tag_urns: [tag], entity_urns }, "Successfully added 1 tag"],
  ["search", { query: "*", filter: `tag = ${tag}` }, forecast],
  ["remove_tags", { tag_urns: [tag], entity_urns }, "Successfully removed 1 tag"],
  [`add_${terms}`, { term_urns: [term], entity_urns }, "Successfully added 1"],
  [`remove_${terms}`, { term_urns: [term], entity_urns }, "Successfully removed 1"],
  [
    "add_owners",
    {
      owner_urns: [owner],
      entity_urns,
      ownership_type: ownershipType,
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

/** A service with the sample, and the tag, term, domain and property that the calls use. */
export async function serviceForTools(): Promise<RunningService> {
  const service = await runningService({ builtInEntities: "on" });
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
  return service;
}

/** Runs the script with the calls, checks each answer, and returns the names of the tools. */
export async function callTools(
  { address }: RunningService,
  { python, script, calls }: { python: string; script: string; calls: readonly ToolCall[] },
): Promise<readonly string[]> {
  const { code, stdout, stderr } = await start(python, [script, address, JSON.stringify(calls)])
    .ended;
  expect(code, stderr).toBe(0);
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const [{ tools }, ...answers] = lines.map((line) => JSON.parse(line));
  const wrong = calls.flatMap(([, , contains], at) =>
    answers[at]?.value?.includes(contains) ? [] : [{ ...answers[at], contains }],
  );
  expect(wrong).toEqual([]);
  return tools;
}
