/**
 * A value that a patch is being applied to. It takes a path apart and gives what the path names:
 * a field, a member of a keyed array or a group of them, a place in a plain array, or the whole.
 *
 * Keyed arrays are opened as Members when a path first leads into them and written back when the
 * value is read as a whole. The document owns its value and changes it in place.
 */
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";
import {
  type ArrayRule,
  type ArrayRules,
  membersOf,
  severalMembers,
  shown,
  TEXTS,
  withKeys,
} from "./patch-keys.ts";
import { lineagePlace } from "./patch-lineage.ts";
import type { PatchTarget } from "./patch-members.ts";
import { canonical, createMembers, type Members } from "./patch-members.ts";

export interface PatchDocument {
  /**
   * The location that the path names; undefined if a parent is missing. `make` creates missing
   * parents. Throws `invalid` when the path does not fit the document.
   */
  readonly locate: (segments: readonly string[], make: boolean) => PatchTarget | undefined;
  readonly whole: () => JsonObject;
}

/** Members looked at while opening arrays, over a whole patch: more than the largest aspect has. */
const membersOpenedMax = 1_000_000;
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/**
 * `bornAt` gives what a record that the patch brings into being begins with, by its field path;
 * undefined: the aspect has no value yet.
 */
export function createPatchDocument(
  start: JsonObject | undefined,
  rules: ArrayRules,
  bornAt: (path: string) => Record<string, unknown>,
): PatchDocument {
  let root: Record<string, unknown> = start ?? bornAt("");
  const opened = new Map<object, Map<string, Members>>();
  let membersOpened = 0;

  /** Writes the opened arrays back; the next path into one of them opens it again. */
  const settle = () => {
    for (const [holder, arrays] of opened) {
      for (const [name, members] of arrays) setOwn(holder, name, members.toArray());
    }
    opened.clear();
  };

  const countMembers = (count: number) => {
    membersOpened += count;
    if (membersOpened <= membersOpenedMax) return;
    throw new CatalogError("too_large", "the patch goes through too many members of arrays", {
      hint: "Send it in parts, with its test, copy and move operations together",
    });
  };

  const open = (holder: object, name: string, rule: ArrayRule): Members => {
    const arrays = opened.get(holder) ?? new Map<string, Members>();
    const known = arrays.get(name);
    if (known !== undefined) return known;
    const value = own(holder, name) ?? [];
    const array = Array.isArray(value) ? value : membersOf(rule, value, []);
    countMembers(array.length);
    const members = createMembers(array, rule.textsOf);
    opened.set(holder, arrays.set(name, members));
    return members;
  };

  const present = (holder: object, name: string): boolean =>
    (own(holder, name) ?? opened.get(holder)?.get(name)) !== undefined;

  /** The segment is an index into a keyed array, not a key: where all keys are urns, a number is one. */
  const countsFromZero = (holder: object, name: string, rule: ArrayRule, segment: string) => {
    if (!INDEX.test(segment) || !present(holder, name)) return false;
    settle();
    const array = own(holder, name);
    if (!Array.isArray(array) || Number(segment) >= array.length) return false;
    countMembers(array.length);
    return array.every((member) => /^(?:urn:.*)?$/s.test(rule.textsOf(member)[0] ?? "-"));
  };

  const rootPlace: PatchTarget = {
    read: () => {
      settle();
      return root;
    },
    add(value) {
      if (!jsonObject(value)) {
        throw new CatalogError("invalid", `an aspect is an object, not ${shown(value)}`);
      }
      opened.clear();
      root = value;
    },
    replace: (value) => rootPlace.add(value),
    remove() {
      throw new CatalogError("invalid", "the path names the whole aspect", {
        hint: 'Remove an aspect with the change type "DELETE"',
      });
    },
  };

  const fieldPlace = (holder: object, name: string, rule: ArrayRule | undefined): PatchTarget => {
    const put = (value: unknown) => {
      opened.get(holder)?.delete(name);
      if (rule === undefined || !jsonObject(value)) return setOwn(holder, name, value);
      setOwn(holder, name, []);
      insideArray(holder, name, rule, []).add(value);
    };
    return {
      read: () => {
        settle();
        return own(holder, name);
      },
      add: put,
      replace: put,
      remove() {
        if (!present(holder, name)) return;
        opened.get(holder)?.delete(name);
        // All members are gone; the array, which may be a required field, stays.
        if (rule !== undefined) setOwn(holder, name, []);
        // Deletes own properties only.
        else delete (holder as Record<string, unknown>)[name];
      },
    };
  };

  const insideArray = (
    holder: object,
    name: string,
    rule: ArrayRule,
    keys: readonly string[],
  ): PatchTarget => {
    const members = open(holder, name, rule);
    const place =
      rule.kind === "lineages"
        ? lineagePlace(members, keys, (lineage) => open(lineage, "upstreams", TEXTS))
        : membersPlace(members, rule, keys);
    return {
      ...place,
      read: () => {
        const value = place.read();
        settle();
        return value;
      },
    };
  };

  const locate = (segments: readonly string[], make: boolean): PatchTarget | undefined => {
    if (segments.length === 0) return rootPlace;
    let holder: unknown = root;
    let path = "";
    for (let i = 0; ; i++) {
      const name = segments[i] ?? "";
      const rest = segments.slice(i + 1);
      if (Array.isArray(holder)) {
        if (rest.length === 0) return elementPlace(holder, name);
        holder = holder[indexIn(holder, name)];
      } else if (jsonObject(holder)) {
        path = path === "" ? name : `${path}/${name}`;
        const rule = rules.get(path);
        const [next] = rest;
        if (next === undefined) return fieldPlace(holder, name, rule);
        if (rule !== undefined && !countsFromZero(holder, name, rule, next)) {
          if (!make && !present(holder, name)) return undefined;
          if (rule.kind !== "objects" || rest.length <= rule.depth) {
            return insideArray(holder, name, rule, rest);
          }
          const keys = rest.slice(0, rule.depth);
          const born = make ? () => withKeys(rule, bornAt(path), keys) : undefined;
          holder = memberAt(open(holder, name, rule), keys.map(canonical), born);
          i += rule.depth;
          // A path into a key field changes the member's key: the array is opened again.
          if (rule.names.has(segments[i + 1] ?? "")) settle();
        } else {
          if (make && (own(holder, name) ?? undefined) === undefined) {
            setOwn(holder, name, next === "-" ? [] : bornAt(path));
          }
          holder = own(holder, name);
        }
      }
      if (typeof holder === "object" && holder !== null) continue;
      if (!make) return undefined;
      throw new CatalogError("invalid", `"/${segments.slice(0, i + 1).join("/")}" has no fields`, {
        hint: `It is ${shown(holder)}`,
      });
    }
  };

  return {
    locate,
    whole() {
      settle();
      return root;
    },
  };
}

/** The first member of those keys; made, if there is none, when it may be. */
function memberAt(
  members: Members,
  texts: readonly string[],
  born: (() => object) | undefined,
): unknown {
  const [id] = members.find(texts);
  if (id !== undefined) return members.get(id);
  const member = born?.();
  if (member !== undefined) members.add(member);
  return member;
}

/** The members whose first keys are `keys`: one, or a group where the path stops early. */
function membersPlace(members: Members, rule: ArrayRule, keys: readonly string[]): PatchTarget {
  if (keys.length > rule.depth) {
    throw new CatalogError("invalid", "a text has no fields", {
      hint: `Name the text itself: its path has ${rule.depth} segment after the array's`,
    });
  }
  // "-" is the place behind the last member, as in a plain array.
  const given = keys.length === 1 && keys[0] === "-" ? [] : keys;
  const texts = given.map(canonical);
  const found = () => (texts.length === keys.length ? members.find(texts) : []);
  const same = (member: unknown) => members.find(rule.textsOf(member));

  const replace = (value: unknown) => {
    const others = membersOf(rule, value, given);
    members.replace([...found(), ...others.flatMap(same)], others);
  };
  return {
    read() {
      const ids = found();
      if (keys.length === rule.depth) return ids[0] === undefined ? undefined : members.get(ids[0]);
      return ids.length === 0 ? undefined : ids.map((id) => members.get(id));
    },
    add(value) {
      if (severalMembers(rule, value, given)) return replace(value);
      // One member takes the place of its like alone: who shares but the path's keys stays.
      for (const member of membersOf(rule, value, given)) {
        const like = [...texts, ...rule.textsOf(member).slice(texts.length)];
        members.replace([...members.find(like), ...same(member)], [member]);
      }
    },
    replace,
    remove: () => members.replace(found(), []),
  };
}

function elementPlace(array: unknown[], segment: string): PatchTarget {
  const index = indexIn(array, segment);
  const insert = (value: unknown) => {
    if (index > array.length) {
      throw new CatalogError("invalid", `the list has ${array.length} members, no place ${index}`, {
        hint: 'Use "-" to add a member at the end',
      });
    }
    array.splice(index, 0, value);
  };
  return {
    read: () => array[index],
    add: insert,
    replace(value) {
      if (index < array.length) array[index] = value;
      else insert(value);
    },
    remove() {
      if (index < array.length) array.splice(index, 1);
    },
  };
}

function indexIn(array: readonly unknown[], segment: string): number {
  if (segment === "-") return array.length;
  if (INDEX.test(segment)) return Number(segment);
  throw new CatalogError("invalid", `"${segment}" is not an index of the list`, {
    hint: 'Use a number or "-", or name the keys of its members in arrayPrimaryKeys ([] for plain texts)',
  });
}

function own(holder: object, name: string): unknown {
  return Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
}

/** Sets a member of the object itself, whatever its name. */
export function setOwn(holder: object, name: string, value: unknown): void {
  if (name !== "__proto__") (holder as Record<string, unknown>)[name] = value;
  else
    Object.defineProperty(holder, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}
