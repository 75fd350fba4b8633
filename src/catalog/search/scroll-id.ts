/**
 * Scroll ids: the cursor at the end of a page, and a hash of its request. Opaque to clients; a
 * changed id, or one sent with another request, is rejected.
 */
import { createHash } from "node:crypto";
import { CatalogError } from "../../core/errors.ts";
import type { Cursor } from "../../views/search/search.ts";

/** `request`: everything that determines the hits and their order. */
export function writeScrollId(cursor: Cursor, request: unknown): string {
  const position = JSON.stringify(cursor);
  return Buffer.from(JSON.stringify([position, markOf(position, request)])).toString("base64url");
}

/** Throws `malformed` unless it was written for the same request. */
export function readScrollId(scrollId: string, request: unknown): Cursor {
  const parsed = parse(Buffer.from(scrollId, "base64url").toString());
  const [position, mark]: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  if (typeof position === "string" && mark === markOf(position, request)) {
    const cursor = parse(position);
    if (isCursor(cursor)) return cursor;
  }
  throw new CatalogError(
    "malformed",
    `the scroll id "${shown(scrollId)}" does not belong to this request`,
    {
      hint: "Send the previous response's scrollId with an otherwise unchanged request, or omit it to start over",
    },
  );
}

/** Short, but long enough to distinguish requests. */
const markOf = (position: string, request: unknown): string =>
  createHash("sha256")
    .update(`${position}\n${JSON.stringify(request)}`)
    .digest("base64url")
    .slice(0, 16);

/** The hash is not a secret: a client can forge any position, but no other value. */
const isCursor = (value: unknown): value is Cursor =>
  Array.isArray(value) && value.every((one) => one === null || typeof one !== "object");

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const shown = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
