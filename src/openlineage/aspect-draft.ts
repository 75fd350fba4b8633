/**
 * The value of an aspect while contributions are merged into it. Maps and lists are indexed, so that the time
 * of a merge is proportional to the number of columns.
 */
import { type JsonObject, jsonObject } from "../lib/json.ts";

export interface AspectDraft {
  readonly fields: Map<string, unknown>;
  /** The members of a field that is a map. */
  readonly map: (field: string) => Map<string, unknown>;
  /** The items of a field that is a list, by key. */
  readonly list: (field: string, keyOf: (item: unknown) => string) => ListDraft;
  readonly replace: (value: JsonObject) => void;
  /** The merged value; undefined when the aspect does not exist. */
  readonly value: () => JsonObject | undefined;
}

interface ListDraft {
  readonly get: (key: string) => unknown;
  readonly set: (key: string, item: unknown) => void;
  /** Adds the item, unless the list has one with its key. */
  readonly add: (item: unknown) => void;
  readonly value: () => readonly unknown[];
}

/** `empty` has the required members of a new aspect. */
export function createAspectDraft(
  stored: JsonObject | undefined,
  empty: JsonObject = {},
): AspectDraft {
  const fields = new Map(Object.entries(stored ?? {}));
  const maps = new Map<string, Map<string, unknown>>();
  const lists = new Map<string, ListDraft>();
  return {
    fields,
    map(field) {
      const stored = fields.get(field);
      const map = maps.get(field) ?? new Map(Object.entries(jsonObject(stored) ? stored : {}));
      maps.set(field, map);
      return map;
    },
    list(field, keyOf) {
      const list = lists.get(field) ?? createListDraft(fields.get(field), keyOf);
      lists.set(field, list);
      return list;
    },
    replace(value) {
      fields.clear();
      for (const [name, member] of Object.entries(value)) fields.set(name, member);
    },
    value() {
      const changed = [
        ...[...maps].map(([field, map]) => [field, Object.fromEntries(map)] as const),
        ...[...lists].map(([field, list]) => [field, list.value()] as const),
      ].filter(([field, value]) => fields.has(field) || Object.keys(value).length > 0);
      const members = new Map([...fields, ...changed]);
      if (members.size === 0) return undefined;
      return { ...(stored === undefined && empty), ...Object.fromEntries(members) };
    },
  };
}

/** A list whose items have keys. A list that is sorted by them stays sorted. */
export function createListDraft(stored: unknown, keyOf: (item: unknown) => string): ListDraft {
  const list: unknown[] = Array.isArray(stored) ? [...stored] : [];
  const indexes = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item);
    if (!indexes.has(key)) indexes.set(key, index);
  }
  const added = new Map<string, unknown>();
  const get = (key: string): unknown => {
    const index = indexes.get(key);
    return index === undefined ? added.get(key) : list[index];
  };
  const set = (key: string, item: unknown): void => {
    const index = indexes.get(key);
    if (index === undefined) added.set(key, item);
    else list[index] = item;
  };
  return {
    get,
    set,
    add(item) {
      const key = keyOf(item);
      if (get(key) === undefined) set(key, item);
    },
    value: () => mergedByKey(list, added, keyOf),
  };
}

/** Each added item comes before the first item of the list with a greater key. */
function mergedByKey(
  list: readonly unknown[],
  added: ReadonlyMap<string, unknown>,
  keyOf: (item: unknown) => string,
): readonly unknown[] {
  const news = [...added].sort(([a], [b]) => (a < b ? -1 : 1));
  const merged: unknown[] = [];
  let next = 0;
  for (const item of list) {
    const key = keyOf(item);
    for (; next < news.length && (news[next]?.[0] ?? "") < key; next++)
      merged.push(news[next]?.[1]);
    merged.push(item);
  }
  for (; next < news.length; next++) merged.push(news[next]?.[1]);
  return merged;
}
