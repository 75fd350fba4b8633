/**
 * Entities that a write refers to, as its rules read them: stored, with what the same request writes.
 */
import type { JsonObject } from "./json.ts";

export interface OtherEntity {
  readonly urn: string;
  /** Value of an aspect that rules read (`aspectsRead`); undefined: the entity has none. */
  aspect(name: string): JsonObject | undefined;
}

export interface OtherEntities {
  /**
   * The entity as the proposal finds it; where it lacks the aspect `having` at that point, or does not
   * exist, as the request leaves it. Undefined: it does not exist, or the rule did not name it.
   */
  find(urn: string, having?: string): OtherEntity | undefined;
  /** Those of a type with this key, where the rule asks for all of the type (`OthersNeeded.all`). */
  withKey(type: string, key: string): readonly OtherEntity[];
}

/** Which entities a rule reads. */
export interface OthersNeeded {
  /** Urns of these types that the proposal's value or patch mentions. */
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

/** Aspects of other entities that rules read; of all others only the existence is known. */
export const aspectsRead: readonly string[] = [
  ...["propertyDefinition", "structuredPropertySettings", "status", "lifecycleStageTypeInfo"],
  ...["versionSetProperties", "schemaMetadata", "formInfo"],
];

/** Every text in a JSON value, names of members too. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield name;
      yield* textsIn(member);
    }
  }
}
