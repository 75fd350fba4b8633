/**
 * Entity tags (RFC 9110 §8.8.3). A tag is a hash of the response body, so that everything that decides the body
 * decides the tag, too: versions, the caller's permissions, parameters. It is weak, because all codings of
 * the body share it.
 */
import { hash } from "node:crypto";

const HASH_CHARACTERS = 22;
const TAG = /"[\x21\x23-\x7e\x80-\xff]*"/g;

export const entityTagOf = (body: string): string =>
  `W/"${hash("sha256", body, "base64url").slice(0, HASH_CHARACTERS)}"`;

/** True if an If-None-Match header names the tag, or any tag with `*`. */
export function matchesTag(ifNoneMatch: string, entityTag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = entityTag.slice(entityTag.indexOf('"'));
  const tags: readonly string[] = ifNoneMatch.match(TAG) ?? [];
  return tags.includes(opaque);
}
