/**
 * How a write that is sent again is known: by the caller's key and what was asked under it, as the
 * id of each of its appends.
 */
import { createHash } from "node:crypto";
import type { Caller } from "./catalog.ts";

const ID_BYTES = 16;

/** A key stands for one request: with another body it is another one, and nothing is lost. */
export function keyOf({ idempotencyKey }: Caller, request: unknown): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  // Short, because each stream of a batch is named by it.
  const hash = createHash("sha256").update(idempotencyKey).update("\0");
  return hash.update(JSON.stringify(request)).digest("base64");
}

/** The same key on the same stream is the same append. */
export function appendId(key: string | undefined, stream: string): Uint8Array | undefined {
  if (key === undefined) return undefined;
  return createHash("sha256")
    .update(key)
    .update("\0")
    .update(stream)
    .digest()
    .subarray(0, ID_BYTES);
}
