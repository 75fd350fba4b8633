/** Schemas of requests to the OpenAPI endpoints and of their responses. */
import { type ListSchema, objectWith, type Parameter, type Schema, text } from "./endpoint.ts";
import { inPath, query } from "./query-parameters.ts";
import * as schemas from "./schemas.ts";

const { properties: systemProperties } = schemas.systemMetadata as {
  readonly properties: Readonly<Record<string, Schema>>;
};

/** Clients send null for absent values. */
const orNull = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type, "null"].flat(),
});

const headers: Schema = {
  type: ["object", "null"],
  description:
    "Conditions, as with a proposal: `If-Version-Match` and the others. `X-DataHub-Sync-Index-Update: true` lets the response wait until searches show the write",
  additionalProperties: { type: "string" },
};

export const aspectIn: Schema = objectWith(
  ["value"],
  {
    value: { type: ["object", "array"] },
    systemMetadata: {
      type: ["object", "null"],
      properties: Object.fromEntries(
        Object.entries(systemProperties).map(([name, schema]) => [name, orNull(schema)]),
      ),
    },
    headers,
  },
  "A value of an aspect; a patch `{patch: […]}` with PATCH.",
);

/** Maximum number of members of a list; the catalog limits the aspects in total. */
const membersMax = 20_000;
/** Maximum number of entities of one request. */
const askedMax = 10_000;

export const entitiesIn: ListSchema = {
  type: "array",
  maxItems: membersMax,
  items: {
    type: "object",
    required: ["urn"],
    properties: {
      urn: schemas.urn,
      aspects: { type: "object", additionalProperties: aspectIn },
    },
    additionalProperties: aspectIn,
  },
};

export const requestedEntities: ListSchema = {
  type: "array",
  maxItems: askedMax,
  items: {
    type: "object",
    required: ["urn"],
    properties: { urn: schemas.urn },
    additionalProperties: { type: "object", properties: { headers } },
  },
};

export const listOf = (items: Schema): Schema => ({ type: "array", items });

export const entity: Parameter = inPath("entity", "Entity type, in any letter case");

export const urn: Parameter = inPath("urn", "The entity; raw or percent-encoded");

export const aspect: Parameter = inPath("aspect", "Name of an aspect, in any letter case");

export const systemMetadata: Parameter = query.boolean(
  "systemMetadata",
  "Include system metadata and audit stamp of each aspect; `false` when absent",
);

export const aspects: readonly Parameter[] = [
  query.strings(
    "aspects",
    "Names of aspects; all versioned ones when absent. Unknown names are ignored",
  ),
  query.strings("aspectNames", "The same under its older name"),
];

export const asynchronous = (standard: boolean): Parameter =>
  query.boolean(
    "async",
    `${standard} when absent. Either way the write is in the log when it is answered; true is answered with 202`,
  );

export const includeSoftDelete: Parameter = query.boolean(
  "includeSoftDelete",
  "Include soft-deleted entities; `false` when absent",
);

/** A page of a scroll through `result`s. */
export const scrolled = (result: Schema): Schema =>
  objectWith(["results"], {
    scrollId: text("Scroll id of the next page; absent on the last page"),
    results: { type: "array", items: result },
  });
