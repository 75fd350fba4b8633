/**
 * Removes the references to a urn from a value. A member that requires the urn is removed with it,
 * up to the nearest optional member: an optional field is unset, a list item or a map entry is
 * removed.
 *
 *   {tags: [{tag: A}, {tag: B}]} without A   → {tags: [{tag: B}]}
 *   {definition: "…", parentNode: A}         → {definition: "…"}
 *   {container: A}                           → undefined: the field is required
 */
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { Field, FieldType, Model } from "../../model/model.ts";

interface WithoutReference {
  /** Undefined: the aspect requires the urn. */
  readonly value: unknown;
  /** Distinct names of the removed relationships. */
  readonly removed: readonly string[];
}

/** The location of a reference in an aspect. */
export interface ReferencePath {
  /** Name of the relationship, for the response. */
  readonly name: string;
  /** From the aspect's root to the urn. */
  readonly path: readonly string[];
  /** The whole list item is removed with the urn, because it is meaningless without it. */
  readonly wholeItem?: boolean | undefined;
}

type ReferenceRemoval = (
  aspect: string,
  value: unknown,
  rules: readonly ReferencePath[],
  urn: string,
) => WithoutReference;

/** Marks a value to remove. */
const GONE = Symbol("gone");

export function createReferenceRemoval(model: Model): ReferenceRemoval {
  return (aspect, value, rules, urn) => {
    const type = { kind: "named", name: model.aspects.get(aspect)?.record ?? "" } as const;
    const present = rules.filter(
      (rule) => without(value, type, rule.path, { ...rule, urn }) !== value,
    );
    let left = value;
    for (const rule of present) {
      if (left !== GONE) left = without(left, type, rule.path, { ...rule, urn });
    }
    return {
      value: left === GONE ? undefined : left,
      removed: [...new Set(present.map(({ name }) => name))],
    };
  };

  /** Returns the same value if it does not contain the urn. */
  function without(
    value: unknown,
    type: FieldType,
    [component, ...rest]: readonly string[],
    reference: Pick<ReferencePath, "wholeItem"> & { readonly urn: string },
  ): unknown {
    const { urn, wholeItem } = reference;
    if (component === undefined) return value === urn ? GONE : value;
    if (type.kind === "array" && Array.isArray(value)) {
      const items = value.map((item) => without(item, type.items, rest, reference));
      if (items.every((item, i) => item === value[i])) return value;
      return items.filter((item) => item !== GONE);
    }
    if (!jsonObject(value)) return value;
    if (type.kind === "map" && component === "*") {
      return mapped(value, (member) => without(member, type.values, rest, reference));
    }
    if (component === "$key") return Object.hasOwn(value, urn) ? omitted(value, urn) : value;
    if (!Object.hasOwn(value, component)) return value;
    const member = memberOf(type, component);
    if (member === undefined) return value;
    const inner = without(value[component], member.type, rest, reference);
    if (inner === value[component]) return value;
    if (inner !== GONE) return { ...value, [component]: inner };
    return member.dispensable && wholeItem !== true ? omitted(value, component) : GONE;
  }

  function memberOf(
    type: FieldType,
    name: string,
  ): { readonly type: FieldType; readonly dispensable: boolean } | undefined {
    if (type.kind === "union") {
      const member = type.members.find(({ key }) => key === name);
      return member && { type: member.type, dispensable: false };
    }
    if (type.kind !== "named") return undefined;
    const record = model.types.get(type.name);
    const field = record?.kind === "record" ? fieldOf(record.fields, name) : undefined;
    return (
      field && { type: field.type, dispensable: field.optional || field.default !== undefined }
    );
  }
}

const fieldOf = (fields: readonly Field[], name: string): Field | undefined =>
  fields.find((field) => field.name === name);

function mapped(value: JsonObject, change: (member: unknown) => unknown): JsonObject {
  const members = Object.entries(value).map(([key, member]) => [key, change(member)] as const);
  if (members.every(([key, member]) => member === value[key])) return value;
  return Object.fromEntries(members.filter(([, member]) => member !== GONE));
}

const omitted = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
