/** Tables of facets: for each key its JSON Schema, and the function that returns its contributions. */
import type { JsonObject } from "../../lib/json.ts";
import type { Contribution, Stamp } from "../contribution.ts";
import type { Dataset, LineageJob, LineageRun, OpenLineageEvent } from "../event.ts";
import type { Urns } from "../names.ts";

declare const VALUE: unique symbol;

/** The JSON Schema of a type of values. */
export type FacetSchema<Value = unknown> = Readonly<Record<string, unknown>> & {
  readonly [VALUE]?: Value;
};

/** The type of the values that a schema describes. */
export type ValueOf<Schema> = Schema extends FacetSchema<infer Value> ? Value : never;

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
  schema: FacetSchema<Facet>,
  contributes: FacetRule<Facet>["contributes"],
): readonly [string, FacetRule<JsonObject>] => [
  key,
  { schema, contributes } as unknown as FacetRule<JsonObject>,
];

export const text: FacetSchema<string> = { type: "string" };
export const nonEmptyText: FacetSchema<string> = { type: "string", minLength: 1 };
export const integer: FacetSchema<number> = { type: "integer" };
export const number: FacetSchema<number> = { type: "number" };
export const boolean: FacetSchema<boolean> = { type: "boolean" };
export const anyObject: FacetSchema<JsonObject> = { type: "object" };
export const listOf = <Item>(items: FacetSchema<Item>): FacetSchema<readonly Item[]> => ({
  ...{ type: "array", items },
});
export const mapOf = <Item>(
  additionalProperties: FacetSchema<Item>,
): FacetSchema<Readonly<Record<string, Item>>> => ({ type: "object", additionalProperties });

type Members = Readonly<Record<string, FacetSchema>>;

type ObjectOf<All extends Members> = {
  readonly [Name in keyof All as Name extends `${string}?` ? never : Name]: ValueOf<All[Name]>;
} & {
  readonly [Name in keyof All as Name extends `${infer Own}?` ? Own : never]?: ValueOf<All[Name]>;
};

/** The schema of an object. Names of optional members end with `?`. Other members are not checked. */
export function object<All extends Members>(members: All): FacetSchema<ObjectOf<All>> {
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
