/** Tables of facets: for each key its JSON Schema, and the function that returns its contributions. */
import type { JsonObject } from "../../lib/json.ts";
import type { Contribution, Stamp } from "../contribution.ts";
import type { Dataset, LineageJob, LineageRun, OpenLineageEvent } from "../event.ts";
import type { Urns } from "../names.ts";

export type FacetSchema = Readonly<Record<string, unknown>>;

/** An event, with the urns of its job and run. */
export interface EventContext {
  readonly event: OpenLineageEvent;
  readonly urns: Urns;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly stamp: Stamp;
  readonly job?: LineageJob & { readonly urn: string; readonly flowUrn: string };
  readonly run?: LineageRun & { readonly urn: string };
}

/** The entity that has the facet. */
export interface FacetOwner {
  readonly urn: string;
  /** The aspect whose customProperties hold facets without an aspect of their own. */
  readonly properties: string;
  /** The dataset, if the facet is one of a dataset. */
  readonly dataset?: Dataset;
}

interface FacetRule<Facet> {
  readonly schema: FacetSchema;
  readonly contributes: (
    facet: Facet,
    owner: FacetOwner,
    context: EventContext,
  ) => readonly Contribution[];
}

export type FacetTable = ReadonlyMap<string, FacetRule<JsonObject>>;

/** An entry of a table: the facet's type is that of its schema. */
export const facet = <Facet>(
  key: string,
  schema: FacetSchema,
  contributes: FacetRule<Facet>["contributes"],
): readonly [string, FacetRule<JsonObject>] => [
  key,
  { schema, contributes } as unknown as FacetRule<JsonObject>,
];

export const text: FacetSchema = { type: "string" };
export const integer: FacetSchema = { type: "integer" };
export const number: FacetSchema = { type: "number" };
export const boolean: FacetSchema = { type: "boolean" };
export const listOf = (items: FacetSchema): FacetSchema => ({ type: "array", items });
export const mapOf = (additionalProperties: FacetSchema): FacetSchema => ({
  type: "object",
  additionalProperties,
});

/** The schema of an object. Names of optional members end with `?`. Other members are not checked. */
export function object(members: Readonly<Record<string, FacetSchema>>): FacetSchema {
  const names = Object.entries(members);
  return {
    type: "object",
    required: names.filter(([name]) => !name.endsWith("?")).map(([name]) => name),
    properties: Object.fromEntries(names.map(([name, schema]) => [name.replace("?", ""), schema])),
  };
}

/** The schema of the facets of an entity. Facets that no table lists are any objects. */
export const facetsSchema = (...tables: readonly FacetTable[]): FacetSchema => ({
  type: "object",
  properties: Object.fromEntries(
    tables.flatMap((table) => [...table].map(([key, { schema }]) => [key, schema])),
  ),
  additionalProperties: { type: "object" },
});
