/** Errors of appends and of scavenging. */
import { CatalogError } from "../../../core/errors.ts";

export const NOT_WRITTEN = "Nothing was written; try again when the cause is fixed";
export const MAY_BE_WRITTEN =
  "The write may be in the log or not: read it back, or send it again; with the same Idempotency-Key it is written once";

export const unwritten = (file: string, why: string, hint: string): CatalogError =>
  new CatalogError("unavailable", `log "${file}" could not be written: ${why}`, { hint });

export const unscavenged = (file: string, why: string): CatalogError =>
  new CatalogError("unavailable", `log "${file}" could not be scavenged: ${why}`, {
    hint: "Finished steps stay; start it again when the cause is fixed",
  });
