/** The refusal of a view that is not there, with the name that comes near, or those that there are. */
import { CatalogError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";

export const noSuchView = (name: string, views: readonly string[]): CatalogError =>
  new CatalogError("invalid", `there is no view "${name.slice(0, 120)}"`, {
    hint: nearest(name, views) ?? `There are ${views.join(", ")}`,
  });
