/**
 * The keys by which a patch addresses the members of an aspect's arrays.
 *
 * avro/patch-keys.json (PatchRules) has the keys of the known aspects; a patch may define its own
 * (`arrayPrimaryKeys`). A key may be nested in the member: `attribution␟source`.
 */

import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { shortened } from "../../lib/shortened.ts";
import { CatalogError } from "../errors.ts";
import { canonical, keyText, plainText, type TextsOf } from "./patch-members.ts";

/** U+241F separates the names of a nested key. */
const NESTING = "\u241f";

/** The content of avro/patch-keys.json, by aspect name. */
export type PatchRules = Readonly<Record<string, AspectPatchRules>>;

interface AspectPatchRules {
  /** Keys by the field path of the array, which omits the members' keys: `a/b`. */
  readonly arrays?: Readonly<Record<string, ArrayKeys>>;
  /**
   * Initial members of an aspect (path "") or record that a patch creates. The texts "$now" and
   * "$actor" stand for the time of the request (epoch milliseconds) and its actor.
   */
  readonly born?: Readonly<Record<string, JsonObject>>;
}

export type ArrayKeys =
  /** Key fields of the members; [] for plain texts, which are their own keys. */
  | readonly string[]
  /**
   * `apart`: further key fields, which the path omits. Adding a tag does not replace the same tag
   * from another source.
   */
  | { readonly keys: readonly string[]; readonly apart: readonly string[] }
  /** Members are unions of a text, which is the key: {<texts>: "…"}. */
  | { readonly texts: string }
  /** Members are column lineages; see patch-lineage.ts. */
  | "fineGrainedLineage";

/** How to address the members of one array. */
export interface ArrayRule {
  readonly kind: "objects" | "texts" | "lineages";
  /** Number of path segments that name one member. */
  readonly depth: number;
  /** Paths of the key fields within a member. */
  readonly fields: readonly (readonly string[])[];
  /** Top-level fields of a member that contain key fields, including `apart`. */
  readonly names: ReadonlySet<string>;
  /** Converts a text to a member (kind "texts"). */
  readonly memberOf?: ((text: string) => unknown) | undefined;
  /** Texts of the key fields, then of the `apart` fields. */
  readonly textsOf: TextsOf;
}

/** By the field path of the array, as in AspectPatchRules.arrays. */
export type ArrayRules = ReadonlyMap<string, ArrayRule>;

/** Path segment for an absent transformation or query of a lineage. */
export const NO_LINEAGE_KEY = "NONE";

export const LINEAGES: ArrayRule = {
  kind: "lineages",
  depth: 3,
  fields: [],
  names: new Set(),
  textsOf: (member) => {
    const downstreams = jsonObject(member) ? member.downstreams : undefined;
    // No path can address a lineage with several downstream columns; it stays unchanged.
    if (!Array.isArray(downstreams) || downstreams.length !== 1) return [];
    return [
      keyText(member, ["transformOperation"]) || NO_LINEAGE_KEY,
      canonical(String(downstreams[0])),
      keyText(member, ["query"]) || NO_LINEAGE_KEY,
    ];
  },
};

/** The rule of plain texts, which are their own keys. */
export const TEXTS: ArrayRule = {
  kind: "texts",
  depth: 1,
  fields: [],
  names: new Set(),
  memberOf: (text) => text,
  textsOf: (member) => [plainText(member)],
};

/** The rules of the aspect, which a generic patch ignores, then the rules of the patch. */
export function arrayRules(
  aspect: AspectPatchRules | undefined,
  patch: { readonly keys: Readonly<Record<string, readonly string[]>>; readonly generic: boolean },
): ArrayRules {
  const rules = new Map<string, ArrayRule>();
  if (!patch.generic) {
    for (const [field, keys] of Object.entries(aspect?.arrays ?? {})) {
      rules.set(field, ruleOf(keys));
    }
  }
  for (const [field, keys] of Object.entries(patch.keys)) {
    rules.set(field.split(/[/.\u241f]/).join("/"), ruleOf(keys));
  }
  return rules;
}

function ruleOf(keys: ArrayKeys): ArrayRule {
  if (keys === "fineGrainedLineage") return LINEAGES;
  if ("texts" in keys) {
    const memberOf = (text: string) => ({ [keys.texts]: text });
    return { ...TEXTS, memberOf, textsOf: (member) => [keyText(member, [keys.texts])] };
  }
  const named = "apart" in keys ? keys.keys : keys;
  if (named.length === 0) return TEXTS;
  const apart = "apart" in keys ? keys.apart : [];
  const fields = named.map((key) => key.split(NESTING));
  const all = [...fields, ...apart.map((key) => key.split(NESTING))];
  return {
    kind: "objects",
    depth: named.length,
    fields,
    names: new Set(all.map(([name = ""]) => name)),
    textsOf: (member) => all.map((field) => keyText(member, field)),
  };
}

/**
 * The members that a value stands for: a list of members, one member, or a map of members by key,
 * {<key>: {<next key>: member}}. `given` are the keys in the path.
 */
export function membersOf(
  rule: ArrayRule,
  value: unknown,
  given: readonly string[],
): readonly unknown[] {
  if (Array.isArray(value)) return value.map((member) => memberOf(rule, member, given));
  if (jsonObject(value) && hasSeveralMembers(rule, value, given)) {
    return Object.entries(value).flatMap(([key, inner]) => membersOf(rule, inner, [...given, key]));
  }
  return [memberOf(rule, value, given)];
}

function memberOf(rule: ArrayRule, value: unknown, given: readonly string[]): unknown {
  if (rule.memberOf !== undefined) {
    if (typeof value === "string") return rule.memberOf(value);
    if (rule.textsOf(value)[0] !== "") return value;
    // Clients send {} as the value if the path has all keys.
    if (given[0] !== undefined) return rule.memberOf(given[0]);
  } else if (jsonObject(value)) return withKeys(rule, value, given);
  throw new CatalogError(
    "invalid",
    `a member is ${rule.kind === "texts" ? "a text" : "an object"}, not ${shown(value)}`,
    { hint: "Give a member, a list of members, or a map of members by key" },
  );
}

/** True for a list or a map of members, false for one member. */
export const hasSeveralMembers = (
  rule: ArrayRule,
  value: unknown,
  given: readonly string[],
): boolean =>
  Array.isArray(value) ||
  (given.length < rule.depth && jsonObject(value) && mapOfMembers(rule, value));

const mapOfMembers = (rule: ArrayRule, value: JsonObject): boolean =>
  rule.kind === "texts"
    ? rule.textsOf(value)[0] === ""
    : !rule.fields.some(([name = ""]) => Object.hasOwn(value, name)) &&
      Object.values(value).every((inner) => jsonObject(inner) || Array.isArray(inner));

/** Adds the keys in the path that the member lacks. */
export function withKeys(
  rule: ArrayRule,
  member: JsonObject,
  given: readonly string[],
): Record<string, unknown> {
  const keyed: Record<string, unknown> = { ...member };
  for (const [i, text] of given.entries()) {
    const [name, nested] = rule.fields[i] ?? [];
    // An empty text means no value; a nested key alone would create an incomplete record.
    if (name !== undefined && nested === undefined && text !== "") keyed[name] ??= text;
  }
  return keyed;
}

/** A value in an error message. */
export const shown = (value: unknown): string => shortened(JSON.stringify(value) ?? "nothing", 60);
