/** The timeline of an entity, at the door of the real service. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
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

async function tell(aspect: string, value: unknown): Promise<void> {
  expect((await service.client.upsert(urn, aspect, value)).status).toBe(200);
  // Releases are told apart by their times.
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1));
}

test("a timeline tells what came and went, and counts versions", async () => {
  await tell("schemaMetadata", schema(["a", "int"], ["b", "int"]));
  await tell("globalTags", tags("x"));
  await tell("globalTags", tags("x"));
  await tell("globalTags", tags("y"));
  await tell("editableDatasetProperties", { description: "one" });
  await tell("editableDatasetProperties", { description: "two" });
  await tell("schemaMetadata", schema(["a", "bigint"]));

  const all = await timeline("categories=TAG,DOCUMENTATION&categories=technical_schema");
  expect(all.status).toBe(200);
  const told = all.body.map(
    (one: { semVer: string; versionStamp: string; changeEvents: { operation: string }[] }) => [
      ...[one.semVer, one.versionStamp],
      one.changeEvents.map(({ operation }) => operation).join(),
    ],
  );
  expect(told).toEqual([
    ["0.0.0-computed", "schemaMetadata:1", "ADD,ADD"],
    ["0.1.0-computed", "globalTags:1", "ADD"],
    ["0.2.0-computed", "globalTags:2", "ADD,REMOVE"],
    ["0.3.0-computed", "editableDatasetProperties:1", "ADD"],
    ["0.3.1-computed", "editableDatasetProperties:2", "MODIFY"],
    ["1.0.0-computed", "schemaMetadata:2", "MODIFY,REMOVE"],
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

test("a timeline has bounds in time, differences on request, and another path", async () => {
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

test("a timeline goes on across a delete, and tells of it", async () => {
  await service.client.call("POST", "/entities?action=delete", { urn });
  await tell("globalTags", tags("z"));
  const { body } = await timeline("categories=LIFECYCLE,TAG");
  const events = body.flatMap(
    ({ changeEvents }: { changeEvents: { category: string; operation: string }[] }) =>
      changeEvents.map(({ category, operation }) => `${category} ${operation}`),
  );
  expect(events).toEqual([
    ...["LIFECYCLE CREATE", "TAG ADD", "TAG ADD", "TAG REMOVE"],
    ...["LIFECYCLE HARD_DELETE", "LIFECYCLE CREATE", "TAG ADD"],
  ]);
});

test("what is no timeline is refused", async () => {
  const unknown = await timeline("categories=TAGS");
  expect([unknown.status, unknown.body.code]).toEqual([400, "malformed"]);
  expect((await timeline("raw=true")).status).toBe(400);
  const never = await timeline("categories=TAG", undefined, "urn:li:tag:never");
  expect([never.status, never.body]).toEqual([200, []]);
});

test("a timeline of wide schemas has the newest that fit, and others have their turn", async () => {
  const wide = "urn:li:dataset:(urn:li:dataPlatform:hive,wide,PROD)";
  const fields = (of: string) =>
    Array.from({ length: 800 }, (_, i) => [`${of}${i}`, "int"] as const);
  for (let i = 0; i < 40; i++) {
    const value = schema(...fields(i % 2 === 0 ? "a" : "b"));
    expect((await service.client.upsert(wide, "schemaMetadata", value)).status).toBe(200);
  }
  const { status, body } = await timeline("categories=TECHNICAL_SCHEMA", undefined, wide);
  expect(status).toBe(200);
  expect(body.length).toBeGreaterThan(10);
  expect(body.length).toBeLessThan(30);
  // Versions are counted from the first value, also of those that are left out.
  expect(body.at(-1)).toMatchObject({ versionStamp: "schemaMetadata:40", semVerChange: "MAJOR" });
  const stamps = body.map((one: { versionStamp: string }) => one.versionStamp.split(":")[1]);
  expect(stamps).toEqual(stamps.map((_: string, i: number) => String(41 - stamps.length + i)));

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
  // 800 fields at first, and 1,600 that come or go with each change.
  const ofFields = all.filter((one) => JSON.stringify(one).includes("TECHNICAL_SCHEMA"));
  expect(ofFields.filter((one) => JSON.stringify(one).includes("wide"))).toHaveLength(63_200);
});
