/** Events of OpenLineage add up in any order, and erase nothing. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAcceptEvent } from "../../src/openlineage/accept-event.ts";
import type { ListItem } from "../../src/openlineage/contribution.ts";
import { mergeEntity } from "../../src/openlineage/merge.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";
import { facetEvents, ORDERS, PRODUCER, REVENUE, RUN_ID, runEvent } from "./facet-events.ts";
import { type MemoryCatalog, memoryCatalog } from "./memory-catalog.ts";

const accept = createAcceptEvent("li");

async function resultOf(events: readonly object[]): Promise<MemoryCatalog> {
  const catalog = memoryCatalog();
  for (const event of events) await accept(event, catalog, {});
  return catalog;
}

const texts = fc.constantFrom("a", "b", "c");
const times = fc.integer({ min: 0, max: 4 }).map((second) => `2026-03-02T06:15:0${second}Z`);
const datasets = fc.constantFrom(ORDERS, REVENUE, { ...REVENUE, name: "shop.mart.other" });

/** Events of one run with the same facets, but other values. */
const varied = fc
  .record({ time: times, value: texts, input: datasets, output: datasets, column: texts })
  .map(({ time, value, input, output, column }) =>
    runEvent(
      {
        run: { nominalTime: { nominalStartTime: value }, custom_facet: { [value]: time } },
        job: {
          documentation: { description: value },
          ownership: { owners: [{ name: value }] },
          tags: { tags: [{ key: value, value: time }] },
        },
      },
      {
        eventTime: time,
        eventType: value === "a" ? "START" : "COMPLETE",
        inputs: [input],
        outputs: [
          {
            ...output,
            facets: {
              schema: { fields: [{ name: value, type: "string" }] },
              columnLineage: {
                fields: {
                  [column]: {
                    inputFields: [
                      { ...input, field: value, transformations: [{ type: "DIRECT" }] },
                    ],
                  },
                },
              },
            },
          },
        ],
      },
    ),
  );
const specified = fc
  .record({ event: fc.constantFrom(...Object.values(facetEvents)), eventTime: times })
  .map(({ event, eventTime }) => ({ ...event, eventTime }));
const histories = fc
  .array(fc.oneof(varied, specified), { minLength: 1, maxLength: 8 })
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      other: fc
        .array(fc.constantFrom(...events), { maxLength: 4 })
        .chain((more) =>
          fc.shuffledSubarray([...events, ...more], { minLength: events.length + more.length }),
        ),
    }),
  );

test("any order with any repetitions has the same result", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async ({ events, other }) => {
      const [one, two] = [await resultOf(events), await resultOf(other)];
      expect(two.contents()).toEqual(one.contents());
    }),
    { numRuns: 150 },
  );
});

test("a repeated event writes nothing", async () => {
  const catalog = await resultOf([runEvent()]);
  const before = catalog.proposals();
  expect(await accept(runEvent(), catalog, {})).toBeUndefined();
  expect(catalog.proposals()).toBe(before);
});

describe("an event removes no values", () => {
  const job = "urn:li:dataJob:(urn:li:dataFlow:(python,nightly,shop),nightly.load_revenue)";
  const output = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.mart.revenue,PROD)";
  const described = runEvent({
    job: { tags: { tags: [{ key: "tier", value: "gold" }] } },
    output: {
      documentation: { description: "By day" },
      schema: { fields: [{ name: "amount", type: "int" }] },
    },
  });
  const stored = (catalog: MemoryCatalog, urn: string, aspect: string) =>
    catalog.contents()[`${urn} ${aspect}`] as Record<string, unknown>;

  test("inputs of an earlier event stay", async () => {
    const catalog = await resultOf([
      runEvent({}, { eventType: "START", outputs: [] }),
      runEvent({}, { eventTime: "2026-03-02T07:00:00Z", inputs: [] }),
    ]);
    expect(stored(catalog, job, "dataJobInputOutput")).toMatchObject({
      inputDatasetEdges: [{ destinationUrn: expect.stringContaining("public.orders") }],
      outputDatasetEdges: [{ destinationUrn: output }],
    });
  });

  test("a deleted facet stays", async () => {
    const deleted = runEvent(
      { output: { documentation: { _deleted: true, description: "" } } },
      { eventTime: "2026-03-02T07:00:00Z" },
    );
    const catalog = await resultOf([described, deleted]);
    expect(stored(catalog, output, "datasetProperties").description).toBe("By day");
  });

  test("a soft-deleted entity stays deleted", async () => {
    const catalog = await resultOf([runEvent()]);
    catalog.put(output, "status", { removed: true });
    await accept(described, catalog, {});
    expect(stored(catalog, output, "status")).toEqual({ removed: true });
  });

  test("a schema and a description of another source stay", async () => {
    const catalog = memoryCatalog();
    const schema = { schemaName: "revenue", hash: "", platformSchema: {}, fields: [] };
    catalog.put(output, "schemaMetadata", schema);
    catalog.put(output, "datasetProperties", { description: "Of the connector" });
    await accept(described, catalog, {});
    expect(stored(catalog, output, "schemaMetadata")).toEqual(schema);
    expect(stored(catalog, output, "datasetProperties").description).toBe("Of the connector");
  });

  test("a tag that a person removed stays removed", async () => {
    const catalog = await resultOf([described]);
    expect(stored(catalog, job, "globalTags").tags).toHaveLength(1);
    catalog.put(job, "globalTags", { tags: [] });
    await accept({ ...described, eventTime: "2026-03-02T07:00:00Z" }, catalog, {});
    expect(stored(catalog, job, "globalTags").tags).toEqual([]);
  });
});

test("the states of a run are events with their own times", async () => {
  const catalog = await resultOf([
    runEvent({}, { eventType: "FAIL", eventTime: "2026-03-02T06:15:00Z" }),
    runEvent({}, { eventType: "START", eventTime: "2026-03-02T06:00:00.5Z" }),
    runEvent({}, { eventType: "OTHER", eventTime: "2026-03-02T06:01:00Z" }),
    runEvent({}, { eventType: undefined, eventTime: "2026-03-02T06:02:00Z" }),
  ]);
  const states = Object.entries(catalog.contents()).filter(([name]) => /RunEvent /.test(name));
  expect(states.map(([, value]) => value)).toEqual([
    {
      timestampMillis: Date.parse("2026-03-02T06:15:00Z"),
      messageId: "FAIL",
      status: "COMPLETE",
      result: { type: "FAILURE", nativeResultType: "FAIL" },
    },
    {
      timestampMillis: Date.parse("2026-03-02T06:00:00.5Z"),
      messageId: "START",
      status: "STARTED",
    },
  ]);
  const urn = `urn:li:dataProcessInstance:${RUN_ID} dataProcessInstanceProperties`;
  expect(catalog.contents()[urn]).toMatchObject({
    created: { time: Date.parse("2026-03-02T06:00:00.5Z") },
  });
});

test("concurrent events do not overwrite each other", async () => {
  const catalog = memoryCatalog();
  const events = Array.from({ length: 8 }, (_, n) =>
    runEvent({}, { eventTime: `2026-03-02T06:15:0${n}Z`, inputs: [{ ...ORDERS, name: `t${n}` }] }),
  );
  await Promise.all(events.map((event) => accept(event, catalog, {})));
  expect(catalog.contents()).toEqual((await resultOf(events)).contents());
});

test("the first part of a large event is stored", async () => {
  const event = runEvent({ run: { custom_plan: { text: "x".repeat(100_000) } } });
  const catalog = await resultOf([event]);
  const [raw] = Object.entries(catalog.contents()).filter(([name]) =>
    / openLineageEvent/.test(name),
  );
  expect(raw?.[1]).toMatchObject({ producer: PRODUCER, truncated: true });
  expect(raw?.[1]).toHaveProperty("event.length", 64 * 1024 + 1);
});

test("many tags of one column are merged in time in proportion to their number", () => {
  const keyOf = (item: unknown) => (item as { readonly tag: string }).tag;
  const items = Array.from(
    { length: 9_000 },
    (_, i): ListItem => ({
      ...{ kind: "item", urn: "urn:li:dataset:x", aspect: "editableSchemaMetadata", keyOf },
      ...{ field: "globalTags/tags", item: { tag: `urn:li:tag:${i}` } },
      within: { list: "editableSchemaFieldInfo", key: "id", keyField: "fieldPath" },
    }),
  );
  const began = cpuMilliseconds();
  const merged = mergeEntity(items, new Map(), { time: 1 });
  // In the square of the number it is ten seconds.
  expect(cpuMilliseconds() - began).toBeLessThan(2_000);
  const tags = items.map(({ item }) => item).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  expect(merged.get("editableSchemaMetadata")).toEqual({
    editableSchemaFieldInfo: [{ fieldPath: "id", globalTags: { tags } }],
  });
});
