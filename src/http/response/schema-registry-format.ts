/** Conventions of schema registries: path, media type and errors. */
import type { CatalogError } from "../../core/errors.ts";

export const REGISTRY = "/schema-registry/api";
export const REGISTRY_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";
export const REGISTRY_TYPE = `${REGISTRY_MEDIA_TYPE}; charset=utf-8`;

/** The registry's own errors have their own numbers; other errors use the status. */
export const registryErrorOf = (
  error: CatalogError,
  status: number,
): { readonly error_code: number; readonly message: string } => ({
  error_code:
    "registryCode" in error && typeof error.registryCode === "number" ? error.registryCode : status,
  message: error.text,
});
