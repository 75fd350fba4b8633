/** Translates a condition (search.ts) into a query without a score. */
import { CatalogError } from "../../../../core/errors.ts";
import type { Condition, FieldValue } from "../../search.ts";
import { fieldNames } from "../fields.ts";
import { PART_END, withinUnitsMax } from "../index-document.ts";
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

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

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

function everyQuery({ every }: Of<"every">): QueryClause {
  const flat = every.flatMap(parts);
  if (flat.length === 0) return everything(0);
  const [nots, others] = [
    flat.filter((one) => one.kind === "not"),
    flat.filter((one) => one.kind !== "not"),
  ];
  const negated = nots.flatMap(({ not }) => alternatives(not));
  const none = negated.length === 0 ? [] : [noneOf(merged(negated).map(conditionQuery))];
  return allOf([...others.map(conditionQuery), ...none]);
}

const parts = (condition: Condition): readonly Condition[] =>
  condition.kind === "every" ? condition.every.flatMap(parts) : [condition];

/** Alternatives, one of which must hold. Merges them, because servers limit their number. */
const alternatives = (condition: Condition): readonly Condition[] => merged(flattened(condition));

const flattened = (condition: Condition): readonly Condition[] =>
  condition.kind === "any" ? condition.any.flatMap(flattened) : [condition];

/** Merges conditions on equal values of a field. */
function merged(conditions: readonly Condition[]): readonly Condition[] {
  const values = new Map<string, FieldValue[]>();
  const others: Condition[] = [];
  for (const one of conditions) {
    if (one.kind !== "equal") others.push(one);
    else values.set(one.field, [...(values.get(one.field) ?? []), ...one.values]);
  }
  return [
    ...Array.from(values, ([field, some]) => ({ kind: "equal" as const, field, values: some })),
    ...others,
  ];
}

function equalQuery({ field, values }: Of<"equal">): QueryClause {
  const texts = values.filter((value) => typeof value === "string");
  const numbers = values.filter((value) => typeof value === "number");
  const truths = values.filter((value) => typeof value === "boolean");
  return anyOf([
    ...terms(fieldNames.text(field), [...new Set(texts.map(storedText))]),
    ...terms(fieldNames.number(field), numbers),
    ...terms(fieldNames.truth(field), truths),
  ]);
}

/**
 * The index has texts in lower case with the prefix "t", and numbers with the prefix "n". Texts that
 * were cut are also indexed in pieces, and other values as texts in a separate field. The digest of a
 * cut text has only characters that no lower-case text has.
 */
function likeQuery({ field, how, texts }: Of<"like">): QueryClause {
  const [order, part] = [fieldNames.order(field), fieldNames.part(field)];
  const asked = [...new Set(texts.map((text) => text.toWellFormed()))].filter(isLowerCase);
  const others = asked
    .filter(isInNumbers)
    .map((text) => likeOther(fieldNames.asText(field), how, text));
  if (how === "equals") {
    const stored = asked.map((text) => `t${storedText(text)}`);
    return anyOf([...terms(order, stored), ...others]);
  }
  for (const text of asked) {
    if (how === "starts" ? isTooLong(`t${inUnitOrder(text)}`) : text.length > withinUnitsMax) {
      throw tooLong(text, field);
    }
  }
  return anyOf([
    ...others,
    ...asked.map(inUnitOrder).flatMap((text): readonly QueryClause[] => {
      if (how === "starts" || text === "") return [prefix(order, `t${text}`)];
      const pattern = literal(text);
      return how === "contains"
        ? [wildcard(order, `t*${pattern}*`), wildcard(part, `*${pattern}*`)]
        : [wildcard(order, `t*${pattern}`), wildcard(part, `*${pattern}${PART_END}`)];
    }),
  ]);
}

/** True if a text may be a part of a number or boolean; other texts are not searched there. */
const isInNumbers = (text: string): boolean =>
  /^[-+.e\d]*$/.test(text) || "true".includes(text) || "false".includes(text);

function likeOther(name: string, how: Of<"like">["how"], text: string): QueryClause {
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

/** False for a text that no lower-case text contains. */
const isLowerCase = (text: string): boolean => !/[A-Z]/.test(text);

const tooLong = (text: string, field: string): CatalogError =>
  new CatalogError(
    "too_large",
    `a text of ${text.length} characters is too long to be compared with values of "${field}"`,
    { hint: "Use a shorter text, or search for equal values" },
  );

/** A range between ends of two types is empty; a range without ends has all numbers and texts. */
function rangeQuery({ field, above, from, to, below }: Of<"range">): QueryClause {
  const given = Object.entries({ gt: above, gte: from, lte: to, lt: below }).filter(
    (end): end is [string, number | string] => end[1] !== undefined,
  );
  for (const [, end] of given) {
    if (typeof end === "string" && isTooLong(storedText(end))) throw tooLong(end, field);
  }
  const of = (type: "number" | "string") => given.every(([, end]) => typeof end === type);
  const ends = (): Readonly<Record<string, number | string>> =>
    Object.fromEntries(
      given.map(([name, end]) => [name, typeof end === "string" ? storedText(end) : end]),
    );
  return anyOf([
    ...(of("number") ? [range(fieldNames.number(field), ends())] : []),
    ...(of("string") ? [range(fieldNames.text(field), ends())] : []),
  ]);
}
