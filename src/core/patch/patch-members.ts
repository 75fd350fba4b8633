/**
 * The members of an array during the application of a patch, indexed by key. Lookups and changes
 * take constant time. The order is stable, and new members are added at the end.
 *
 * A member has one text per key. The text of an urn does not depend on its namespace, so a patch
 * may use any namespace.
 */
import { withNamespace } from "../urn.ts";

/** The target of a path. */
export interface PatchTarget {
  /** Returns undefined for an absent target. */
  readonly read: () => unknown;
  readonly add: (value: unknown) => void;
  /** Adds the value if the target is absent. */
  readonly replace: (value: unknown) => void;
  /** Does nothing if the target is absent. */
  readonly remove: () => void;
}

/** The texts of a member's keys, in order; an unaddressable member has none. */
export type TextsOf = (member: unknown) => readonly string[];

export interface Members {
  readonly size: () => number;
  /** Ids of the members whose first keys have these texts. */
  readonly find: (texts: readonly string[]) => readonly number[];
  readonly get: (id: number) => unknown;
  readonly add: (member: unknown) => void;
  /** Replaces the members `ids` one by one. Removes surplus ids, and appends surplus members. */
  readonly replace: (ids: readonly number[], members: readonly unknown[]) => void;
  readonly toArray: () => unknown[];
}

export function createMembers(array: readonly unknown[], textsOf: TextsOf): Members {
  const members = new Map<number, unknown>();
  /** Ids by key prefix, for each number of keys; built lazily. */
  const indexes = new Map<number, Map<string, Set<number>>>();
  let nextId = 0;
  for (const member of array) members.set(nextId++, member);

  const enter = (index: Map<string, Set<number>>, depth: number, id: number, member: unknown) => {
    const texts = textsOf(member);
    if (texts.length < depth) return;
    const name = joined(texts.slice(0, depth));
    const ids = index.get(name);
    if (ids === undefined) index.set(name, new Set([id]));
    else ids.add(id);
  };
  const indexOf = (depth: number): Map<string, Set<number>> => {
    const known = indexes.get(depth);
    if (known !== undefined) return known;
    const index = new Map<string, Set<number>>();
    for (const [id, member] of members) enter(index, depth, id, member);
    indexes.set(depth, index);
    return index;
  };
  const set = (id: number, member: unknown) => {
    members.set(id, member);
    for (const [depth, index] of indexes) enter(index, depth, id, member);
  };
  const drop = (id: number) => {
    const texts = textsOf(members.get(id));
    for (const [depth, index] of indexes) index.get(joined(texts.slice(0, depth)))?.delete(id);
  };

  return {
    size: () => members.size,
    find: (texts) => [...(indexOf(texts.length).get(joined(texts)) ?? [])],
    get: (id) => members.get(id),
    add: (member) => set(nextId++, member),
    replace(ids, others) {
      const places = [...new Set(ids)].sort((a, b) => a - b);
      for (const id of places) drop(id);
      for (const [i, member] of others.entries()) set(places[i] ?? nextId++, member);
      for (const id of places.slice(others.length)) members.delete(id);
    },
    toArray: () => [...members.values()],
  };
}

/**
 * The text of one key of a member. `path`: the field path of the key, as ["attribution", "source"].
 * The text of a union is that of its value: {value: {string: "a"}} has the text a. An absent key
 * has the empty text.
 */
export function keyText(member: unknown, path: readonly string[]): string {
  let value = member;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return "";
    // Safe lookup: the object has the member, as checked above.
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === "object" && value !== null) {
    const [only, ...others] = Object.values(value);
    value = others.length === 0 ? only : undefined;
  }
  return plainText(value);
}

/** The text of a key's value; the empty text for anything that is not plain. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return canonical(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** The text by which a key is compared. */
export const canonical = (text: string): string =>
  text.includes("urn:") ? withNamespace(text, "li") : text;

/** Joins with U+0000, which no urn contains; in other texts, a collision only merges two groups. */
const joined = (texts: readonly string[]): string => texts.join("\u0000");
