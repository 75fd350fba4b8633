/** Events: results of assertions and operations on datasets, written and read. */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../core/errors.ts";
import type { Criterion } from "../../core/query/filter.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { InputArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { actorOf, stampOf, withoutNulls } from "../mutations/changes.ts";
import { anyOf, proposalOf, rejectMissing, urnOf, write } from "../mutations/writing.ts";
import { type EntitySource, entityOf } from "./entity-source.ts";
import { entriesOf } from "./entity-values.ts";
import { type PageInput, pageIn } from "./pages.ts";
import { relatedEntities } from "./related.ts";

interface Entry {
  readonly key: string;
  readonly value?: Maybe<string>;
}

const mapOf = (entries: Maybe<readonly Entry[]>) =>
  Object.fromEntries((entries ?? []).map(({ key, value }) => [key, value ?? ""]));

interface CustomInput {
  readonly entityUrn: string;
  readonly type: string;
  readonly description: string;
  readonly fieldPath?: Maybe<string>;
  readonly fieldPaths?: Maybe<readonly string[]>;
  readonly platform: { readonly urn?: Maybe<string>; readonly name?: Maybe<string> };
  readonly externalUrl?: Maybe<string>;
  readonly logic?: Maybe<string>;
  readonly scope?: Maybe<string>;
  readonly aggregation?: Maybe<string>;
  readonly operator?: Maybe<string>;
  readonly parameters?: Maybe<object>;
  readonly nativeType?: Maybe<string>;
  readonly nativeParameters?: Maybe<readonly Entry[]>;
}

async function upsertCustomAssertion(
  { urn: given, input }: { urn?: Maybe<string>; input: CustomInput },
  viewer: Viewer,
) {
  const { namespace } = viewer;
  const urn = urnOf(given || `urn:${namespace}:assertion:${randomUUID()}`, ["assertion"], viewer);
  const entity = urnOf(input.entityUrn, ["dataset"], viewer);
  const { urn: platformUrn, name } = input.platform;
  if (!platformUrn && !name) {
    throw new CatalogError("malformed", "platform has neither urn nor name", {
      hint: "Send one of them",
    });
  }
  await rejectMissing([entity], viewer);
  const before = await assertedEntity(urn, viewer);
  const { description, externalUrl } = input;
  const stamp = stampOf(viewer);
  const info = {
    type: "CUSTOM",
    customAssertion: customOf(input, entity, namespace),
    description,
    source: { type: "EXTERNAL", created: stamp },
    lastUpdated: stamp,
    ...(externalUrl && { externalUrl }),
  };
  const platform = platformUrn || `urn:${namespace}:dataPlatform:${name}`;
  await write(
    [proposalOf(urn, "assertionInfo", info), proposalOf(urn, "dataPlatformInstance", { platform })],
    viewer,
    toEditAssertions([entity, ...(before === undefined ? [] : [before])]),
  );
  return entityOf(urn);
}

function customOf(input: CustomInput, entity: string, namespace: string): unknown {
  const { type, fieldPath, fieldPaths, logic, scope, aggregation, operator } = input;
  const { parameters, nativeType, nativeParameters } = input;
  const column = (path: string) => `urn:${namespace}:schemaField:(${entity},${path})`;
  return withoutNulls({
    ...{ type, entity, logic: logic || null, scope, aggregation, operator, parameters, nativeType },
    field: fieldPath ? column(fieldPath) : null,
    fields: fieldPaths?.map(column),
    nativeParameters: nativeParameters && mapOf(nativeParameters),
  });
}

interface ResultInput {
  readonly timestampMillis?: Maybe<number>;
  readonly type: string;
  readonly properties?: Maybe<readonly Entry[]>;
  readonly externalUrl?: Maybe<string>;
  readonly error?: Maybe<{ readonly type: string; readonly message: string }>;
  readonly severity?: Maybe<string>;
}

async function reportAssertionResult(
  { urn: given, result }: { urn: string; result: ResultInput },
  viewer: Viewer,
) {
  const urn = urnOf(given, ["assertion"], viewer);
  await rejectMissing([urn], viewer);
  const asserteeUrn = await assertedEntity(urn, viewer);
  if (asserteeUrn === undefined) {
    throw new CatalogError("invalid", `"${urn}" does not say what it is about`, {
      hint: "Write its assertionInfo first",
    });
  }
  const { type, properties, externalUrl, error, severity } = result;
  const timestampMillis = result.timestampMillis ?? viewer.now();
  const event = {
    timestampMillis,
    assertionUrn: urn,
    asserteeUrn,
    status: "COMPLETE",
    runId: `native-${timestampMillis}`,
    result: {
      type,
      nativeResults: mapOf(properties),
      ...(externalUrl && { externalUrl }),
      ...(severity && { severity }),
      ...(error && { error: { type: error.type, properties: { message: error.message } } }),
    },
  };
  const required = toEditAssertions([asserteeUrn]);
  return write([proposalOf(urn, "assertionRunEvent", event)], viewer, required);
}

/** The privilege to write the assertions of these entities. */
export const toEditAssertions = (entities: readonly string[]) => [
  anyOf(["EDIT_ENTITY", "EDIT_ENTITY_ASSERTIONS"], entities),
];

/** The entity that a stored assertion is about, visible or not; undefined if it does not state any. */
export async function assertedEntity(urn: string, { entities }: Viewer) {
  const info = (await entities.find(urn))?.assertionInfo;
  return jsonObject(info) ? assertedBy(info) : undefined;
}

/** The entity that an assertion of any kind is about. */
function assertedBy(info: JsonObject | undefined): string | undefined {
  if (typeof info?.entityUrn === "string") return info.entityUrn;
  for (const value of Object.values(info ?? {})) {
    if (!jsonObject(value)) continue;
    const about = value.entity ?? value.dataset;
    if (typeof about === "string") return about;
  }
  return undefined;
}

interface OperationInput {
  readonly urn: string;
  readonly operationType: string;
  readonly customOperationType?: Maybe<string>;
  readonly sourceType: string;
  readonly timestampMillis?: Maybe<number>;
  readonly numAffectedRows?: Maybe<number>;
  readonly partition?: Maybe<string>;
  readonly customProperties?: Maybe<readonly Entry[]>;
}

async function reportOperation({ input }: InputArgs<OperationInput>, viewer: Viewer) {
  const { operationType, sourceType, customOperationType, numAffectedRows, partition } = input;
  const urn = urnOf(input.urn, ["dataset"], viewer);
  await rejectMissing([urn], viewer);
  const now = viewer.now();
  const event = {
    timestampMillis: now,
    lastUpdatedTimestamp: input.timestampMillis ?? now,
    actor: actorOf(viewer),
    operationType,
    sourceType,
    ...(customOperationType && { customOperationType }),
    ...(typeof numAffectedRows === "number" && { numAffectedRows }),
    ...(partition && { partitionSpec: { partition, type: "PARTITION" } }),
    ...(input.customProperties && { customProperties: mapOf(input.customProperties) }),
  };
  const required = [anyOf(["EDIT_ENTITY", "EDIT_ENTITY_OPERATIONS"], [urn])];
  await write([proposalOf(urn, "operation", event)], viewer, required);
  return "true";
}

/** A criterion as clients write it: null members count as absent. */
type CriterionInput = { readonly [Part in keyof Criterion]: Maybe<Criterion[Part]> } & {
  readonly field: string;
};

const criterionOf = ({ field, value, values, condition, negated }: CriterionInput): Criterion => ({
  field,
  value: value ?? undefined,
  values: values ?? undefined,
  condition: condition ?? undefined,
  negated: negated ?? undefined,
});

export interface TimeRange {
  readonly status?: Maybe<string>;
  readonly startTimeMillis?: Maybe<number>;
  readonly endTimeMillis?: Maybe<number>;
  readonly limit?: Maybe<number>;
  readonly filter?: Maybe<{ readonly and: readonly CriterionInput[] }>;
}

interface StoredEvent {
  readonly aspect: { readonly value: string };
  readonly systemMetadata?: Maybe<{ readonly lastObserved?: number }>;
}

const eventsMax = 1_000;

/** Latest first, with `lastObservedMillis`. Ignores a criterion without values. */
export async function eventsOf(
  { urn, entity, aspect }: { urn: string; entity: string; aspect: string },
  { startTimeMillis, endTimeMillis, limit, filter }: TimeRange,
  { catalog, loader }: Viewer,
): Promise<readonly JsonObject[]> {
  const and = (filter?.and ?? []).map(criterionOf);
  const asked = {
    urn,
    entity,
    aspect,
    limit: Math.min(limit ?? eventsMax, eventsMax),
    startTimeMillis: startTimeMillis ?? undefined,
    endTimeMillis: endTimeMillis ?? undefined,
    ...(and.length > 0 && { filter: { or: [{ and }] } }),
  };
  const values = await loader.list(
    asked.limit,
    async () => {
      const { json } = await catalog.getTimeseriesValues(asked);
      return JSON.parse(json).value.values as readonly StoredEvent[];
    },
    (events) => events.length,
  );
  return values.map(({ aspect: { value }, systemMetadata }) => ({
    ...JSON.parse(value),
    lastObservedMillis: systemMetadata?.lastObserved,
  }));
}

async function runEvents({ urn }: EntitySource, range: TimeRange, viewer: Viewer) {
  const of = { urn, entity: "assertion", aspect: "assertionRunEvent" };
  const events = (await eventsOf(of, range, viewer)).filter(
    ({ status }) => !range.status || status === range.status,
  );
  const count = (type: string) =>
    events.filter(({ result }) => jsonObject(result) && result.type === type).length;
  return {
    total: events.length,
    failed: count("FAILURE"),
    succeeded: count("SUCCESS"),
    errored: count("ERROR"),
    runEvents: events.map(({ result, ...event }) => ({ ...event, result: resultOf(result) })),
  };
}

function resultOf(result: unknown) {
  if (!jsonObject(result)) return null;
  const error = jsonObject(result.error)
    ? { ...result.error, properties: entriesOf(result.error.properties) }
    : null;
  return { ...result, nativeResults: entriesOf(result.nativeResults), error };
}

interface AssertionsInput extends PageInput {
  readonly includeSoftDeleted?: Maybe<boolean>;
}

async function assertions({ urn }: EntitySource, asked: AssertionsInput, viewer: Viewer) {
  const { includeSoftDeleted } = asked;
  const query = { urn, relationship: "Asserts", typename: "Assertion", includeSoftDeleted };
  const { page, ...counts } = pageIn(await relatedEntities(query, viewer), asked);
  return { ...counts, assertions: page };
}

async function operations({ urn }: EntitySource, range: TimeRange, viewer: Viewer) {
  const events = await eventsOf({ urn, entity: "dataset", aspect: "operation" }, range, viewer);
  return events.map((event) => ({
    ...event,
    partition: jsonObject(event.partitionSpec) ? event.partitionSpec.partition : null,
    customProperties: entriesOf(event.customProperties),
  }));
}

export const assertionMutations = { upsertCustomAssertion, reportAssertionResult, reportOperation };

export const eventFields = { Assertion: { runEvents }, Dataset: { assertions, operations } };
