/**
 * Schemas of the records in requests and responses. The OpenAPI document finds them by identity and
 * refers to them by name.
 */
import { conditions } from "../docs/docs-filters.ts";
import { complete, integer, objectWith, type Schema, text } from "./endpoint.ts";

const millis = (description: string): Schema => integer(`${description}, in epoch milliseconds`);
const strings: Schema = { type: "array", items: { type: "string" } };
const texts: Schema = { type: "object", additionalProperties: { type: "string" } };

/** A urn in any namespace. */
export const urn: Schema = text(
  "`urn:li:<entityType>:<id>`, or with a key of several parts `urn:li:<entityType>:(…,…)`",
);

export const auditStamp: Schema = objectWith(
  ["time", "actor"],
  { time: millis("When"), actor: urn, impersonator: urn, message: { type: "string" } },
  "Time and actor.",
);

export const systemMetadata: Schema = {
  type: ["object", "string"],
  description:
    "Origin of the metadata. JSON text is accepted for clients that cannot nest objects.",
  properties: {
    lastObserved: millis("When it was last seen at its source"),
    runId: text("The ingestion run that wrote it"),
    lastRunId: text("The run that wrote the previous value"),
    pipelineName: text("The pipeline of that run"),
    registryName: text("The model registry that its client used"),
    registryVersion: text("The version of that registry"),
    properties: { ...texts, description: "Further properties that the client sent" },
    version: text("Number of the value; set by the service"),
    schemaVersion: integer("Version of the aspect's schema"),
    aspectCreated: auditStamp,
    aspectModified: auditStamp,
  },
};

const genericAspect: Schema = objectWith(
  ["value"],
  {
    value: text("The aspect, serialised. Of a PATCH: a JSON Patch, or `{patch, arrayPrimaryKeys}`"),
    contentType: text("`application/json`; of a PATCH `application/json-patch+json`"),
  },
  "An aspect as JSON text.",
);

const changeTypes = [
  "UPSERT",
  "CREATE",
  "CREATE_ENTITY",
  "UPDATE",
  "RESTATE",
  "PATCH",
  "DELETE",
] as const;

export const proposal: Schema = objectWith(
  ["entityType", "changeType"],
  {
    entityType: text("Type of the entity, as its urn says: `dataset`"),
    entityUrn: { ...urn, description: "Urn of the entity; optional when entityKeyAspect is set" },
    entityKeyAspect: genericAspect,
    changeType: {
      type: "string",
      enum: changeTypes,
      description:
        "UPSERT and UPDATE write; CREATE only where there is none; CREATE_ENTITY only where the entity is new; RESTATE writes again; PATCH changes parts; DELETE removes the aspect, of a key aspect the entity",
    },
    aspectName: text("`ownership`, `datasetProperties`, …"),
    aspect: genericAspect,
    systemMetadata,
    headers: {
      ...texts,
      description:
        "Conditions: `If-Version-Match`, `If-Modified-Since`, `If-Unmodified-Since`, `If-None-Match`",
    },
  },
  "A change of one aspect of one entity.",
);

/** DataHub's clients send "unset" for the default. */
export const asyncSwitch: Schema = {
  enum: ["true", "false", "unset", true, false],
  description:
    'The response comes after validation and a durable append in any case; "true" is accepted and promises no more',
};

export const snapshotEntity: Schema = complete(
  {
    value: {
      type: "object",
      minProperties: 1,
      maxProperties: 1,
      description:
        "`{<snapshot record>: {urn, aspects: [{<aspect record>: {…}}, …]}}`, records under any prefix",
      additionalProperties: objectWith(["urn"], {
        urn,
        aspects: { type: "array", items: { type: "object" } },
      }),
    },
  },
  "An entity with several of its aspects, in the older form.",
);

const enveloped: Schema = objectWith(
  ["name", "type", "version", "value", "created"],
  {
    name: { type: "string" },
    type: { enum: ["VERSIONED"] },
    version: integer("0: the latest"),
    value: { type: "object" },
    created: auditStamp,
    systemMetadata,
  },
  "An aspect's latest value with its stamps.",
);

export const entity: Schema = complete(
  {
    urn,
    entityName: { type: "string" },
    aspects: { type: "object", additionalProperties: enveloped },
  },
  "An entity with the latest values of its aspects.",
);

export const criterion: Schema = objectWith(
  ["field"],
  {
    field: { type: "string" },
    value: { type: "string" },
    values: strings,
    condition: text(`One of ${Object.keys(conditions).join(", ")}; EQUAL when absent`),
    negated: { type: "boolean" },
  },
  "A condition on one field.",
);

export const filter: Schema = {
  type: "object",
  description:
    "One of `or` must match; each is a list of criteria in `and` that must all match. The older `criteria` is one such list.",
  properties: {
    or: {
      type: "array",
      items: { type: "object", properties: { and: { type: "array", items: criterion } } },
    },
    criteria: { type: "array", items: criterion },
  },
};

export const sort: Schema = complete({
  field: { type: "string" },
  order: { type: "string", enum: ["ASCENDING", "DESCENDING"] },
});

const windowDurations = ["YEAR", "MONTH", "WEEK", "DAY", "HOUR"] as const;

export const windowDuration: Schema = {
  type: "string",
  enum: windowDurations,
  description: "Length of a bucket",
};

const counts = { uniqueUserCount: { type: "integer" }, totalSqlQueries: { type: "integer" } };

const userCounts: Schema = {
  type: "array",
  items: objectWith(["count"], {
    user: urn,
    count: { type: "integer" },
    userEmail: { type: "string" },
  }),
};

const fieldCounts: Schema = {
  type: "array",
  items: complete({ fieldName: { type: "string" }, count: { type: "integer" } }),
};

export const usageAggregation: Schema = complete(
  {
    bucket: millis("Where the bucket begins"),
    duration: windowDuration,
    resource: urn,
    metrics: {
      type: "object",
      properties: { ...counts, users: userCounts, topSqlQueries: strings, fields: fieldCounts },
    },
  },
  "Usage of a dataset in one bucket of time.",
);

export const relationship: Schema = complete(
  { type: text("Its name in the model"), entity: urn },
  "An edge, seen from one of its ends.",
);

/** The edges that lineage follows. */
export const lineageTimes = {
  startTimeMillis: integer(
    "Only follow edges that were created or changed since then; 0 is the same as absent",
  ),
  endTimeMillis: integer(
    "Only follow edges that were created or changed until then; 0 is the same as absent",
  ),
} as const;

const jsonAspect: Schema = complete({ value: { type: "object" }, contentType: { type: "string" } });

export const change: Schema = objectWith(
  ["position", "entityType", "entityUrn", "changeType", "aspectName", "created"],
  {
    position: integer("Position in the log"),
    entityType: text("Name of the entity type"),
    entityUrn: urn,
    changeType: {
      enum: ["UPSERT", "DELETE"],
      description:
        "UPSERT: the aspect has a new value. DELETE: the aspect is deleted, with a key aspect the whole entity",
    },
    aspectName: text("Name of the aspect"),
    aspect: { ...jsonAspect, description: "The value; absent with DELETE" },
    systemMetadata: {
      type: "object",
      description: "System metadata: the run and the version of the aspect",
    },
    headers: { ...texts, description: "Headers of the proposal" },
    previousAspectValue: { ...jsonAspect, description: "The previous value, if there was one" },
    previousSystemMetadata: {
      type: "object",
      description: "System metadata of the previous value",
    },
    created: auditStamp,
  },
  "A change of one aspect of one entity, as recorded in the log.",
);

/** Names of the records of requests in the OpenAPI document; docs/response-schemas.json has the others. */
export const namedSchemas: ReadonlyMap<Schema, string> = new Map([
  [auditStamp, "AuditStamp"],
  [systemMetadata, "SystemMetadata"],
  [genericAspect, "GenericAspect"],
  [proposal, "MetadataChangeProposal"],
  [snapshotEntity, "SnapshotEntity"],
  [criterion, "Criterion"],
  [filter, "Filter"],
  [sort, "SortCriterion"],
  [usageAggregation, "UsageAggregation"],
]);

/** Members of bodies that choose events of a timeseries. */
export const timeRange = {
  startTimeMillis: integer("Start of the time range, in epoch milliseconds"),
  endTimeMillis: integer("End of the time range, in epoch milliseconds"),
} as const;
