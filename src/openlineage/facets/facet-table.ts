/** Tables of facets: for each key its JSON Schema, and the function that returns its contributions. */
import type { JsonObject } from "../../lib/json.ts";
import type { Contribution, Stamp } from "../contribution.ts";
import type { Dataset, Job, OpenLineageEvent, Run } from "../event.ts";
import type { Urns } from "../names.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** An event, with the urns of its job and run. */
export interface EventContext {
  readonly event: OpenLineageEvent;
  readonly urns: Urns;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly stamp: Stamp;
  readonly job?: Job & { readonly urn: string; readonly flowUrn: string };
  readonly run?: Run & { readonly urn: string };
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
  readonly schema: Schema;
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
  schema: Schema,
  contributes: FacetRule<Facet>["contributes"],
): readonly [string, FacetRule<JsonObject>] => [
  key,
  { schema, contributes } as unknown as FacetRule<JsonObject>,
];

export const text: Schema = { type: "string" };
export const integer: Schema = { type: "integer" };
export const number: Schema = { type: "number" };
export const boolean: Schema = { type: "boolean" };
export const listOf = (items: Schema): Schema => ({ type: "array", items });
export const mapOf = (additionalProperties: Schema): Schema => ({
  type: "object",
  additionalProperties,
});

/** The schema of an object. Names of optional members end with `?`. Other members are not checked. */
export function object(members: Readonly<Record<string, Schema>>): Schema {
  const names = Object.entries(members);
  return {
    type: "object",
    required: names.filter(([name]) => !name.endsWith("?")).map(([name]) => name),
    properties: Object.fromEntries(names.map(([name, schema]) => [name.replace("?", ""), schema])),
  };
}

/** The schema of the facets of an entity. Facets that no table lists are any objects. */
export const facetsSchema = (...tables: readonly FacetTable[]): Schema => ({
  type: "object",
  properties: Object.fromEntries(
    tables.flatMap((table) => [...table].map(([key, { schema }]) => [key, schema])),
  ),
  additionalProperties: { type: "object" },
});
