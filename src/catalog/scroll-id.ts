/**
 * Scroll ids: the place at which an answer ended, and the request that it belongs to. Opaque to
 * clients; one that was changed, or sent with another request, is refused.
 */
import { createHash } from "node:crypto";
import { CatalogError } from "../core/errors.ts";
import type { Cursor } from "../search/search.ts";

/** `request`: all that decides which hits there are, and their order. */
export function writeScrollId(cursor: Cursor, request: unknown): string {
  const place = JSON.stringify(cursor);
  return Buffer.from(JSON.stringify([place, markOf(place, request)])).toString("base64url");
}

/** Throws `malformed` unless it was written for the same request. */
export function readScrollId(scrollId: string, request: unknown): Cursor {
  const parsed = parse(Buffer.from(scrollId, "base64url").toString());
  const [place, mark]: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  if (typeof place === "string" && mark === markOf(place, request)) {
    const cursor = parse(place);
    if (isCursor(cursor)) return cursor;
  }
  throw new CatalogError("malformed", `the scroll id "${shown(scrollId)}" is not of this request`, {
    hint: "Send the scrollId of the answer before, with everything else as it was then; none begins anew",
  });
}

/** Short, but long enough to tell requests apart. */
const markOf = (place: string, request: unknown): string =>
  createHash("sha256")
    .update(`${place}\n${JSON.stringify(request)}`)
    .digest("base64url")
    .slice(0, 16);

/** The mark is no secret: whoever can make one can name any place, but no other thing. */
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
