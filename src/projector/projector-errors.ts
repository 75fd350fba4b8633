/** Errors of the projector. */
import { CatalogError } from "../core/errors.ts";

export const projectedElsewhere =
  "another process projects the view: send the request to the node with the role projector";

export const unknownView = (name: string): CatalogError =>
  new CatalogError("not_found", `there is no view "${name}" on this node that parks entities`);

export const isConflict = (error: unknown): boolean =>
  error instanceof CatalogError && error.code === "conflict";

export const stopped = (): CatalogError =>
  new CatalogError("unavailable", "the projector has stopped");

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

export const textOf = (error: Error): string =>
  "text" in error && typeof error.text === "string" ? error.text : error.message;
