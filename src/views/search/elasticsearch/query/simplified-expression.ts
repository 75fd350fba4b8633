/**
 * Simplifies an expression, because servers limit the number of clauses and their depth: flattens
 * nested operators, and merges alternatives into one leaf.
 */
import { appendAll } from "../../../../lib/lists.ts";
import type { Condition, Expression, WordChoice } from "../../search.ts";

type ExpressionOf<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

export function simplifiedExpression(expression: Expression): Expression {
  switch (expression.kind) {
    case "word":
      return { ...expression, any: withoutCovered(expression.any) };
    case "and":
      return simplifiedAnd(expression);
    case "or":
      return simplifiedOr(expression.any.flatMap(alternatives));
    case "not":
      return { kind: "not", not: simplifiedExpression(expression.not) };
    case "prefer": {
      const base = simplifiedExpression(expression.base);
      if (expression.preferred.length === 0) return base;
      const preferred = expression.preferred.map(({ weight, when }) => ({
        weight,
        when: simplifiedExpression(when),
      }));
      return { kind: "prefer", base, preferred };
    }
    default:
      return expression;
  }
}

/** Merges several negated expressions into one. */
function simplifiedAnd({ all }: ExpressionOf<"and">): Expression {
  const flat = all.flatMap(parts);
  const negated = flat.filter((one) => one.kind === "not").map(({ not }) => not);
  const others = flat.filter((one) => one.kind !== "not").map(simplifiedExpression);
  const every = [...others, ...(negated.length === 0 ? [] : [notAnyOf(negated)])];
  return every.length === 1 && every[0] !== undefined ? every[0] : { kind: "and", all: every };
}

const notAnyOf = (negated: readonly Expression[]): Expression => ({
  kind: "not",
  not: simplifiedOr(negated.flatMap(alternatives)),
});

const parts = (expression: Expression): readonly Expression[] =>
  expression.kind === "and" ? expression.all.flatMap(parts) : [expression];

const alternatives = (expression: Expression): readonly Expression[] =>
  expression.kind === "or" ? expression.any.flatMap(alternatives) : [expression];

/** Merges words into one leaf: both an `or` and a leaf have the greatest score of their members. */
function simplifiedOr(any: readonly Expression[]): Expression {
  const words = { everywhere: [] as WordChoice[], suggested: [] as WordChoice[] };
  const conditions: Condition[] = [];
  const others: Expression[] = [];
  for (const one of any) {
    if (one.kind === "word") appendAll(words[one.within ?? "everywhere"], one.any);
    else if (one.kind === "condition") conditions.push(one.condition);
    else others.push(simplifiedExpression(one));
  }
  const leaf = (choices: readonly WordChoice[], within?: "suggested"): readonly Expression[] =>
    choices.length === 0 ? [] : [{ kind: "word", any: withoutCovered(choices), within }];
  const all: readonly Expression[] = [
    ...leaf(words.everywhere),
    ...leaf(words.suggested, "suggested"),
    ...(conditions.length === 0
      ? []
      : [{ kind: "condition" as const, condition: { kind: "any" as const, any: conditions } }]),
    ...others,
  ];
  return all.length === 1 && all[0] !== undefined ? all[0] : { kind: "or", any: all };
}

/** Removes words and prefixes that a shorter prefix with at least their weight covers. */
function withoutCovered(any: readonly WordChoice[]): readonly WordChoice[] {
  const choices = any.map((choice) => ({ ...choice, word: choice.word.toWellFormed() }));
  const beginnings = new Map<string, number>();
  for (const { word, prefix, weight } of choices) {
    if (prefix) beginnings.set(word, Math.max(weight, beginnings.get(word) ?? 0));
  }
  if (beginnings.size === 0) return choices;
  const lengths = [...new Set([...beginnings.keys()].map(({ length }) => length))];
  const taken = new Set<string>();
  return choices.filter(({ word, prefix, weight }) => {
    const covered = lengths.some((length) => {
      if (length > word.length || (prefix && length === word.length)) return false;
      const by = beginnings.get(word.slice(0, length));
      return by !== undefined && by >= weight;
    });
    if (covered || !prefix) return !covered;
    if (taken.has(word) || weight < (beginnings.get(word) ?? 0)) return false;
    taken.add(word);
    return true;
  });
}
