/** Upserts that must not overwrite a concurrent write of the same aspect. */
import { CatalogError } from "../errors.ts";
import { entityTypeOf } from "../urn.ts";

/**
 * The proposal of an upsert. With `version`, the write is rejected unless the aspect has this version; -1 for
 * an aspect that does not exist.
 */
export const upsert = (urn: string, aspectName: string, value: object, version?: number) => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType: "UPSERT" as const,
  aspectName,
  aspect: { value: JSON.stringify(value), contentType: "application/json" },
  ...(version !== undefined && { headers: { "If-Version-Match": String(version) } }),
});

/** True for the rejection of a conditional write because a concurrent write came first. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof CatalogError && error.failedCondition;
