/** The model as API documentation shows it: entity types, their keys and their aspects. */
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
    aspects: [keyAspect, ...aspects].map((aspect) => ({
      name: aspect,
      timeseries: model.aspects.get(aspect)?.timeseries === true,
      schemaVersion: model.aspects.get(aspect)?.schemaVersion,
      relationships: relationships.get(aspect) ?? [],
    })),
  }));
