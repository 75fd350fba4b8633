/** A part of an aspect as the source of the fields of its GraphQL type. */
import type { JsonObject } from "../../lib/json.ts";

export class MappedAspect {
  readonly json: JsonObject;
  /** Urn of the entity that has the aspect. */
  readonly owner: string;
  /** For fields with an abstract type. */
  readonly __typename: string | undefined;

  constructor(json: JsonObject, owner: string, typename?: string) {
    this.json = json;
    this.owner = owner;
    this.__typename = typename;
  }
}
