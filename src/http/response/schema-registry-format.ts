/** Conventions of schema registries: path, media type and errors. */
import type { CatalogError } from "../../core/errors.ts";
import { complete, type Schema } from "../schemas/endpoint.ts";

export const REGISTRY = "/schema-registry/api";
export const REGISTRY_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";
export const REGISTRY_TYPE = `${REGISTRY_MEDIA_TYPE}; charset=utf-8`;

export const registryErrorSchema: Schema = complete(
  {
    error_code: { type: "integer", description: "A number of the registry's own, or the status" },
    message: { type: "string" },
  },
  "Why the schema registry rejected a request.",
);

/** The registry's own errors have their own numbers; other errors use the status. */
export const registryErrorOf = (
  error: CatalogError,
  status: number,
): { readonly error_code: number; readonly message: string } => ({
  error_code:
    "registryCode" in error && typeof error.registryCode === "number" ? error.registryCode : status,
  message: error.text,
});
