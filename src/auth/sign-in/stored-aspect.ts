/** The stored aspects of sign-in, whose versions are the conditions of writes (core/write/upsert.ts). */
import type { Catalog } from "../../catalog/catalog.ts";

interface StoredAspect<T> {
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
