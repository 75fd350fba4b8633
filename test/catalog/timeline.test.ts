/** The timeline of an entity, over HTTP. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,timed,PROD)";
const schema = (...fields: readonly (readonly [path: string, type: string])[]) => ({
  ...{ schemaName: "t", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.MySqlDDL": { tableSchema: "" } },
  fields: fields.map(([fieldPath, nativeDataType]) => ({
    ...{ fieldPath, nativeDataType, nullable: false },
    type: { type: { "com.linkedin.schema.NumberType": {} } },
  })),
});
const tags = (...names: readonly string[]) => ({
  tags: names.map((name) => ({ tag: `urn:li:tag:${name}` })),
});

const timeline = (query: string, base = "/openapi/v2/timeline/v1", of = urn) =>
  service.client.get(`${base}/${encoded(of)}?${query}`);

/** Resolves in a later millisecond: writes of one actor in the same millisecond are one transaction. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function write(aspect: string, value: unknown): Promise<void> {
  expect((await service.client.upsert(urn, aspect, value)).status).toBe(200);
  await nextMillisecond();
}

/** Without the aspects that the first write adds by itself. */
const stampOf = (stamp: string): string =>
  stamp
    .split(";")
    .filter((one) => !/^(browsePaths|browsePathsV2|dataPlatformInstance|datasetKey):/.test(one))
    .join(";");

test("a timeline lists additions and removals, and counts versions", async () => {
  await write("schemaMetadata", schema(["a", "int"], ["b", "int"]));
  await write("globalTags", tags("x"));
  await write("globalTags", tags("x"));
  await write("globalTags", tags("y"));
  await write("editableDatasetProperties", { description: "one" });
  await write("editableDatasetProperties", { description: "two" });
  await write("schemaMetadata", schema(["a", "bigint"]));

  const all = await timeline("categories=TAG,DOCUMENTATION&categories=technical_schema");
  expect(all.status).toBe(200);
  const shown = all.body.map(
    (one: { semVer: string; versionStamp: string; changeEvents: { operation: string }[] }) => [
      ...[one.semVer, stampOf(one.versionStamp)],
      one.changeEvents.map(({ operation }) => operation).join(),
    ],
  );
  const rest = (tags: number, schema = 1) => `globalTags:${tags};schemaMetadata:${schema}`;
  expect(shown).toEqual([
    ["0.0.0-computed", "schemaMetadata:1", "ADD,ADD"],
    ["0.1.0-computed", rest(1), "ADD"],
    ["0.2.0-computed", rest(2), "ADD,REMOVE"],
    ["0.3.0-computed", `editableDatasetProperties:1;${rest(2)}`, "ADD"],
    ["0.3.1-computed", `editableDatasetProperties:2;${rest(2)}`, "MODIFY"],
    ["1.0.0-computed", `editableDatasetProperties:2;${rest(2, 2)}`, "MODIFY,REMOVE"],
  ]);
  expect(all.body[1]).toMatchObject({
    ...{ actor: "urn:li:corpuser:__datahub_system", semVerChange: "MINOR" },
    changeEvents: [
      { category: "TAG", modifier: "urn:li:tag:x", auditStamp: { time: expect.any(Number) } },
    ],
  });
  expect(all.body[1].rawDiff).toBeUndefined();

  const owners = await timeline("categories=OWNER");
  expect(owners.body).toEqual([]);
});

test("a timeline has time bounds, raw differences on request, and a second path", async () => {
  const all = (await timeline("categories=TAG&startTime=-1&endTime=0")).body;
  const [first, second] = all;
  const late = await timeline(`categories=TAG&startTime=${second.timestamp}`);
  expect(late.body).toEqual([second]);
  const early = await timeline(`categories=TAG&endTime=${first.timestamp}`, "/openapi/timeline/v1");
  expect(early.body).toEqual([first]);
  const raw = await timeline(`categories=TAG&raw=True&startTime=${second.timestamp}`);
  expect(raw.body[0].rawDiff).toEqual([
    { op: "replace", path: "/tags/0/tag", value: "urn:li:tag:y" },
  ]);
});

test("all aspects of one write are one transaction", async () => {
  const several = "urn:li:dataset:(urn:li:dataPlatform:hive,several,PROD)";
  const batch = (...values: readonly (readonly [aspect: string, value: unknown])[]) => ({
    proposals: values.map(([aspect, value]) => proposal(several, aspect, value)),
  });
  const send = async (body: unknown) => {
    const path = "/aspects?action=ingestProposalBatch";
    expect((await service.client.call("POST", path, body)).status).toBe(200);
    await nextMillisecond();
  };
  await send(batch(["globalTags", tags("x")], ["datasetProperties", { description: "one" }]));
  await send(batch(["globalTags", tags("x", "y")], ["status", { removed: true }]));

  const path = "categories=TAG,DOCUMENTATION,LIFECYCLE&raw=true";
  const { body } = await timeline(path, undefined, several);
  const shown = body.map((one: { changeEvents: { category: string; operation: string }[] }) =>
    one.changeEvents.map(({ category, operation }) => `${category} ${operation}`).toSorted(),
  );
  expect(shown).toEqual([
    ["DOCUMENTATION ADD", "LIFECYCLE CREATE", "TAG ADD"],
    ["LIFECYCLE SOFT_DELETE", "TAG ADD"],
  ]);
  expect(body[1]).toMatchObject({ semVer: "0.1.0-computed", semVerChange: "MINOR" });
  expect(body[1].rawDiff).toHaveLength(2);
  // The stamp lists every aspect, and can be used to read the entity at that time.
  const names = body[0].versionStamp.split(";").map((one: string) => one.split(":")[0]);
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(["datasetKey", "datasetProperties", "globalTags"]));
  const id = `(${several} , ${body[0].versionStamp})`;
  const read = await service.client.get(
    `/entitiesVersionedV2?entityType=dataset&ids=List(${encoded(id)})`,
  );
  expect(read.body.results[id].aspects.globalTags.value).toEqual(tags("x"));
});

test("a renamed field is one MODIFY with the category RENAME", async () => {
  const renamed = "urn:li:dataset:(urn:li:dataPlatform:hive,renamed,PROD)";
  for (const path of ["moin", "moin_moin"]) {
    const value = schema([path, "int"], ["id", "int"]);
    expect((await service.client.upsert(renamed, "schemaMetadata", value)).status).toBe(200);
    await nextMillisecond();
  }
  const { body } = await timeline("categories=TECHNICAL_SCHEMA", undefined, renamed);
  expect(body[1]).toMatchObject({
    semVer: "0.1.0-computed",
    changeEvents: [
      {
        ...{ operation: "MODIFY", modifier: `urn:li:schemaField:(${renamed},moin)` },
        parameters: { modificationCategory: "RENAME", fieldPath: "moin" },
        description: `The field moin was renamed to moin_moin: ${renamed}`,
      },
    ],
  });
  expect(body[1].changeEvents).toHaveLength(1);
});

test("the blame of a schema has the present names of renamed and retyped fields", async () => {
  const blamed = "urn:li:dataset:(urn:li:dataPlatform:hive,blamed,PROD)";
  const path = (type: string) => `[version=2.0].[type=${type}].c`;
  const versions = [
    [
      ["a", "int"],
      ["b", "text"],
      [path("int"), "int"],
    ],
    [
      ["b2", "text"],
      ["a2", "int"],
      [path("long"), "bigint"],
    ],
    [
      ["a3", "int"],
      ["b2", "text"],
      [path("long"), "bigint"],
    ],
  ] as const;
  for (const fields of versions) {
    await service.client.upsert(blamed, "schemaMetadata", schema(...fields));
    await nextMillisecond();
  }
  const query = `query($version: String) {
    getSchemaBlame(input: { datasetUrn: "${blamed}", version: $version }) {
      schemaFieldBlameList { fieldPath schemaFieldChange { lastSchemaFieldChange } } } }`;
  const blame = async (version?: string) => {
    const { body } = await ask(service.client, query, { version });
    const list = body.data.getSchemaBlame.schemaFieldBlameList as readonly {
      readonly fieldPath: string;
      readonly schemaFieldChange: { readonly lastSchemaFieldChange: string };
    }[];
    return Object.fromEntries(
      list.map((one) => [one.fieldPath, one.schemaFieldChange.lastSchemaFieldChange]),
    );
  };
  expect(await blame("0.0.0")).toEqual({
    ...{ a: "Added in v0.0.0", b: "Added in v0.0.0", [path("int")]: "Added in v0.0.0" },
  });
  expect(await blame()).toEqual({
    a3: expect.stringMatching("Modified in v1.1.0"),
    b2: expect.stringMatching("Modified in v1.0.0"),
    [path("long")]: expect.stringMatching("Modified in v1.0.0"),
  });
  const { body } = await timeline("categories=TECHNICAL_SCHEMA", undefined, blamed);
  expect(JSON.stringify(body)).not.toContain('"moved"');
});

test("a timeline starts after the last hard delete", async () => {
  await service.client.call("POST", "/entities?action=delete", { urn });
  expect((await timeline("categories=LIFECYCLE,TAG")).body).toEqual([]);
  await write("globalTags", tags("z"));
  const { body } = await timeline("categories=LIFECYCLE,TAG");
  const events = body.flatMap(
    ({ changeEvents }: { changeEvents: { category: string; operation: string }[] }) =>
      changeEvents.map(({ category, operation }) => `${category} ${operation}`),
  );
  expect(events.toSorted()).toEqual(["LIFECYCLE CREATE", "TAG ADD"]);
  expect(body[0].semVer).toBe("0.0.0-computed");
  expect(stampOf(body[0].versionStamp)).toMatch(/^globalTags:\d+$/);
});

test("an unknown category is malformed, and an unknown entity has no history", async () => {
  const unknown = await timeline("categories=TAGS");
  expect([unknown.status, unknown.body.code]).toEqual([400, "malformed"]);
  expect((await timeline("raw=true")).status).toBe(400);
  const never = await timeline("categories=TAG", undefined, "urn:li:tag:never");
  expect([never.status, never.body]).toEqual([200, []]);
});

test("a timeline of wide schemas has the newest transactions that fit into a response", async () => {
  const wide = "urn:li:dataset:(urn:li:dataPlatform:hive,wide,PROD)";
  const fields = (of: string) =>
    Array.from({ length: 800 }, (_, i) => [`${of}${i}`, `${of}_int`] as const);
  for (let i = 0; i < 40; i++) {
    const value = schema(...fields(i % 2 === 0 ? "a" : "b"));
    expect((await service.client.upsert(wide, "schemaMetadata", value)).status).toBe(200);
    await nextMillisecond();
  }
  const { status, body } = await timeline("categories=TECHNICAL_SCHEMA", undefined, wide);
  expect(status).toBe(200);
  expect(body.length).toBeGreaterThan(10);
  expect(body.length).toBeLessThan(30);
  // Versions are counted from the first value, including omitted transactions.
  expect(body.at(-1)).toMatchObject({ semVerChange: "MAJOR" });
  const stamps = body.map((one: { versionStamp: string }) => stampOf(one.versionStamp));
  expect(stamps).toEqual(
    stamps.map((_: string, i: number) => `schemaMetadata:${41 - stamps.length + i}`),
  );

  const all: unknown[] = [];
  for (let offset = "0", more = true; more; ) {
    const page = await service.client.get(
      `/openapi/v1/events/poll?topic=PlatformEvent_v1&offsetId=${offset}&limit=5000&pollTimeoutSeconds=0`,
    );
    expect(page.status).toBe(200);
    expect(page.body.count).toBeLessThan(15_000);
    more = page.body.count > 0;
    all.push(...page.body.events);
    offset = page.body.offsetId;
  }
  // 800 fields in the first change, and 1,600 added or removed fields in each later one.
  const ofFields = all.filter((one) => JSON.stringify(one).includes("TECHNICAL_SCHEMA"));
  expect(ofFields.filter((one) => JSON.stringify(one).includes("wide"))).toHaveLength(63_200);
});
