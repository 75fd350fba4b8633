/** The MCP endpoint, through the client of the protocol's SDK. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeToken } from "../graphql/graphql-client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const name = (table: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${table},PROD)`;
const [RAW, ORDERS, REPORT] = [name("raw_orders"), name("orders"), name("report")];
const AUDIT = { time: 0, actor: "urn:li:corpuser:etl" };

let service: RunningService;
let mcp: Client;

beforeAll(async () => {
  service = await runningService();
  const { client } = service;
  const upsert = async (urn: string, aspect: string, value: unknown) =>
    expect((await client.upsert(urn, aspect, value)).status).toBe(200);
  await upsert(ORDERS, "datasetProperties", { name: "Orders", description: "One row per order" });
  const owner = { owner: "urn:li:corpuser:ada", type: "DATAOWNER" };
  await upsert(ORDERS, "ownership", { owners: [owner], lastModified: AUDIT });
  await upsert(ORDERS, "schemaMetadata", {
    schemaName: "orders",
    platform: "urn:li:dataPlatform:hive",
    version: 0,
    hash: "",
    platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
    fields: ["id", "total", "customer"].map((fieldPath) => ({
      fieldPath,
      nativeDataType: "bigint",
      description: `The ${fieldPath}`,
      type: { type: { "com.linkedin.schema.NumberType": {} } },
    })),
  });
  await upsert(ORDERS, "editableSchemaMetadata", {
    editableSchemaFieldInfo: [
      {
        fieldPath: "total",
        description: "Sum in euro",
        globalTags: { tags: [{ tag: "urn:li:tag:money" }] },
      },
    ],
  });
  for (const [from, to] of [
    [RAW, ORDERS],
    [ORDERS, REPORT],
  ] as const) {
    const upstream = { dataset: from, type: "TRANSFORMED", auditStamp: AUDIT };
    await upsert(to, "upstreamLineage", { upstreams: [upstream] });
  }
  for (const rowCount of [7, 8]) {
    const timestampMillis = 1_700_000_000_000 + rowCount;
    await upsert(ORDERS, "datasetProfile", { timestampMillis, rowCount });
  }
  await upsert(ORDERS, "datasetProperties", {
    name: "Orders",
    description: "One row per purchase",
  });
  mcp = await connect(service.address);
});

afterAll(async () => {
  await mcp.close();
  await service[Symbol.asyncDispose]();
});

async function connect(address: string, token?: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers: Record<string, string> =
    token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const url = new URL(`${address}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: results are read freely by tests.
async function call(tool: string, args: Record<string, unknown> = {}, client = mcp): Promise<any> {
  const result = await client.callTool({ name: tool, arguments: args });
  const [content] = result.content as readonly { readonly text: string }[];
  if (result.isError === true) throw new Error(content?.text);
  expect(JSON.parse(content?.text ?? "")).toEqual(result.structuredContent);
  return result.structuredContent;
}

test("an argument that a tool does not have is rejected by its name", async () => {
  await expect(call("get_changes", { urns: [ORDERS] })).rejects.toThrow(/"urns"/);
});

test("the client lists tools that only read, a resource template and prompts", async () => {
  const { tools } = await mcp.listTools();
  expect(tools.map((tool) => tool.name)).toEqual([
    "search",
    "summarize_catalog",
    "get_entities",
    "get_entities_as_of",
    "get_timeseries",
    "list_columns",
    "get_lineage",
    "find_lineage_paths",
    "get_relationships",
    "get_history",
    "get_changes",
  ]);
  for (const tool of tools) {
    expect(tool.annotations?.readOnlyHint).toBe(true);
    expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
  }
  const { resourceTemplates } = await mcp.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "annals://entity/{urn}",
  ]);
  expect((await mcp.listPrompts()).prompts).toHaveLength(3);
  const prompt = await mcp.getPrompt({ name: "describe_entity", arguments: { urn: ORDERS } });
  expect(JSON.stringify(prompt.messages)).toContain(ORDERS);
});

test("a search returns names, descriptions, the total and the position", async () => {
  await expect
    .poll(() => call("search", { query: "purchase", types: ["dataset"] }))
    .toMatchObject({
      total: 1,
      hits: [{ urn: ORDERS, type: "dataset", name: "Orders", description: "One row per purchase" }],
    });
  const filters = [{ field: "owners", values: ["urn:li:corpuser:ada"] }];
  const filtered = await call("search", { filters, facets: true });
  expect(filtered).toMatchObject({ total: 1, position: expect.any(Number) });
  expect(filtered.facets.map(({ field }: { field: string }) => field)).toContain("platform");
});

test("a summary counts the entities by type", async () => {
  expect(await call("summarize_catalog")).toMatchObject({ counts: { dataset: 2 } });
});

test("an entity has its aspects with version, writer and time, now and at a position", async () => {
  const now = await call("get_entities", { urns: [ORDERS], aspects: ["datasetProperties"] });
  expect(now.entities[0].aspects.datasetProperties).toMatchObject({
    version: 2,
    written_by: expect.stringMatching(/^urn:li:corpuser:/),
    written_at: expect.stringMatching(/^\d{4}-.*Z$/),
    value: { description: "One row per purchase" },
  });
  const first = { urns: [ORDERS], aspects: ["datasetProperties"], position: 2 };
  const past = await call("get_entities_as_of", first);
  expect(past.entities[0].aspects.datasetProperties.value.description).toBe("One row per order");
  await expect(call("get_entities_as_of", { urns: [ORDERS] })).rejects.toThrow(/malformed: .*one/);
  const resource = await mcp.readResource({ uri: `annals://entity/${encodeURIComponent(ORDERS)}` });
  expect(JSON.stringify(resource.contents)).toContain("One row per purchase");
});

test.each([
  ["annals://entity/%E0%A4", "not percent-encoded UTF-8"],
  ["annals://entity/no-urn", "no-urn"],
])("the resource %s is rejected with the reason", async (uri, reason) => {
  const { message } = await mcp.readResource({ uri }).then(
    () => ({ message: "" }),
    (error: Error) => error,
  );
  expect(message).toContain("-32602");
  expect(message).toContain(reason);
});

test("a value over the limit is replaced by its size and beginning", async () => {
  const { entities } = await call("get_entities", { urns: [ORDERS], max_characters: 100 });
  expect(entities[0].aspects.schemaMetadata.value.omitted).toMatch(/^\d+ characters/);
});

test("columns have edited descriptions and tags, and can be filtered", async () => {
  expect(await call("list_columns", { urn: ORDERS, filter: "EURO" })).toMatchObject({
    total: 1,
    columns: [
      { path: "total", type: "bigint", description: "Sum in euro", tags: ["urn:li:tag:money"] },
    ],
  });
  expect((await call("list_columns", { urn: ORDERS, start: 1, count: 1 })).columns).toMatchObject([
    { path: "total" },
  ]);
  await expect(call("list_columns", { urn: RAW })).rejects.toThrow(/not_found/);
});

test("lineage and relationships name the other ends, and paths lead from one to the other", async () => {
  const lineage = { urn: RAW, direction: "DOWNSTREAM", max_hops: 2 };
  expect(await call("get_lineage", lineage)).toMatchObject({
    total: 2,
    entities: [
      { urn: ORDERS, name: "Orders", hops: 1 },
      { urn: REPORT, hops: 2 },
    ],
  });
  const path = [RAW, ORDERS, REPORT];
  await expect
    .poll(() => call("find_lineage_paths", { from: RAW, to: REPORT }))
    .toMatchObject({ direction: "DOWNSTREAM", paths: [path] });
  expect(await call("find_lineage_paths", { from: REPORT, to: RAW })).toMatchObject({
    direction: "UPSTREAM",
    paths: [path],
  });
  const owners = { urn: ORDERS, direction: "OUTGOING", types: ["OwnedBy"] };
  expect((await call("get_relationships", owners)).relationships).toEqual([
    { type: "OwnedBy", urn: "urn:li:corpuser:ada" },
  ]);
});

test("the history has the differences, and changes continue after a position", async () => {
  const history = await call("get_history", { urn: ORDERS, aspects: ["datasetProperties"] });
  expect(history).toMatchObject({ end: true });
  expect(history.changes).toHaveLength(2);
  expect(history.changes[1].difference).toEqual([
    { op: "replace", path: "/description", value: "One row per purchase" },
  ]);
  const first = await call("get_changes", { after: 0, count: 3 });
  expect(first.changes).toHaveLength(3);
  const next = await call("get_changes", { after: first.position, count: 1 });
  expect(next.changes[0].position).toBeGreaterThan(first.changes[2].position);
  const since = await call("get_changes", { since: "2026-01-01T00:00:00Z", count: 1 });
  expect(since.changes).toHaveLength(1);
});

test("timeseries events come newest first", async () => {
  const { events } = await call("get_timeseries", { urn: ORDERS, aspect: "datasetProfile" });
  expect(events.map(({ rowCount }: { rowCount: number }) => rowCount)).toEqual([8, 7]);
});

test("wrong arguments and unknown names are errors of the tool that name the fault", async () => {
  await expect(call("search", { count: 1_000 })).rejects.toThrow(/count/);
  await expect(call("get_entities", { urns: ["no urn"] })).rejects.toThrow(/malformed: .*no urn/);
  await expect(call("get_lineage", { urn: ORDERS, direction: "SIDEWAYS" })).rejects.toThrow();
  await expect(call("constructor")).rejects.toThrow(/constructor/);
  await expect(call("get_changes", { after: 10 ** 12 })).rejects.toThrow(/invalid/);
});

test("a message that is no JSON-RPC is rejected, other methods of HTTP are not allowed", async () => {
  const { client } = service;
  const headers = { Accept: "application/json, text/event-stream" };
  for (const body of ["{", "[]", "{}", '"x"', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":{}}']) {
    expect((await client.call("POST", "/mcp", body, headers)).status).toBe(400);
  }
  expect((await client.get("/mcp")).status).toBe(405);
  const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
  expect((await client.call("POST", "/mcp", notification, headers)).status).toBe(202);
});

test("with --auth on, a client without a token is rejected", async () => {
  await using open = await runningService({ auth: "on" });
  await expect(connect(open.address)).rejects.toThrow(/401|unauthorized/i);
});

test("a token admits a client", async () => {
  const { token } = await makeToken(service.client);
  const client = await connect(service.address, token);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
});

describe("with --mcp-writes on", () => {
  let writing: RunningService;
  let agent: Client;

  beforeAll(async () => {
    writing = await runningService({ mcpWrites: "on" });
    const { client } = writing;
    await client.upsert(ORDERS, "datasetProperties", { name: "Orders" });
    await client.upsert("urn:li:tag:pii", "tagProperties", { name: "pii" });
    await client.upsert("urn:li:corpuser:ada", "corpUserInfo", { active: true });
    await client.upsert("urn:li:domain:sales", "domainProperties", { name: "Sales" });
    const term = { definition: "d", termSource: "INTERNAL" };
    await client.upsert("urn:li:glossaryTerm:money", "glossaryTermInfo", term);
    agent = await connect(writing.address);
  });
  afterAll(async () => {
    await agent.close();
    await writing[Symbol.asyncDispose]();
  });

  const write = (tool: string, args: Record<string, unknown>) => call(tool, args, agent);
  const aspectOf = async (aspect: string) => {
    const { entities } = await write("get_entities", { urns: [ORDERS], aspects: [aspect] });
    return entities[0].aspects[aspect];
  };
  const urns = [ORDERS];

  test("tools add and remove tags, terms and owners, and return the position", async () => {
    const { position } = await write("add_tags", { urns, tags: ["urn:li:tag:pii"] });
    expect(position).toBeGreaterThan(0);
    expect((await aspectOf("globalTags")).value.tags).toMatchObject([{ tag: "urn:li:tag:pii" }]);
    await write("remove_tags", { urns, tags: ["urn:li:tag:pii"] });
    expect((await aspectOf("globalTags")).value.tags).toEqual([]);

    await write("add_glossary_terms", { urns, terms: ["urn:li:glossaryTerm:money"] });
    expect((await aspectOf("glossaryTerms")).value.terms).toHaveLength(1);
    await write("remove_glossary_terms", { urns, terms: ["urn:li:glossaryTerm:money"] });
    expect((await aspectOf("glossaryTerms")).value.terms).toEqual([]);

    await write("add_owners", { urns, owners: ["urn:li:corpuser:ada"], type: "DATA_STEWARD" });
    expect((await aspectOf("ownership")).value.owners).toMatchObject([
      { owner: "urn:li:corpuser:ada", type: "DATA_STEWARD" },
    ]);
    await write("remove_owners", { urns, owners: ["urn:li:corpuser:ada"] });
    expect((await aspectOf("ownership")).value.owners).toEqual([]);
  });

  test("tools set the description, the domain and the deprecation", async () => {
    await write("set_description", { urn: ORDERS, description: "All orders" });
    expect((await aspectOf("editableDatasetProperties")).value.description).toBe("All orders");
    await write("set_domain", { urns, domain: "urn:li:domain:sales" });
    expect((await aspectOf("domains")).value.domains).toEqual(["urn:li:domain:sales"]);
    await write("set_deprecation", { urns, deprecated: true, note: "use sales" });
    expect((await aspectOf("deprecation")).value).toMatchObject({ deprecated: true });
  });

  test("tools set structured properties, and create, change and relate documents", async () => {
    const retention = "urn:li:structuredProperty:io.retention";
    await writing.client.upsert(retention, "propertyDefinition", {
      ...{ qualifiedName: "io.retention", valueType: "urn:li:dataType:datahub.number" },
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    });
    const properties = [{ property: retention, values: [90] }];
    await write("set_structured_properties", { urn: ORDERS, properties });
    expect((await aspectOf("structuredProperties")).value.properties).toMatchObject([
      { propertyUrn: retention, values: [{ double: 90 }] },
    ]);
    await write("remove_structured_properties", { urn: ORDERS, properties: [retention] });
    expect((await aspectOf("structuredProperties")).value.properties).toEqual([]);

    const guide = "urn:li:document:guide";
    const document = { id: "guide", title: "Guide", text: "one", related_assets: [ORDERS] };
    await write("create_document", document);
    await expect(write("create_document", document)).rejects.toThrow(/exists/);
    await write("update_document", { urn: guide, text: "two" });
    await write("set_document_relations", { urn: guide, related_documents: [guide] });
    const { entities } = await write("get_entities", { urns: [guide], aspects: ["documentInfo"] });
    expect(entities[0].aspects.documentInfo.value).toMatchObject({
      ...{ title: "Guide", contents: { text: "two" }, status: { state: "PUBLISHED" } },
      ...{ relatedAssets: [{ asset: ORDERS }], relatedDocuments: [{ document: guide }] },
    });
  });

  test("a rejected write is an error that names the fault, and changes nothing", async () => {
    const before = (await write("summarize_catalog", {})).position;
    const missing = { urns, tags: ["urn:li:tag:missing"] };
    await expect(write("add_tags", missing)).rejects.toThrow(/urn:li:tag:missing.* does not exist/);
    const column = { urn: ORDERS, column: "nowhere", description: "x" };
    await expect(write("set_description", column)).rejects.toThrow(/nowhere/);
    expect((await write("summarize_catalog", {})).position).toBe(before);
  });

  test("tools that write are marked as such", async () => {
    const { tools } = await agent.listTools();
    const writes = tools.filter((tool) => tool.annotations?.readOnlyHint === false);
    expect(writes).toHaveLength(14);
  });
});
