/** How a schema registry speaks: where its clients look for it, its media type, its errors. */
import type { CatalogError } from "../core/errors.ts";

export const REGISTRY = "/schema-registry/api";
export const REGISTRY_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";
export const REGISTRY_TYPE = `${REGISTRY_MEDIA_TYPE}; charset=utf-8`;

/** Refusals of the registry itself have numbers of their own; of the rest it is the status. */
export const registryErrorOf = (
  error: CatalogError,
  status: number,
): { readonly error_code: number; readonly message: string } => ({
  error_code:
    "registryCode" in error && typeof error.registryCode === "number" ? error.registryCode : status,
  message: error.text,
});
