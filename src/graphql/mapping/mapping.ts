/**
 * The types of the tables that map fields of the schema to values of aspects. tables/ has one file for each
 * family of entity types; resolve-fields.ts builds resolvers from them.
 */
import type { JsonObject } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";

/** Computes a field from the aspects of its entity. */
export type FromEntity = (entity: LoadedEntity, viewer: Viewer) => unknown;

/** Computes a field from a part of an aspect. `owner`: urn of the entity that has the aspect. */
export type FromValue = (value: JsonObject, owner: string, viewer: Viewer) => unknown;

/**
 * Fields of an entity type: the path of the value, which is `aspect`, `aspect/member/member` or
 * `key/member` (part of the urn), or a function.
 */
export type EntityFields = Readonly<Record<string, string | FromEntity>>;

/**
 * Fields of a type that is part of an aspect, when the member of the record has another name:
 * `member`, `member/member`, or a function. A member of the same name needs no entry.
 */
export type ValueFields = Readonly<Record<string, string | FromValue>>;

/** The tables of one family. */
export interface Mapping {
  readonly entities?: Readonly<Record<string, EntityFields>>;
  readonly values?: Readonly<Record<string, ValueFields>>;
}

/** A member of a JSON object; undefined for another value. Clients choose some names of members. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? ownValue(value as JsonObject, name) : undefined;

/** The value at a path of members; undefined where a member is missing. */
export const memberAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce(memberOf, value);
