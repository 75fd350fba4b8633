/** Errors for unknown aspects, with similar names as hints. */
import { CatalogError } from "../../core/errors.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import type { Entity, Model } from "../../model/model.ts";

/** For requests about all entities. */
export const unknownAspect = ({ aspects }: Model, name: string): CatalogError =>
  new CatalogError("invalid", `unknown aspect "${name.slice(0, 120)}"`, {
    hint: nearest(name, aspects.keys()),
  });

/** For reads of one entity. */
export const noSuchAspect = (entity: Entity, name: string): CatalogError =>
  new CatalogError(
    "not_found",
    `entity type "${entity.name}" has no aspect "${name.slice(0, 120)}"`,
    { hint: nearest(name, [entity.keyAspect, ...entity.aspects]) },
  );
