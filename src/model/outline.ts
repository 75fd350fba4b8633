/** The model as API documentation shows it: entity types, their keys and their aspects. */
import { aspectSchemaOf } from "./aspect-schema.ts";
import type { Model } from "./model.ts";

/** The urns of an aspect that state edges. */
interface RelationshipOutline {
  /** Type of the edges. */
  readonly name: string;
  readonly entityTypes: readonly string[];
  readonly path: readonly string[];
}

/** `relationships` has the urns that state edges, by aspect. */
export const outlineOf = (
  model: Model,
  relationships: ReadonlyMap<string, readonly RelationshipOutline[]> = new Map(),
) =>
  [...model.entities.values()].map(({ name, keyFields, keyAspect, aspects }) => ({
    name,
    key: keyFields.map((field) => field.name),
    aspects: [keyAspect, ...aspects]
      .map((aspect) => model.aspects.get(aspect))
      .filter((aspect) => aspect !== undefined)
      .map((aspect) => ({
        name: aspect.name,
        timeseries: aspect.timeseries,
        schemaVersion: aspect.schemaVersion,
        relationships: relationships.get(aspect.name) ?? [],
        schema: () => aspectSchemaOf(model, aspect),
      })),
  }));
