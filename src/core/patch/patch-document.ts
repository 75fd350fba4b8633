/**
 * The value during the application of a patch. Resolves a path to its target: a field, a member or
 * a group of members of a keyed array, an index of a plain array, or the whole value.
 *
 * The first path into a keyed array opens it as Members, which index the members by key. A read of
 * the whole value writes opened arrays back. The document owns its value and mutates it.
 */
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import { CatalogError } from "../errors.ts";
import {
  type ArrayRule,
  type ArrayRules,
  hasSeveralMembers,
  membersOf,
  shown,
  TEXTS,
  withKeys,
} from "./patch-keys.ts";
import { lineageTarget } from "./patch-lineage.ts";
import type { PatchTarget } from "./patch-members.ts";
import { canonical, createMembers, type Members } from "./patch-members.ts";

export interface PatchDocument {
  /**
   * The location that the path names; undefined if a parent is missing. `make` creates missing
   * parents. Throws `invalid` when the path does not fit the document.
   */
  readonly locate: (segments: readonly string[], createMissing: boolean) => PatchTarget | undefined;
  readonly whole: () => JsonObject;
}

/** Maximum members of all arrays that a patch opens: more than the largest aspect has. */
const OPENED_MEMBERS_MAX = 1_000_000;
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/**
 * `start`: the current value; undefined if the aspect has none. `initialValue`: returns the initial
 * members of a record that the patch creates, by its field path.
 */
export function createPatchDocument(
  start: JsonObject | undefined,
  rules: ArrayRules,
  initialValue: (path: string) => Record<string, unknown>,
): PatchDocument {
  let root: Record<string, unknown> = start ?? initialValue("");
  const opened = new Map<object, Map<string, Members>>();
  let membersOpened = 0;

  /** Writes opened arrays back to the value; a later path opens them again. */
  const closeArrays = () => {
    for (const [holder, arrays] of opened) {
      for (const [name, members] of arrays) setOwn(holder, name, members.toArray());
    }
    opened.clear();
  };

  const countMembers = (count: number) => {
    membersOpened += count;
    if (membersOpened <= OPENED_MEMBERS_MAX) return;
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

  /** True if the segment is an index of a keyed array: a number, where all keys are urns. */
  const isArrayIndex = (holder: object, name: string, rule: ArrayRule, segment: string) => {
    if (!INDEX.test(segment) || !present(holder, name)) return false;
    closeArrays();
    const array = own(holder, name);
    if (!Array.isArray(array) || Number(segment) >= array.length) return false;
    countMembers(array.length);
    return array.every((member) => /^(?:urn:.*)?$/s.test(rule.textsOf(member)[0] ?? "-"));
  };

  const rootTarget: PatchTarget = {
    read: () => {
      closeArrays();
      return root;
    },
    add(value) {
      if (!jsonObject(value)) {
        throw new CatalogError("invalid", `an aspect is an object, not ${shown(value)}`);
      }
      opened.clear();
      root = value;
    },
    replace: (value) => rootTarget.add(value),
    remove() {
      throw new CatalogError("invalid", "the path names the whole aspect", {
        hint: 'Remove an aspect with the change type "DELETE"',
      });
    },
  };

  const fieldTarget = (holder: object, name: string, rule: ArrayRule | undefined): PatchTarget => {
    const put = (value: unknown) => {
      opened.get(holder)?.delete(name);
      if (rule === undefined || !jsonObject(value)) return setOwn(holder, name, value);
      setOwn(holder, name, []);
      insideArray(holder, name, rule, []).add(value);
    };
    return {
      read: () => {
        closeArrays();
        return own(holder, name);
      },
      add: put,
      replace: put,
      remove() {
        if (!present(holder, name)) return;
        opened.get(holder)?.delete(name);
        // Keeps the empty array, because the field may be required.
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
        ? lineageTarget(members, keys, (lineage) => open(lineage, "upstreams", TEXTS))
        : membersTarget(members, rule, keys);
    return {
      ...place,
      read: () => {
        const value = place.read();
        closeArrays();
        return value;
      },
    };
  };

  const locate = (segments: readonly string[], createMissing: boolean): PatchTarget | undefined => {
    if (segments.length === 0) return rootTarget;
    let holder: unknown = root;
    let path = "";
    for (let i = 0; ; i++) {
      const name = segments[i] ?? "";
      const rest = segments.slice(i + 1);
      if (Array.isArray(holder)) {
        const list = `/${segments.slice(0, i).join("/")}`;
        if (rest.length === 0) return elementTarget(holder, name, list);
        const index = indexIn(holder, name, list);
        if (createMissing && index >= holder.length) throw noSuchIndex(holder, name, list);
        holder = holder[index];
      } else if (jsonObject(holder)) {
        path = path === "" ? name : `${path}/${name}`;
        const rule = rules.get(path);
        const [next] = rest;
        if (next === undefined) return fieldTarget(holder, name, rule);
        if (rule !== undefined && !isArrayIndex(holder, name, rule, next)) {
          if (!createMissing && !present(holder, name)) return undefined;
          if (rule.kind !== "objects" || rest.length <= rule.depth) {
            return insideArray(holder, name, rule, rest);
          }
          const keys = rest.slice(0, rule.depth);
          const createMember = createMissing
            ? () => withKeys(rule, initialValue(path), keys)
            : undefined;
          holder = memberAt(open(holder, name, rule), keys.map(canonical), createMember);
          i += rule.depth;
          // A path into a key field changes the member's key: the index must be rebuilt.
          if (rule.names.has(segments[i + 1] ?? "")) closeArrays();
        } else {
          if (createMissing && (own(holder, name) ?? undefined) === undefined) {
            setOwn(holder, name, next === "-" ? [] : initialValue(path));
          }
          holder = own(holder, name);
        }
      }
      if (typeof holder === "object" && holder !== null) continue;
      if (!createMissing) return undefined;
      throw new CatalogError("invalid", `"/${segments.slice(0, i + 1).join("/")}" has no fields`, {
        hint: `It is ${shown(holder)}`,
      });
    }
  };

  return {
    locate,
    whole() {
      closeArrays();
      return root;
    },
  };
}

/** The first member with these keys. If there is none, adds one from `createMember`. */
function memberAt(
  members: Members,
  texts: readonly string[],
  createMember: (() => object) | undefined,
): unknown {
  const [id] = members.find(texts);
  if (id !== undefined) return members.get(id);
  const member = createMember?.();
  if (member !== undefined) members.add(member);
  return member;
}

/** The members whose first keys are `keys`: one member, or a group for a partial path. */
function membersTarget(members: Members, rule: ArrayRule, keys: readonly string[]): PatchTarget {
  if (keys.length > rule.depth) {
    throw new CatalogError("invalid", "a text has no fields", {
      hint: `Name the text itself: its path has ${rule.depth} segment after the array's`,
    });
  }
  // "-" is the index after the last member, as in a plain array.
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
      if (hasSeveralMembers(rule, value, given)) return replace(value);
      // Replaces only the equivalent member: others that share the path's keys stay.
      for (const member of membersOf(rule, value, given)) {
        const like = [...texts, ...rule.textsOf(member).slice(texts.length)];
        members.replace([...members.find(like), ...same(member)], [member]);
      }
    },
    replace,
    remove: () => members.replace(found(), []),
  };
}

function elementTarget(array: unknown[], segment: string, list: string): PatchTarget {
  const index = indexIn(array, segment, list);
  const insert = (value: unknown) => {
    if (index > array.length) throw noSuchIndex(array, segment, list, { isAdded: true });
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

/** `isAdded`: the index may also be that after the last member. */
function noSuchIndex(
  array: readonly unknown[],
  segment: string,
  list: string,
  { isAdded = false } = {},
): CatalogError {
  const { length } = array;
  const last = isAdded ? length : length - 1;
  const indexes = last > 0 ? `0 to ${last}` : "0";
  const allowed = last < 0 ? "Add a member to it first" : `Use the index ${indexes}`;
  return new CatalogError(
    "invalid",
    `"${list}" has ${length} member${length === 1 ? "" : "s"}, none at index "${segment}"`,
    { hint: isAdded ? `${allowed}, or "-" to add a member at the end` : allowed },
  );
}

function indexIn(array: readonly unknown[], segment: string, list: string): number {
  if (segment === "-") return array.length;
  if (INDEX.test(segment)) return Number(segment);
  throw new CatalogError("invalid", `"${segment}" is not an index of "${list}"`, {
    hint: 'Use a number or "-", or name the keys of its members in arrayPrimaryKeys ([] for plain texts)',
  });
}

const own = (holder: object, name: string): unknown => ownValue(holder as JsonObject, name);

/** Sets an own property, even one named `__proto__`. */
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
