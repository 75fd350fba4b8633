/**
 * Entities that a write refers to, as its rules read them: the stored state with the writes of the request.
 */
import type { JsonObject } from "../../lib/json.ts";

export interface OtherEntity {
  readonly urn: string;
  /** Value of an aspect that rules read (`aspectsRead`); undefined if the entity lacks it. */
  aspect(name: string): JsonObject | undefined;
}

export interface OtherEntities {
  /**
   * The entity before the proposal; if it lacks the aspect `having` then, or does not exist, the entity
   * after the request. Undefined if it does not exist, or if the rule did not name it.
   */
  find(urn: string, having?: string): OtherEntity | undefined;
  /** The entities of a type with this key, if the rule needs all of the type (`OthersNeeded.all`). */
  withKey(type: string, key: string): readonly OtherEntity[];
}

/** The other entities that a rule reads. */
export interface OthersNeeded {
  /** Types of the urns in the proposal's value or patch that are read. */
  readonly types?: readonly string[];
  /** Further urns, for each of those and for the proposal's own. */
  readonly beside?: (urn: string) => readonly string[];
  /** Also all entities of a type that have the key of the proposal's own urn. */
  readonly all?: AllOfType;
}

export interface AllOfType {
  readonly type: string;
  readonly keyOf: (urn: string) => string;
}

/** Aspects of other entities that rules read. Entities without them are only known to exist or not. */
export const aspectsRead: readonly string[] = [
  ...["propertyDefinition", "structuredPropertySettings", "status", "lifecycleStageTypeInfo"],
  ...["versionSetProperties", "schemaMetadata", "formInfo"],
];

/** Every text in a JSON value, including names of members. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield name;
      yield* textsIn(member);
    }
  }
}
