/** Writes of sign-in that must not overwrite a concurrent write of the same aspect. */
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";

export interface StoredAspect<T> {
  /** Undefined when the aspect does not exist. */
  readonly value: T | undefined;
  /** -1 when the aspect does not exist. */
  readonly version: number;
}

/** The newest value of an aspect with its version. */
export async function readAspect<T>(
  catalog: Pick<Catalog, "findAspect">,
  urn: string,
  aspectName: string,
): Promise<StoredAspect<T>> {
  const found = await catalog.findAspect(urn, aspectName, 0);
  if (found === undefined) return { value: undefined, version: -1 };
  return { value: JSON.parse(found.value) as T, version: found.version };
}

/** An upsert. With `version`, the write is rejected unless the aspect has this version. */
export const upsert = (
  urn: string,
  aspectName: string,
  value: object,
  version?: number,
): Proposal => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType: "UPSERT",
  aspectName,
  aspect: { value: JSON.stringify(value), contentType: "application/json" },
  ...(version !== undefined && { headers: { "If-Version-Match": String(version) } }),
});

/** True for the rejection of a conditional write because a concurrent write came first. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof CatalogError && error.failedCondition;
