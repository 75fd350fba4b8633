/**
 * Compiles a field query to a condition on document values: texts in the field's form, numbers as
 * numbers, times in epoch milliseconds, days as 2026-03-01.
 */
import { slashedPath } from "../../../core/query/browse-path.ts";
import type { Ends } from "../../../core/query/search-query-values.ts";
import type { Condition, FieldValue } from "../../../views/search/search.ts";
import { dayFrom, dayUpTo, finite, spanEnds, spanOf } from "./date-ranges.ts";
import type { FieldKind, KnownField, SearchFields } from "./fields.ts";

export type FieldMatch =
  /** Equal to one of the texts; for a path, also below one of them. */
  | { readonly how: "equals"; readonly texts: readonly string[] }
  /** Equal or prefix, as people type it: case-insensitive, and the last part of a urn is enough. */
  | { readonly how: "is" | "begins"; readonly texts: readonly string[] }
  | { readonly how: "ignoringCase"; readonly texts: readonly string[] }
  | { readonly how: "contains" | "starts" | "ends"; readonly texts: readonly string[] }
  | { readonly how: "range"; readonly ends: Ends }
  | { readonly how: "exists" };

/** A value that does not fit the field. */
interface InvalidText {
  /** The text that is not a possible value of the field. */
  readonly invalidText: string;
}

/** Matches any of the fields; invalid if a text is a possible value of none of them. */
export function conditionOn(
  fields: readonly KnownField[],
  asked: FieldMatch,
  types: Pick<SearchFields, "entityType">,
): Condition | InvalidText {
  if (asked.how === "exists") {
    return anyOf(fields.map(({ name }) => ({ kind: "exists", field: name })));
  }
  const conditions = fields.flatMap((field) =>
    [...field.kinds].map((kind) => conditionOf(field, { kind, asked, types })),
  );
  const given = asked.how === "range" ? Object.values<string>({ ...asked.ends }) : asked.texts;
  const lenient = fields.some((field) => field.lenient === true);
  const text = given.find((one) => !lenient && !conditions.some(({ read }) => read.has(one)));
  if (text !== undefined) return { invalidText: text };
  return anyOf(conditions.map(({ condition }) => condition));
}

interface Question<T extends FieldMatch = Exclude<FieldMatch, { how: "exists" }>> {
  readonly kind: FieldKind;
  readonly asked: T;
  readonly types: Pick<SearchFields, "entityType">;
}

interface ReadCondition {
  readonly condition: Condition;
  /** The texts that are possible values of this kind. */
  readonly read: ReadonlySet<string>;
}

function conditionOf(field: KnownField, { kind, asked, types }: Question): ReadCondition {
  if (asked.how === "range") return rangeCondition(field.name, kind, asked.ends);
  if (kind === "text" || kind === "urn" || kind === "path") {
    return { condition: textCondition(field, kind, asked), read: new Set(asked.texts) };
  }
  if (asked.how !== "equals" && asked.how !== "is" && asked.how !== "ignoringCase") {
    // Names of entity types are texts, too, and other values are compared as written.
    return { condition: textCondition(field, "text", asked), read: new Set(asked.texts) };
  }
  if (kind === "time") return timesCondition(field.name, asked.texts);
  if (kind === "day") return daysCondition(field.name, asked.texts);
  const values: FieldValue[] = [];
  const read = new Set<string>();
  for (const text of asked.texts) {
    const value = readValue(kind, text, types);
    if (value === undefined) continue;
    values.push(value);
    if (kind === "numeral") values.push(text.trim());
    read.add(text);
  }
  return { condition: { kind: "equal", field: field.name, values }, read };
}

function timesCondition(field: string, texts: readonly string[]): ReadCondition {
  const spans = texts.flatMap((text) => spanOf(text) ?? []);
  const conditions = spans.map(
    ({ from, to }): Condition =>
      from === to ? { kind: "equal", field, values: [from] } : { kind: "range", field, from, to },
  );
  return {
    condition: anyOf(conditions),
    read: new Set(texts.filter((text) => spanOf(text) !== undefined)),
  };
}

function daysCondition(field: string, texts: readonly string[]): ReadCondition {
  const spans = texts.flatMap((text) => spanOf(text) ?? []);
  const conditions = spans.map((span): Condition => {
    const [from, to] = [dayFrom(span.from), dayUpTo(span.to)];
    if (from > to) return NOTHING;
    return from === to
      ? { kind: "equal", field, values: [from] }
      : { kind: "range", field, from, to };
  });
  return {
    condition: anyOf(conditions),
    read: new Set(texts.filter((text) => spanOf(text) !== undefined)),
  };
}

function rangeCondition(field: string, kind: FieldKind, ends: Ends): ReadCondition {
  if (kind === "flag") return flagsBetween(field, ends);
  const texts = Object.values<string>({ ...ends });
  if (kind !== "number" && kind !== "numeral" && kind !== "time" && kind !== "day") {
    return { condition: { kind: "range", field, ...ends }, read: new Set(texts) };
  }
  const entries = Object.entries<string>({ ...ends });
  const values = Object.fromEntries(
    entries.map(([end, text]) => [end, endOf(kind, text, spanEnds[end as keyof Ends])]),
  );
  const read = new Set(entries.flatMap(([end, text]) => (values[end] === undefined ? [] : [text])));
  const whole = read.size === new Set(texts).size;
  return { condition: whole ? { kind: "range", field, ...values } : NOTHING, read };
}

/**
 * Converts an end of a range to a value of the kind. A day or a month is converted to one of its
 * own ends.
 */
function endOf(
  kind: "number" | "numeral" | "time" | "day",
  text: string,
  end: "from" | "to",
): number | string | undefined {
  if (kind === "number" || kind === "numeral") return finite(text);
  const millis = spanOf(text)?.[end];
  if (millis === undefined || kind === "time") return millis;
  return end === "from" ? dayFrom(millis) : dayUpTo(millis);
}

/** Orders false before true. */
function flagsBetween(field: string, ends: Ends): ReadCondition {
  const entries = Object.entries<string>({ ...ends });
  const read = new Set(entries.flatMap(([, text]) => (flagOf(text) === undefined ? [] : [text])));
  const holds = {
    above: (value: boolean, end: boolean) => value > end,
    from: (value: boolean, end: boolean) => value >= end,
    to: (value: boolean, end: boolean) => value <= end,
    below: (value: boolean, end: boolean) => value < end,
  };
  const values = [false, true].filter((value) =>
    entries.every(([end, text]) => {
      const flag = flagOf(text);
      return flag !== undefined && holds[end as keyof Ends](value, flag);
    }),
  );
  return { condition: { kind: "equal", field, values }, read };
}

type TextMatch = Extract<FieldMatch, { texts: readonly string[] }>;

function textCondition(field: KnownField, kind: FieldKind, { how, texts }: TextMatch): Condition {
  const { name, separator } = field;
  const lower = texts.map((text) => text.trim().toLowerCase());
  // Values may have leading or trailing blanks, and so may the query.
  const whole = () => [...new Set([...texts.map((text) => text.toLowerCase()), ...lower])];
  const like = (
    way: "equals" | "contains" | "starts" | "ends",
    of: readonly string[],
  ): Condition => (of.length === 0 ? NOTHING : { kind: "like", field: name, how: way, texts: of });
  if (how === "ignoringCase") return like("equals", whole());
  if (kind === "path" && (how === "equals" || how === "is")) {
    const paths = separator === "/" ? texts.map(slashedPath) : texts;
    const below = paths.map((path): Condition => within(name, `${path}${separator}`));
    return anyOf([{ kind: "equal", field: name, values: paths }, ...below]);
  }
  if (how === "equals") return { kind: "equal", field: name, values: texts };
  if (how !== "is" && how !== "begins") return like(how, lower);
  if (kind !== "urn") return how === "is" ? like("equals", whole()) : like("starts", lower);
  // People name a urn by its last part: tags:pii, platform:hive.
  const urns = texts.filter((text) => text.startsWith("urn:"));
  const parts = lower.filter((text) => !text.startsWith("urn:"));
  const lastParts = parts.map((text) => `:${text}`);
  if (how === "is") {
    return anyOf([
      { kind: "equal", field: name, values: urns },
      like("equals", parts),
      like("ends", lastParts),
    ]);
  }
  const beginnings = lower.filter((text) => text.startsWith("urn:"));
  return anyOf([like("starts", beginnings), like("contains", lastParts)]);
}

/** Matches texts with the prefix, case-sensitive. */
function within(field: string, beginning: string): Condition {
  const last = beginning.charCodeAt(beginning.length - 1);
  const below = beginning.slice(0, -1) + String.fromCharCode(last + 1);
  return { kind: "range", field, from: beginning, below };
}

function readValue(
  kind: FieldKind,
  text: string,
  types: Pick<SearchFields, "entityType">,
): FieldValue | undefined {
  switch (kind) {
    case "flag":
      return flagOf(text);
    case "number":
    case "numeral":
      return finite(text);
    case "type":
      return types.entityType(text) ?? text;
    default:
      return text;
  }
}

function flagOf(text: string): boolean | undefined {
  const lower = text.trim().toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : undefined;
}

/** Matches no document. */
export const NOTHING: Condition = { kind: "any", any: [] };

/** Matches any of the conditions; equal and like conditions on one field are merged. */
export function anyOf(conditions: readonly Condition[]): Condition {
  const values = new Map<string, Set<FieldValue>>();
  const texts = new Map<string, { readonly like: Like; readonly all: Set<string> }>();
  const others: Condition[] = [];
  for (const one of conditions) {
    if (one.kind === "any" && one.any.length === 0) continue;
    if (one.kind === "equal") {
      const known = values.get(one.field) ?? new Set();
      for (const value of one.values) known.add(value);
      values.set(one.field, known);
    } else if (one.kind === "like") {
      const key = `${one.how} ${one.field}`;
      const known = texts.get(key) ?? { like: one, all: new Set() };
      for (const text of one.texts) known.all.add(text);
      texts.set(key, known);
    } else others.push(one);
  }
  const equal = [...values].flatMap(([field, all]): readonly Condition[] =>
    all.size === 0 ? [] : [{ kind: "equal", field, values: [...all] }],
  );
  const like = [...texts.values()].map(
    ({ like, all }): Condition => ({ ...like, texts: [...all] }),
  );
  const any = [...equal, ...like, ...others];
  const [only] = any;
  return only !== undefined && any.length === 1 ? only : { kind: "any", any };
}

type Like = Extract<Condition, { kind: "like" }>;

/** Matches all of the conditions; several negations become one negated disjunction. */
export function everyOf(conditions: readonly Condition[]): Condition | undefined {
  const not = conditions.flatMap((one) => (one.kind === "not" ? [one.not] : []));
  const every: readonly Condition[] =
    not.length < 2
      ? conditions
      : [...conditions.filter(({ kind }) => kind !== "not"), { kind: "not", not: anyOf(not) }];
  const [only] = every;
  return every.length > 1 ? { kind: "every", every } : only;
}
