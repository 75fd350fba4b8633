/**
 * Entity tags (RFC 9110 §8.8.3). A tag is the length and the CRC-32 of the response body, so that everything that
 * decides the body decides the tag, too: versions, the caller's permissions, parameters. A cryptographic hash
 * costs a read three times as much, and protects nothing: a tag is compared only with those of earlier
 * responses to the same request. It is weak, because all codings of the body share it.
 */
import { crc32 } from "node:zlib";

const TAG = /"[\x21\x23-\x7e\x80-\xff]*"/g;

export const entityTagOf = (body: string): string => `W/"${body.length}-${crc32(body)}"`;

/** True if an If-None-Match header names the tag, or any tag with `*`. */
export function matchesTag(ifNoneMatch: string, entityTag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = entityTag.slice(entityTag.indexOf('"'));
  const tags: readonly string[] = ifNoneMatch.match(TAG) ?? [];
  return tags.includes(opaque);
}
