/**
 * Filters: a filter is compiled once and then applied to each value. `compileFilterOver` takes
 * values that are not JSON objects: the caller reads their fields.
 *
 * EQUAL and IN are case-sensitive; IEQUAL, CONTAIN, START_WITH and END_WITH are not. A criterion
 * holds if any of its values matches any value of the field. Both `value` and `values` count. IN
 * without values never holds; a criterion of another condition without values is ignored.
 */

import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";
import { withNamespace } from "../urn.ts";

export interface Criterion {
  readonly field: string;
  readonly value?: string | undefined;
  readonly values?: readonly string[] | undefined;
  /** EQUAL when absent. */
  readonly condition?: string | undefined;
  readonly negated?: boolean | undefined;
}

interface AndGroup {
  readonly and?: readonly Criterion[] | undefined;
}

/** `or` of `and`; the older `criteria` is one `and`. */
export interface Filter {
  readonly or?: readonly AndGroup[] | undefined;
  readonly criteria?: readonly Criterion[] | undefined;
}

/** All values of a field: texts, numbers, booleans and objects; no lists, nothing for null. */
type ValuesOf = (field: string) => readonly unknown[];

/**
 * The filter with its values that are urns in the namespace, as they are stored. Members that no
 * filter has stay, so that validation rejects them.
 */
export function filterInNamespace(filter: Filter | undefined, namespace: string): typeof filter {
  if (typeof filter !== "object" || filter === null) return filter;
  const urn = <T>(text: T) =>
    typeof text === "string" && text.startsWith("urn:") ? withNamespace(text, namespace) : text;
  const criterion = (one: Criterion): Criterion =>
    jsonObject(one) ? { ...one, value: urn(one.value), values: mapped(one.values, urn) } : one;
  const group = (one: AndGroup): AndGroup =>
    one?.and === undefined ? one : { ...one, and: mapped(one.and, criterion) };
  const { or, criteria } = filter;
  return {
    ...filter,
    ...(or !== undefined && { or: mapped(or, group) }),
    ...(criteria !== undefined && { criteria: mapped(criteria, criterion) }),
  };
}

/** Returns a value that is not a list unchanged: compiling rejects it. */
const mapped = <T>(list: readonly T[] | undefined, change: (one: T) => T): typeof list =>
  Array.isArray(list) ? list.map(change) : list;

type Test = (valuesOf: ValuesOf) => boolean;

/** Limits of a filter, because it is applied to many values. */
const criteriaMax = 1_000;
const valuesMax = 10_000;
const fieldCharactersMax = 500;

/**
 * Compiles a filter of JSON objects. Fields are paths with "." or "/"; a list on the path matches
 * by any of its members. Throws `malformed` for a filter of the wrong form, `invalid` for a
 * condition that is not supported here.
 */
export function compileFilter(filter: Filter | undefined): (value: JsonObject) => boolean {
  const accepts = compileFilterOver(filter);
  return (value) => accepts((field) => fieldValues(value, field));
}

/** As `compileFilter`, for values with another field access. */
export function compileFilterOver(filter: Filter | undefined): Test {
  if (filter === undefined || filter === null) return () => true;
  const tests = readFilter(filter).map((criteria) => criteria.map(compileCriterion));
  return (valuesOf) => tests.some((group) => group.every((test) => test(valuesOf)));
}

/** A validated criterion. */
export interface CheckedCriterion {
  readonly field: string;
  readonly condition: ConditionName | HierarchyName;
  /** `value` and `values`; empty for IN, EXISTS and IS_NULL alone. */
  readonly texts: readonly string[];
  readonly negated: boolean;
}

/**
 * The filter in disjunctive normal form: at least one group, all of whose criteria must hold.
 * Ignored criteria are omitted, so a group may be empty. Throws as compileFilter does. `hierarchy`:
 * allows conditions on a hierarchy.
 */
export function readFilter(
  filter: Filter,
  { hierarchy = false }: { readonly hierarchy?: boolean } = {},
): readonly (readonly CheckedCriterion[])[] {
  if (typeof filter !== "object" || filter === null) throw misshapen(filter);
  if (!hasAnyOf(filter, ["or", "criteria"])) throw misshapen(filter);
  const groups = listOf(filter.or).map((group) => {
    if (typeof group !== "object" || group === null) throw misshapen(group);
    if (!hasAnyOf(group, ["and"])) throw misshapen(group);
    return listOf(group.and);
  });
  if (groups.length === 0) groups.push(listOf(filter.criteria));
  checkSize(groups);
  return groups.map((criteria) => criteria.flatMap((one) => checked(one, hierarchy) ?? []));
}

/** False for an object with only other members, which would match everything. */
const hasAnyOf = (one: object, names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(one, name)) || Object.keys(one).length === 0;

/** A group without criteria counts as one. */
function checkSize(groups: readonly (readonly Criterion[])[]): void {
  let criteria = 0;
  let values = 0;
  for (const group of groups) {
    criteria += Math.max(1, group.length);
    for (const one of group) values += Array.isArray(one?.values) ? one.values.length : 0;
  }
  rejectOver(criteria, "criteria", criteriaMax);
  rejectOver(values, "values", valuesMax);
}

function rejectOver(count: number, what: string, max: number): void {
  if (count <= max) return;
  throw new CatalogError(
    "malformed",
    `the filter has ${count} ${what}; at most ${max} are allowed`,
    {
      hint: "Ask in several requests",
    },
  );
}

/**
 * The conjunction of two filters: joins each group of one with each group of the other. Throws
 * `malformed` if the result exceeds the limits of a filter.
 */
export function intersectFilters(
  one: Filter | undefined,
  other: Filter | undefined,
): Filter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const [left, right] = [one.or ?? [], other.or ?? []];
  const joined = sizeOf(left) * right.length + sizeOf(right) * left.length;
  rejectOver(Math.max(joined, left.length * right.length), "criteria", criteriaMax);
  return {
    or: left.flatMap((first) =>
      right.map((second) => ({ and: [...(first.and ?? []), ...(second.and ?? [])] })),
    ),
  };
}

const sizeOf = (groups: readonly AndGroup[]): number =>
  groups.reduce((sum, { and = [] }) => sum + and.length, 0);

/** By condition: makes the test of one value of the field from the values of the criterion. */
const CONDITIONS = {
  EQUAL: (texts: readonly string[]) => equalToAny(texts),
  IN: (texts: readonly string[]) => equalToAny(texts),
  IEQUAL: (texts: readonly string[]) => equalIgnoringCase(texts),
  CONTAIN: (texts: readonly string[]) => ignoringCase(texts, (value, text) => value.includes(text)),
  START_WITH: (texts: readonly string[]) =>
    ignoringCase(texts, (value, text) => value.startsWith(text)),
  END_WITH: (texts: readonly string[]) =>
    ignoringCase(texts, (value, text) => value.endsWith(text)),
  GREATER_THAN: (texts: readonly string[]) => ordered(texts, (order) => order > 0),
  GREATER_THAN_OR_EQUAL_TO: (texts: readonly string[]) => ordered(texts, (order) => order >= 0),
  LESS_THAN: (texts: readonly string[]) => ordered(texts, (order) => order < 0),
  LESS_THAN_OR_EQUAL_TO: (texts: readonly string[]) => ordered(texts, (order) => order <= 0),
  EXISTS: () => () => true,
  IS_NULL: () => () => true,
} satisfies Record<string, (texts: readonly string[]) => (value: unknown) => boolean>;

type ConditionName = keyof typeof CONDITIONS;

const names = Object.keys(CONDITIONS) as ConditionName[];

/** Conditions that need the hierarchy of containers, domains or terms. */
const HIERARCHY = ["ANCESTORS_INCL", "DESCENDANTS_INCL", "RELATED_INCL"] as const;

export type HierarchyName = (typeof HIERARCHY)[number];

export const isHierarchyName = (name: ConditionName | HierarchyName): name is HierarchyName =>
  (HIERARCHY as readonly string[]).includes(name);

/** Conditions that need no values. The set of IN may be empty; the others ignore values. */
const withoutValues: ReadonlySet<string> = new Set(["IN", "EXISTS", "IS_NULL"]);

/** Undefined for a criterion that is ignored. */
function checked(criterion: Criterion, hierarchy: boolean): CheckedCriterion | undefined {
  // The types are not checked before: the criterion comes from a request.
  if (typeof criterion?.field !== "string" || criterion.field === "") throw misshapen(criterion);
  const { field, negated } = criterion;
  if (field.length > fieldCharactersMax) {
    throw new CatalogError(
      "malformed",
      `the field "${field.slice(0, 60)}…" of the filter has ${field.length} characters; at most ${fieldCharactersMax} are allowed`,
    );
  }
  const condition = conditionOf(criterion.condition ?? "EQUAL", hierarchy);
  const texts = textsOf(criterion);
  if (texts.length === 0 && !withoutValues.has(condition)) return undefined;
  return { field, condition, texts, negated: negated === true };
}

function compileCriterion({ field, condition, texts, negated }: CheckedCriterion): Test {
  const fits = CONDITIONS[condition as ConditionName](texts);
  // IS_NULL and `negated` both negate, so together they cancel out.
  const wanted = (condition !== "IS_NULL") !== negated;
  return (valuesOf) => valuesOf(field).some(fits) === wanted;
}

function conditionOf(name: string, hierarchy: boolean): ConditionName | HierarchyName {
  const allowed = hierarchy ? [...names, ...HIERARCHY] : names;
  const condition = allowed.find((known) => known === name);
  if (condition !== undefined) return condition;
  const real = HIERARCHY.some((known) => known === name);
  throw new CatalogError(
    real ? "invalid" : "malformed",
    real
      ? `the condition "${name}" is not supported here`
      : `"${String(name).slice(0, 120)}" is not a condition of a filter`,
    { hint: `Use one of ${allowed.join(", ")}` },
  );
}

/** Some clients send `value: ""` in addition to `values`: it counts only without `values`. */
function textsOf({ value, values }: Criterion): readonly string[] {
  const texts = listOf(values).map(String);
  if (value === undefined || value === null) return texts;
  return value === "" && texts.length > 0 ? texts : [...texts, String(value)];
}

type Fits = (value: unknown) => boolean;

/** Compares numbers by value, booleans as text, and objects with texts that are JSON objects. */
function equalToAny(texts: readonly string[]): Fits {
  const exact = new Set(texts);
  const numbers = new Set(texts.map(numberOf));
  const objects = texts
    .filter((text) => /^\s*\{/.test(text))
    .map(parsedObject)
    .filter((object) => object !== undefined);
  return (value) => {
    if (typeof value === "string") return exact.has(value);
    if (typeof value === "number") return numbers.has(value);
    if (typeof value === "boolean") return exact.has(String(value));
    return jsonObject(value) && objects.some((object) => holds(value, object));
  };
}

/** Every member of `part` is in `whole`: {unit: DAY} is in {unit: DAY, multiple: 1}. */
const holds = (whole: JsonObject, part: JsonObject): boolean =>
  Object.entries(part).every(([name, wanted]) => {
    const found = Object.hasOwn(whole, name) ? whole[name] : undefined;
    if (jsonObject(wanted)) return jsonObject(found) && holds(found, wanted);
    return JSON.stringify(found) === JSON.stringify(wanted);
  });

function equalIgnoringCase(texts: readonly string[]): Fits {
  const wanted = new Set(texts.map((text) => text.trim().toLowerCase()));
  return (value) => !jsonObject(value) && wanted.has(String(value).toLowerCase());
}

function ignoringCase(
  texts: readonly string[],
  fits: (value: string, text: string) => boolean,
): Fits {
  const wanted = texts.map((text) => text.trim().toLowerCase());
  return (value) => {
    if (jsonObject(value)) return false;
    const found = String(value).toLowerCase();
    return wanted.some((text) => fits(found, text));
  };
}

/** Only the first value counts. Numbers are ordered as numbers, all else as text. */
function ordered([text = ""]: readonly string[], fits: (order: number) => boolean): Fits {
  const number = numberOf(text);
  return (value) => {
    if (jsonObject(value)) return false;
    if (typeof value === "number") return number !== undefined && fits(value - number);
    const found = String(value);
    return fits(found < text ? -1 : found > text ? 1 : 0);
  };
}

const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Undefined for a text that is not a decimal number. */
export const numberOf = (text: string): number | undefined =>
  DECIMAL.test(text) ? Number(text) : undefined;

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return jsonObject(value) ? value : undefined;
  } catch {
    // Text that only looks like an object is text.
    return undefined;
  }
}

/** Fields with another name in search engines. */
const ALIASES: ReadonlyMap<string, string> = new Map([["@timestamp", "timestampMillis"]]);
const SUBFIELD = /\.(?:keyword|delimited|ngram|length)$/;

/** The name of the field without the suffix of a multi-field, such as `.keyword`. */
export const plainField = (field: string): string => field.replace(SUBFIELD, "");

/** Member names of a union of primitive types. */
const PLAIN = ["string", "int", "long", "float", "double", "boolean", "bytes"];

/**
 * The values of a field of a JSON object: {a: [{b: 1}, {b: [2, 3]}]} has 1, 2 and 3 at "a.b". A
 * name may itself hold dots, as the keys of maps do.
 */
export function fieldValues(value: JsonObject, field: string): readonly unknown[] {
  const found: unknown[] = [];
  collect(value, fieldPath(field), found);
  return found;
}

/** The segments of a field path. */
export const fieldPath = (field: string): readonly string[] =>
  (ALIASES.get(field) ?? plainField(field)).split(/[./]/);

function collect(value: unknown, path: readonly string[], found: unknown[]): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const member of value) collect(member, path, found);
  } else if (path.length === 0) {
    found.push(plainOf(value));
  } else if (jsonObject(value)) {
    for (let length = 1; length <= path.length; length++) {
      const name = path.slice(0, length).join(".");
      if (Object.hasOwn(value, name)) collect(value[name], path.slice(length), found);
    }
  }
}

/** The value in a union of plain values: {string: "a"} → a. */
function plainOf(value: unknown): unknown {
  if (!jsonObject(value)) return value;
  const [only, another] = Object.entries(value);
  return only !== undefined && another === undefined && PLAIN.includes(only[0]) ? only[1] : value;
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw misshapen(value);
  return value;
}

const misshapen = (part: unknown): CatalogError =>
  new CatalogError("malformed", `${JSON.stringify(part)?.slice(0, 120)} is no part of a filter`, {
    hint: 'A filter looks like {"or": [{"and": [{"field": "origin", "condition": "EQUAL", "values": ["PROD"]}]}]}',
  });
