/** The error for an unknown view, with the nearest name or all names. */
import { CatalogError } from "../core/errors.ts";
import { nearest } from "../lib/did-you-mean.ts";

export const noSuchView = (name: string, views: readonly string[]): CatalogError =>
  new CatalogError("invalid", `there is no view "${name.slice(0, 120)}"`, {
    hint: nearest(name, views) ?? `The views are ${views.join(", ")}`,
  });
