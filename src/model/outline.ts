/** The model as API documentation shows it: entity types, their keys and their aspects. */
import type { Model } from "./model.ts";

export const outlineOf = (model: Model) =>
  [...model.entities.values()].map(({ name, keyFields, keyAspect, aspects }) => ({
    name,
    key: keyFields.map((field) => field.name),
    aspects: [keyAspect, ...aspects].map((aspect) => ({
      name: aspect,
      timeseries: model.aspects.get(aspect)?.timeseries === true,
      schemaVersion: model.aspects.get(aspect)?.schemaVersion,
    })),
  }));
