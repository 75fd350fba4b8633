/**
 * Validates events of OpenLineage 2-0-2 and the facets that are mapped. Other members and facets are
 * not checked.
 */
import { createRequire } from "node:module";
import type { ErrorObject, ValidateFunction } from "ajv";
import { CatalogError } from "../core/errors.ts";
import { parseTime } from "../lib/calendar.ts";
import { type JsonObject, jsonObject } from "../lib/json.ts";
import { shortened } from "../lib/shortened.ts";
import type { OpenLineageEvent } from "./event.ts";
import { datasetFacets } from "./facets/dataset-facets.ts";
import { type FacetSchema, facetsSchema, listOf, object, text } from "./facets/facet-table.ts";
import { jobFacets } from "./facets/job-facets.ts";
import { qualityFacets } from "./facets/quality-facets.ts";
import { jobSchema, runFacets, runSchema } from "./facets/run-facets.ts";

const withFacets = (
  schema: FacetSchema,
  facets: Readonly<Record<string, FacetSchema>>,
): FacetSchema => ({
  ...schema,
  properties: { ...(schema.properties as JsonObject), ...facets },
});

const allDatasetFacets = facetsSchema(datasetFacets, qualityFacets);
const dataset = withFacets(jobSchema, {
  facets: allDatasetFacets,
  inputFacets: allDatasetFacets,
  outputFacets: allDatasetFacets,
});

const eventTypes = ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"];

const shared = { eventTime: text, producer: { type: "string", minLength: 1 }, "schemaURL?": text };
const job = withFacets(jobSchema, { facets: facetsSchema(jobFacets) });
const inputsAndOutputs = { "inputs?": listOf(dataset), "outputs?": listOf(dataset) };

const runEvent = object({
  ...shared,
  "eventType?": { enum: eventTypes },
  run: withFacets(runSchema, { facets: facetsSchema(runFacets) }),
  job,
  ...inputsAndOutputs,
});
const jobEvent = object({ ...shared, job, ...inputsAndOutputs });
const datasetEvent = object({ ...shared, dataset });

type Kind = "RunEvent" | "JobEvent" | "DatasetEvent";
const schemas: Readonly<Record<Kind, FacetSchema>> = {
  RunEvent: runEvent,
  JobEvent: jobEvent,
  DatasetEvent: datasetEvent,
};

const kindOf = (event: JsonObject): Kind | undefined => {
  if (event.run !== undefined) return "RunEvent";
  if (event.job !== undefined) return "JobEvent";
  return event.dataset === undefined ? undefined : "DatasetEvent";
};

const require = createRequire(import.meta.url);
const validators = new Map<Kind, ValidateFunction>();

/** Compiles a schema at its first use. The first event loads ajv. */
function validatorOf(kind: Kind): ValidateFunction {
  const cached = validators.get(kind);
  if (cached !== undefined) return cached;
  const { Ajv }: typeof import("ajv") = require("ajv");
  const ajv = new Ajv({ verbose: true, strictRequired: false });
  const validate = ajv.compile(schemas[kind]);
  validators.set(kind, validate);
  return validate;
}

/**
 * The event without nulls, which mean absent members. `now`: epoch milliseconds. Throws `malformed` for an
 * invalid event.
 */
export function validateEvent(body: unknown, now: number): OpenLineageEvent {
  const event = withoutNulls(body);
  if (!jsonObject(event)) {
    throw new CatalogError("malformed", "an OpenLineage event must be a JSON object", {
      hint: "Send a list of events to the path with /batch",
    });
  }
  const kind = kindOf(event);
  if (kind === undefined) {
    throw new CatalogError("malformed", "the event has none of run, job and dataset", {
      hint: "Send a RunEvent (run and job), a JobEvent (job) or a DatasetEvent (dataset)",
    });
  }
  const validate = validatorOf(kind);
  if (validate(event) !== true) throw errorOf(kind, validate.errors?.[0]);
  const checked = (kind === "DatasetEvent" ? event : without(event, "dataset")) as unknown;
  checkTime((checked as OpenLineageEvent).eventTime, now);
  return checked as OpenLineageEvent;
}

/** An event of the far future would count as later than all that follow. */
function checkTime(eventTime: string, now: number): void {
  const time = parseTime(eventTime);
  if (Number.isNaN(time) || !DATE_TIME.test(eventTime)) {
    throw new CatalogError("malformed", `eventTime "${shortened(eventTime)}" is not a date-time`, {
      hint: "Send an ISO-8601 instant, for example 2026-01-31T12:00:00Z",
    });
  }
  if (time <= now + AHEAD_MS_MAX) return;
  throw new CatalogError("malformed", `eventTime "${shortened(eventTime)}" is in the future`, {
    hint: "Send the time of the event, at most a day ahead of the service; check the producer's clock",
  });
}

/** Allows for wrong time zones. */
const AHEAD_MS_MAX = 24 * 3_600_000;

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i;

function errorOf(kind: Kind, error: ErrorObject | undefined): CatalogError {
  const path = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
  const at = path === "" ? kind : path;
  const shown = shortened(JSON.stringify(error?.data) ?? "nothing", 60);
  switch (error?.keyword) {
    case "required":
      return new CatalogError("malformed", `${at} has no ${String(error.params.missingProperty)}`, {
        hint: "Send this member, which OpenLineage requires",
      });
    case "enum":
      return new CatalogError("malformed", `${at} is ${shown}`, {
        hint: `Use one of ${(error.params.allowedValues as readonly string[]).join(", ")}`,
      });
    case "pattern":
      return new CatalogError("malformed", `${at} is ${shown}`, { hint: "Send a UUID" });
    default:
      return new CatalogError("malformed", `${at} ${error?.message ?? "is invalid"}, not ${shown}`);
  }
}

/** Removes nulls, which producers send for absent members. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (!jsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

const without = (event: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(event).filter(([member]) => member !== name));
