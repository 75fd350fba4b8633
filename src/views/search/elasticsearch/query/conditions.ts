/** Translates a condition (search.ts) into a query without a score. */
import { CatalogError } from "../../../../core/errors.ts";
import type { Condition, FieldValue } from "../../search.ts";
import { fieldNames } from "../fields.ts";
import { PART_END, substringUnitsMax } from "../index-document.ts";
import { inUnitOrder, storedText } from "../stored-text.ts";
import {
  allOf,
  anyOf,
  everything,
  exists,
  isTooLong,
  literal,
  noneOf,
  prefix,
  type QueryClause,
  range,
  terms,
  wildcard,
} from "./clauses.ts";

type ConditionOf<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

export function conditionQuery(condition: Condition): QueryClause {
  switch (condition.kind) {
    case "equal":
      return equalQuery(condition);
    case "like":
      return likeQuery(condition);
    case "range":
      return rangeQuery(condition);
    case "exists":
      return exists(fieldNames.shown(condition.field));
    case "every":
      return everyQuery(condition);
    case "any":
      return anyOf(alternatives(condition).map(conditionQuery));
    case "not":
      return noneOf(alternatives(condition.not).map(conditionQuery));
  }
}

function everyQuery({ every }: ConditionOf<"every">): QueryClause {
  const flat = every.flatMap(conjuncts);
  if (flat.length === 0) return everything(0);
  const [negations, others] = [
    flat.filter((one) => one.kind === "not"),
    flat.filter((one) => one.kind !== "not"),
  ];
  const negated = negations.flatMap(({ not }) => alternatives(not));
  const exclusion = negated.length === 0 ? [] : [noneOf(merged(negated).map(conditionQuery))];
  return allOf([...others.map(conditionQuery), ...exclusion]);
}

const conjuncts = (condition: Condition): readonly Condition[] =>
  condition.kind === "every" ? condition.every.flatMap(conjuncts) : [condition];

/** The alternatives of a disjunction, merged, because servers limit the number of clauses. */
const alternatives = (condition: Condition): readonly Condition[] => merged(flattened(condition));

const flattened = (condition: Condition): readonly Condition[] =>
  condition.kind === "any" ? condition.any.flatMap(flattened) : [condition];

/** Merges the `equal` conditions of each field into one. */
function merged(conditions: readonly Condition[]): readonly Condition[] {
  const values = new Map<string, FieldValue[]>();
  const others: Condition[] = [];
  for (const one of conditions) {
    if (one.kind !== "equal") others.push(one);
    else values.set(one.field, [...(values.get(one.field) ?? []), ...one.values]);
  }
  return [
    ...Array.from(values, ([field, merged]) => ({ kind: "equal" as const, field, values: merged })),
    ...others,
  ];
}

function equalQuery({ field, values }: ConditionOf<"equal">): QueryClause {
  const texts = values.filter((value) => typeof value === "string");
  const numbers = values.filter((value) => typeof value === "number");
  const booleans = values.filter((value) => typeof value === "boolean");
  return anyOf([
    ...terms(fieldNames.text(field), [...new Set(texts.map(storedText))]),
    ...terms(fieldNames.number(field), numbers),
    ...terms(fieldNames.truth(field), booleans),
  ]);
}

/**
 * The field `order` has lower-case texts with the prefix "t" and numbers with the prefix "n".
 * Truncated texts are also indexed in pieces; numbers and booleans also as texts in a separate
 * field. The digest of a truncated text has only capital letters, so it matches no lower-case
 * pattern.
 */
function likeQuery({ field, how, texts }: ConditionOf<"like">): QueryClause {
  const [order, part] = [fieldNames.order(field), fieldNames.part(field)];
  const searched = [...new Set(texts.map((text) => text.toWellFormed()))].filter(isLowerCase);
  const others = searched
    .filter(mayMatchNumberOrBoolean)
    .map((text) => likeNumberOrBoolean(fieldNames.asText(field), how, text));
  if (how === "equals") {
    const stored = searched.map((text) => `t${storedText(text)}`);
    return anyOf([...terms(order, stored), ...others]);
  }
  for (const text of searched) {
    if (how === "starts" ? isTooLong(`t${inUnitOrder(text)}`) : text.length > substringUnitsMax) {
      throw tooLong(text, field);
    }
  }
  return anyOf([
    ...others,
    ...searched.map(inUnitOrder).flatMap((text): readonly QueryClause[] => {
      if (how === "starts" || text === "") return [prefix(order, `t${text}`)];
      const pattern = literal(text);
      return how === "contains"
        ? [wildcard(order, `t*${pattern}*`), wildcard(part, `*${pattern}*`)]
        : [wildcard(order, `t*${pattern}`), wildcard(part, `*${pattern}${PART_END}`)];
    }),
  ]);
}

/** True if a number or boolean as text may contain the text. */
const mayMatchNumberOrBoolean = (text: string): boolean =>
  /^[-+.e\d]*$/.test(text) || "true".includes(text) || "false".includes(text);

function likeNumberOrBoolean(
  name: string,
  how: ConditionOf<"like">["how"],
  text: string,
): QueryClause {
  if (text === "" && how !== "equals") return exists(name);
  switch (how) {
    case "equals":
      return { term: { [name]: { value: text, boost: 0 } } };
    case "starts":
      return prefix(name, text);
    default:
      return wildcard(name, how === "contains" ? `*${text}*` : `*${text}`);
  }
}

const isLowerCase = (text: string): boolean => !/[A-Z]/.test(text);

const tooLong = (text: string, field: string): CatalogError =>
  new CatalogError(
    "too_large",
    `a text of ${text.length} characters is too long to be compared with values of "${field}"`,
    { hint: "Use a shorter text, or search for equal values" },
  );

/** A range with bounds of two types is empty; an unbounded range matches all numbers and texts. */
function rangeQuery({ field, above, from, to, below }: ConditionOf<"range">): QueryClause {
  const bounds = Object.entries({ gt: above, gte: from, lte: to, lt: below }).filter(
    (end): end is [string, number | string] => end[1] !== undefined,
  );
  for (const [, end] of bounds) {
    if (typeof end === "string" && isTooLong(storedText(end))) throw tooLong(end, field);
  }
  const allAre = (type: "number" | "string") => bounds.every(([, end]) => typeof end === type);
  const storedBounds = (): Readonly<Record<string, number | string>> =>
    Object.fromEntries(
      bounds.map(([name, end]) => [name, typeof end === "string" ? storedText(end) : end]),
    );
  return anyOf([
    ...(allAre("number") ? [range(fieldNames.number(field), storedBounds())] : []),
    ...(allAre("string") ? [range(fieldNames.text(field), storedBounds())] : []),
  ]);
}
