/** Facets of the inputs and outputs of a run: statistics, data quality and subsets. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../lib/json.ts";
import type { Contribution } from "../contribution.ts";
import {
  boolean,
  type EventContext,
  type FacetOwner,
  type FacetTable,
  facet,
  integer,
  listOf,
  mapOf,
  number,
  object,
  text,
} from "./facet-table.ts";
import { operation } from "./operations.ts";
import { flattened, properties } from "./properties.ts";

interface Statistics {
  readonly rowCount?: number;
  readonly size?: number;
  readonly fileCount?: number;
}
const statistics = object({ "rowCount?": integer, "size?": integer, "fileCount?": integer });

const sizes = ({ size, fileCount }: Statistics): Readonly<Record<string, string>> => ({
  ...(size !== undefined && { size: String(size) }),
  ...(fileCount !== undefined && { fileCount: String(fileCount) }),
});

interface ColumnMetrics {
  readonly nullCount?: number;
  readonly distinctCount?: number;
  readonly sum?: number;
  readonly count?: number;
  readonly min?: number;
  readonly max?: number;
  readonly quantiles?: Readonly<Record<string, number>>;
}

interface Metrics {
  readonly rowCount?: number;
  readonly bytes?: number;
  readonly fileCount?: number;
  readonly lastUpdated?: string;
  readonly columnMetrics?: Readonly<Record<string, ColumnMetrics>>;
}

const metrics = object({
  "rowCount?": integer,
  "bytes?": integer,
  "fileCount?": integer,
  "lastUpdated?": text,
  "columnMetrics?": mapOf(
    object({
      "nullCount?": integer,
      "distinctCount?": integer,
      "sum?": number,
      "count?": number,
      "min?": number,
      "max?": number,
      "quantiles?": mapOf(number),
    }),
  ),
});

const asText = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

function fieldProfile([fieldPath, column]: readonly [string, ColumnMetrics]): JsonObject {
  const { nullCount, distinctCount, sum, count, min, max, quantiles } = column;
  const mean = sum !== undefined && count ? sum / count : undefined;
  return stated({
    fieldPath,
    nullCount,
    uniqueCount: distinctCount,
    min: asText(min),
    max: asText(max),
    mean: asText(mean),
    quantiles:
      quantiles &&
      Object.entries(quantiles).map(([quantile, value]) => ({ quantile, value: String(value) })),
  });
}

/** The members that have a value. */
const stated = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

function profile(
  { rowCount, bytes, fileCount, lastUpdated, columnMetrics = {} }: Metrics,
  owner: FacetOwner,
  { time, run }: EventContext,
): readonly Contribution[] {
  const columns = Object.entries(columnMetrics).map(fieldProfile);
  return [
    {
      kind: "event",
      urn: owner.urn,
      aspect: "datasetProfile",
      value: stated({
        timestampMillis: time,
        messageId: run?.runId,
        rowCount,
        sizeInBytes: bytes,
        fieldProfiles: columns.length > 0 ? columns : undefined,
      }),
    },
    ...properties(owner, { fileCount, lastUpdated }),
  ];
}

interface Assertion {
  readonly assertion: string;
  readonly success: boolean;
  readonly column?: string;
  readonly severity?: string;
  readonly name?: string;
  readonly description?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly content?: string;
  readonly contentType?: string;
  readonly params?: JsonObject;
}

const assertions = object({
  assertions: listOf(
    object({
      assertion: text,
      success: boolean,
      "column?": text,
      "severity?": text,
      "name?": text,
      "description?": text,
      "expected?": text,
      "actual?": text,
      "content?": text,
      "contentType?": text,
      "params?": { type: "object" },
    }),
  ),
});

/**
 * An assertion and its result. Its id is a hash of dataset, column and name, so all runs evaluate one
 * entity.
 */
function evaluated(
  one: Assertion,
  { urn: dataset, dataset: named }: FacetOwner,
  { urns, time, run }: EventContext,
): readonly Contribution[] {
  const { assertion, success, column, severity, name, description, expected, actual } = one;
  const id = JSON.stringify([dataset, column ?? null, assertion, name ?? null]);
  const urn = urns.of("assertion", createHash("md5").update(id).digest("hex"));
  const field =
    column !== undefined && named !== undefined ? urns.column(named, column) : undefined;
  const latest = (member: string, value: unknown): Contribution => ({
    kind: "latest",
    urn,
    aspect: "assertionInfo",
    field: member,
    value,
  });
  const results = stated({
    severity,
    expected,
    actual,
    params: one.params && JSON.stringify(one.params),
  });
  return [
    latest("type", "CUSTOM"),
    latest(
      "customAssertion",
      stated({ type: assertion, entity: dataset, field, logic: one.content }),
    ),
    latest("source", { type: "EXTERNAL" }),
    ...((description ?? name) === undefined ? [] : [latest("description", description ?? name)]),
    {
      kind: "event",
      urn,
      aspect: "assertionRunEvent",
      value: {
        timestampMillis: time,
        messageId: run?.runId,
        runId: run?.runId ?? String(time),
        asserteeUrn: dataset,
        assertionUrn: urn,
        status: "COMPLETE",
        result: {
          type: success ? "SUCCESS" : "FAILURE",
          ...(Object.keys(results).length > 0 && { nativeResults: results }),
        },
      },
    },
  ];
}

/** A custom property of the run; without a run, of the job. */
const subset = facet<JsonObject>("subset", { type: "object" }, (value, owner, context) => {
  const { run, job, urns } = context;
  if (job === undefined) return flattened(owner, "subset", value);
  const at =
    run === undefined
      ? { urn: job.urn, properties: "dataJobInfo" }
      : { urn: run.urn, properties: "dataProcessInstanceProperties" };
  const direction = "inputCondition" in value ? "input" : "output";
  const dataset = owner.dataset && urns.dataset(owner.dataset);
  return properties(at, { [`subset.${direction}.${dataset ?? ""}`]: value });
});

export const qualityFacets: FacetTable = new Map([
  subset,
  facet<Statistics>("outputStatistics", statistics, (value, { urn }, context) => [
    operation(urn, context, {
      operationType: "UPDATE",
      ...(value.rowCount !== undefined && { numAffectedRows: value.rowCount }),
      customProperties: sizes(value),
    }),
  ]),
  facet<Statistics>("inputStatistics", statistics, (value, { urn }, context) => [
    operation(urn, context, {
      operationType: "CUSTOM",
      customOperationType: "READ",
      ...(value.rowCount !== undefined && { numAffectedRows: value.rowCount }),
      customProperties: sizes(value),
    }),
  ]),
  facet<Metrics>("dataQualityMetrics", metrics, profile),
  facet<{ assertions: readonly Assertion[] }>(
    "dataQualityAssertions",
    assertions,
    ({ assertions: list }, owner, context) => list.flatMap((one) => evaluated(one, owner, context)),
  ),
]);
