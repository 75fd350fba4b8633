/**
 * Evaluates expressions and conditions (search.ts) for one document. Pure. Every store must give
 * the same results; the catalog uses this code to explain why a document matched.
 *
 * A lone surrogate counts as U+FFFD on both sides, because stores only store valid Unicode.
 */
import { appendAll, maxOf } from "../../lib/lists.ts";
import type {
  Condition,
  DocumentText,
  Expression,
  FieldValue,
  SearchDocument,
  WordChoice,
} from "./search.ts";
import { containsOneOf, endsWithOneOf, equalsOneOf, startsWithOneOf } from "./text-sets.ts";

/** The match of a value: a word, a prefix of a word, a phrase, …; `value` for a condition. */
type MatchKind = "word" | "prefix" | "phrase" | "whole" | "beginning" | "value";

export interface Match {
  readonly field: string;
  /** The unchanged text of the aspect, or the value that a condition matched, as text. */
  readonly value: string;
  readonly how: MatchKind;
  /** The score of this match; the document's score is a sum or maximum of such scores. */
  readonly score: number;
}

interface Evaluation {
  readonly score: number;
  /**
   * All matches, in the order of the expression and of the document's texts. Of `preferred` only
   * the member with the greatest score counts. A value may occur several times.
   */
  readonly matches: readonly Match[];
}

/** Undefined if the expression does not match. */
export function evaluate(expression: Expression, document: SearchDocument): Evaluation | undefined {
  switch (expression.kind) {
    case "all":
      return { score: 1, matches: [] };
    case "word":
      return best(
        document.texts.flatMap((text) =>
          expression.within === "suggested" && !text.suggested
            ? []
            : matchOfWord(text, expression.any),
        ),
      );
    case "phrase":
      return best(
        document.texts
          .filter(({ words }) => hasPhrase(words, expression.words))
          .map((text) => matchOf(text, "phrase", expression.weight ?? 1)),
      );
    case "whole":
      return best(document.texts.flatMap((text) => matchOfWhole(text, expression)));
    case "condition":
      return holds(expression.condition, document)
        ? { score: 1, matches: valuesOf(expression.condition, document) }
        : undefined;
    case "and":
      return sum(expression.all, document);
    case "or": {
      const held = expression.any.flatMap((one) => evaluate(one, document) ?? []);
      return held.length === 0 ? undefined : greatest(held);
    }
    case "not":
      return evaluate(expression.not, document) === undefined
        ? { score: 0, matches: [] }
        : undefined;
    case "prefer": {
      const base = evaluate(expression.base, document);
      if (base === undefined) return undefined;
      const preferred = bestPreferred(expression.preferred, document);
      return {
        score: base.score + (preferred?.score ?? 0),
        matches: [...base.matches, ...(preferred?.matches ?? [])],
      };
    }
  }
}

/** True if the document's values fulfil the condition. */
export function holds(condition: Condition, { values }: Pick<SearchDocument, "values">): boolean {
  switch (condition.kind) {
    case "every":
      return condition.every.every((one) => holds(one, { values }));
    case "any":
      return condition.any.some((one) => holds(one, { values }));
    case "not":
      return !holds(condition.not, { values });
    case "exists":
      return fieldValues(values, condition.field).length > 0;
    default:
      return fieldValues(values, condition.field).some((value) => fulfils(condition, value));
  }
}

/** A condition that tests each value of a field by itself. */
export type ValueCondition = Extract<Condition, { kind: "equal" | "like" | "range" }>;

/** True if a single value fulfils the condition. */
export function fulfils(condition: ValueCondition, value: FieldValue): boolean {
  let test = tests.get(condition);
  if (test === undefined) {
    test = testOf(condition);
    tests.set(condition, test);
  }
  return test(value);
}

type ValueTest = (value: FieldValue) => boolean;

/** Cache of compiled conditions with many texts. */
const tests = new WeakMap<ValueCondition, ValueTest>();

function testOf(condition: ValueCondition): ValueTest {
  switch (condition.kind) {
    case "equal": {
      const values = new Set(condition.values.map(wellFormed));
      return (value) => values.has(wellFormed(value));
    }
    case "like": {
      const isLike = likes[condition.how](condition.texts.map((text) => text.toWellFormed()));
      return (value) => isLike(String(value).toWellFormed().toLowerCase());
    }
    case "range":
      return (value) => isInRange(wellFormed(value), condition);
  }
}

const likes = {
  equals: equalsOneOf,
  contains: containsOneOf,
  starts: startsWithOneOf,
  ends: endsWithOneOf,
};

/** The values of a field. Ignores inherited properties such as "constructor". */
export const fieldValues = (
  values: SearchDocument["values"],
  field: string,
): readonly FieldValue[] => (Object.hasOwn(values, field) ? (values[field] ?? []) : []);

function matchOfWord(text: DocumentText, any: readonly WordChoice[]): readonly Match[] {
  let found: WordChoice | undefined;
  for (const choice of any) {
    if (found !== undefined && found.weight >= choice.weight) continue;
    if (hasWord(text.words, choice)) found = choice;
  }
  return found === undefined ? [] : [matchOf(text, found.prefix ? "prefix" : "word", found.weight)];
}

function hasWord(words: readonly string[], { word, prefix }: WordChoice): boolean {
  const wanted = word.toWellFormed();
  return words.some((one) => {
    const own = one.toWellFormed();
    return prefix ? own.startsWith(wanted) : own === wanted;
  });
}

/** An empty phrase matches nothing. */
function hasPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  const [first, ...rest] = phrase.map((word) => word.toWellFormed());
  if (first === undefined) return false;
  const own = words.map((word) => word.toWellFormed());
  return own.some(
    (word, at) => word === first && rest.every((next, n) => own[at + n + 1] === next),
  );
}

function matchOfWhole(
  text: DocumentText,
  { text: asked, prefix, within }: Extract<Expression, { kind: "whole" }>,
): readonly Match[] {
  if (within === "suggested" && !text.suggested) return [];
  const own = text.folded.toWellFormed();
  const wanted = asked.toWellFormed();
  if (own === wanted) return [matchOf(text, prefix ? "beginning" : "whole", 1)];
  return prefix && own.startsWith(wanted) ? [matchOf(text, "beginning", 1)] : [];
}

const matchOf = ({ field, value, boost }: DocumentText, how: MatchKind, weight: number): Match => ({
  field,
  value,
  how,
  score: weight * boost,
});

function best(matches: readonly Match[]): Evaluation | undefined {
  if (matches.length === 0) return undefined;
  return { score: maxOf(matches.map(({ score }) => score)), matches };
}

function sum(all: readonly Expression[], document: SearchDocument): Evaluation | undefined {
  let score = 0;
  const matches: Match[] = [];
  for (const one of all) {
    const held = evaluate(one, document);
    if (held === undefined) return undefined;
    score += held.score;
    appendAll(matches, held.matches);
  }
  return { score, matches };
}

const greatest = (held: readonly Evaluation[]): Evaluation => ({
  score: maxOf(held.map(({ score }) => score)),
  matches: held.flatMap(({ matches }) => matches),
});

/** The member of `preferred` with the greatest score; the first one of equal ones. */
function bestPreferred(
  preferred: Extract<Expression, { kind: "prefer" }>["preferred"],
  document: SearchDocument,
): Evaluation | undefined {
  let counted: Evaluation | undefined;
  for (const { weight, when } of preferred) {
    const held = evaluate(when, document);
    if (held === undefined || weight * held.score <= (counted?.score ?? 0)) continue;
    const matches = held.matches.map((match) => ({ ...match, score: weight * match.score }));
    counted = { score: weight * held.score, matches };
  }
  return counted;
}

/** The values that fulfil the condition; none for a negated one. */
function valuesOf(condition: Condition, document: SearchDocument): readonly Match[] {
  switch (condition.kind) {
    case "every":
      return condition.every.flatMap((one) => valuesOf(one, document));
    case "any":
      return condition.any
        .filter((one) => holds(one, document))
        .flatMap((one) => valuesOf(one, document));
    case "exists":
    case "not":
      return [];
    default: {
      const { field } = condition;
      return fieldValues(document.values, field)
        .filter((value) => fulfils(condition, value))
        .map((value) => ({ field, value: String(value), how: "value", score: 1 }));
    }
  }
}

const wellFormed = (value: FieldValue): FieldValue =>
  typeof value === "string" ? value.toWellFormed() : value;

/** True if a single value is within all bounds; a boolean never is. */
function isInRange(
  value: FieldValue,
  { above, from, to, below }: Extract<Condition, { kind: "range" }>,
): boolean {
  if (typeof value === "boolean") return false;
  const against = (end: number | string | undefined, holds: (order: number) => boolean) =>
    end === undefined || (typeof end === typeof value && holds(compare(value, end)));
  return (
    against(above, (order) => order > 0) &&
    against(from, (order) => order >= 0) &&
    against(to, (order) => order <= 0) &&
    against(below, (order) => order < 0)
  );
}

/** Two numbers by size, two texts by UTF-16 code unit. */
function compare(value: number | string, end: number | string): number {
  const other = typeof end === "string" ? end.toWellFormed() : end;
  return value < other ? -1 : value > other ? 1 : 0;
}
