/** Facets of the inputs and outputs of a run: statistics, data quality and subsets. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../lib/json.ts";
import { type Contribution, latest } from "../contribution.ts";
import {
  anyObject,
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
  type ValueOf,
} from "./facet-table.ts";
import { operation } from "./operations.ts";
import { flattened, properties } from "./properties.ts";

const statistics = object({ "rowCount?": integer, "size?": integer, "fileCount?": integer });
type Statistics = ValueOf<typeof statistics>;

const sizes = ({ size, fileCount }: Statistics): Readonly<Record<string, string>> => ({
  ...(size !== undefined && { size: String(size) }),
  ...(fileCount !== undefined && { fileCount: String(fileCount) }),
});

const columnMetrics = object({
  ...{ "nullCount?": integer, "distinctCount?": integer, "count?": number },
  ...{ "sum?": number, "min?": number, "max?": number, "quantiles?": mapOf(number) },
});

const metrics = object({
  ...{ "rowCount?": integer, "bytes?": integer, "fileCount?": integer, "lastUpdated?": text },
  "columnMetrics?": mapOf(columnMetrics),
});

const asText = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

function fieldProfile([fieldPath, column]: readonly [
  string,
  ValueOf<typeof columnMetrics>,
]): JsonObject {
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
  {
    rowCount,
    bytes,
    fileCount,
    lastUpdated,
    columnMetrics: byColumn = {},
  }: ValueOf<typeof metrics>,
  owner: FacetOwner,
  { time, run }: EventContext,
): readonly Contribution[] {
  const columns = Object.entries(byColumn).map(fieldProfile);
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

const assertion = object({
  ...{ assertion: text, success: boolean, "column?": text, "severity?": text, "name?": text },
  ...{ "description?": text, "expected?": text, "actual?": text, "content?": text },
  ...{ "contentType?": text, "params?": anyObject },
});

/**
 * An assertion and its result. Its id is a hash of dataset, column and name, so all runs evaluate one
 * entity.
 */
function evaluated(
  one: ValueOf<typeof assertion>,
  { urn: dataset, dataset: named }: FacetOwner,
  { urns, time, run }: EventContext,
): readonly Contribution[] {
  const { assertion: type, success, column, severity, name, description, expected, actual } = one;
  const id = JSON.stringify([dataset, column ?? null, type, name ?? null]);
  const urn = urns.of("assertion", createHash("md5").update(id).digest("hex"));
  const field =
    column !== undefined && named !== undefined ? urns.column(named, column) : undefined;
  const info = (field: string, value: unknown) => latest(urn, "assertionInfo", field, value);
  const results = stated({
    severity,
    expected,
    actual,
    params: one.params && JSON.stringify(one.params),
  });
  return [
    info("type", "CUSTOM"),
    info("customAssertion", stated({ type, entity: dataset, field, logic: one.content })),
    info("source", { type: "EXTERNAL" }),
    ...((description ?? name) === undefined ? [] : [info("description", description ?? name)]),
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
const subset = facet("subset", anyObject, (value, owner, context) => {
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
  facet("outputStatistics", statistics, (value, { urn }, context) => [
    operation(urn, context, {
      operationType: "UPDATE",
      ...(value.rowCount !== undefined && { numAffectedRows: value.rowCount }),
      customProperties: sizes(value),
    }),
  ]),
  facet("inputStatistics", statistics, (value, { urn }, context) => [
    operation(urn, context, {
      operationType: "CUSTOM",
      customOperationType: "READ",
      ...(value.rowCount !== undefined && { numAffectedRows: value.rowCount }),
      customProperties: sizes(value),
    }),
  ]),
  facet("dataQualityMetrics", metrics, profile),
  facet(
    "dataQualityAssertions",
    object({ assertions: listOf(assertion) }),
    ({ assertions }, owner, context) => assertions.flatMap((one) => evaluated(one, owner, context)),
  ),
]);
