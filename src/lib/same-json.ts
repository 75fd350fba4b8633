/** Equality of JSON values. */
import { jsonObject } from "./json.ts";

/**
 * Compares values as JSON.parse makes them. The order of an object's members does not count.
 * Only own members are compared and none is called: a member may be named "toString".
 */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((member, index) => sameJson(member, other[index]));
  }
  if (!jsonObject(one) || !jsonObject(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]));
}
