/**
 * Idempotency: the id of each append is derived from the caller's key and the request, so that a
 * repeated request is recognised.
 */
import { createHash } from "node:crypto";
import type { Caller } from "../catalog.ts";

const ID_BYTES = 16;

/** Hashes the key with the request: the same key with another body is another request. */
export function keyOf({ idempotencyKey }: Caller, request: unknown): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  // Short, because every append of a batch gets an id made from it.
  const hash = createHash("sha256").update(idempotencyKey).update("\0");
  return hash.update(JSON.stringify(request)).digest("base64");
}

/** The same key and stream give the same append id. */
export function appendId(key: string | undefined, stream: string): Uint8Array | undefined {
  if (key === undefined) return undefined;
  return createHash("sha256")
    .update(key)
    .update("\0")
    .update(stream)
    .digest()
    .subarray(0, ID_BYTES);
}
