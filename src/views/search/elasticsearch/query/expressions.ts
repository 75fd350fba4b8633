/**
 * Translates an expression (search.ts) into a query with the same score. Every clause has a
 * constant score. Servers add scores as 32-bit floats, in which sums of multiples of 1/64 are
 * exact.
 */
import type { Expression, WordChoice } from "../../search.ts";
import { boostOf, fieldNames, isSuggested, type TextFieldKind } from "../fields.ts";
import {
  inUnitOrder,
  storedBeginning,
  storedText,
  storedWord,
  wordUnitsMax,
} from "../stored-text.ts";
import {
  everything,
  isNothing,
  isTooLong,
  maxScoreOf,
  noneOf,
  nothing,
  prefix,
  type QueryClause,
  terms,
  truncatedTerm,
} from "./clauses.ts";
import { conditionQuery } from "./conditions.ts";

type ExpressionOf<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;
export type TextLeaf = ExpressionOf<"word"> | ExpressionOf<"phrase"> | ExpressionOf<"whole">;

/** Urns of the documents for which a leaf has this score. */
export interface ScoreLevel {
  readonly score: number;
  readonly urns: readonly string[];
}

interface QueryContext {
  /** Kinds of the indexed texts. */
  readonly kinds: readonly TextFieldKind[];
  /** Results of the leaves that the index cannot evaluate exactly (`uncertainLeaves`). */
  readonly evaluatedLeaves: ReadonlyMap<TextLeaf, readonly ScoreLevel[]>;
}

/** Maximum words of a phrase query; only the first words of a longer phrase are queried. */
const PHRASE_WORDS_MAX = 32;

export function expressionQuery(expression: Expression, context: QueryContext): QueryClause {
  const query = (one: Expression, scale: number): QueryClause => {
    switch (one.kind) {
      case "all":
        return everything(scale);
      case "condition":
        return scored(conditionQuery(one.condition), scale);
      case "word":
      case "phrase":
      case "whole":
        return leafQuery(one, context, scale);
      case "or":
        return maxScoreOf(one.any.map((operand) => query(operand, scale)));
      case "not":
        return noneOf([query(one.not, 0)]);
      case "and":
        return andQuery(one, (operand) => query(operand, scale));
      case "prefer": {
        const base = query(one.base, scale);
        const preferred = maxScoreOf(
          one.preferred.map(({ weight, when }) => query(when, scale * weight)),
        );
        if (isNothing(base) || isNothing(preferred)) return base;
        return { bool: { must: [base], should: [preferred], minimum_should_match: 0 } };
      }
    }
  };
  return query(expression, 1);
}

function andQuery(
  { all }: ExpressionOf<"and">,
  query: (one: Expression) => QueryClause,
): QueryClause {
  if (all.length === 0) return everything(0);
  const must = all.filter(({ kind }) => kind !== "not").map(query);
  const negated = all.filter((one) => one.kind === "not").map(({ not }) => query(not));
  if (must.some(isNothing)) return nothing;
  return { bool: { must, must_not: negated.filter((one) => !isNothing(one)) } };
}

const scored = (query: QueryClause, score: number): QueryClause =>
  isNothing(query) ? query : { constant_score: { filter: query, boost: score } };

function leafQuery(
  leaf: TextLeaf,
  { kinds, evaluatedLeaves }: QueryContext,
  scale: number,
): QueryClause {
  const searchedKinds =
    "within" in leaf && leaf.within === "suggested" ? kinds.filter(isSuggested) : kinds;
  const levels = evaluatedLeaves.get(leaf) ?? [];
  return maxScoreOf([
    ...searchedKinds.flatMap((kind) => exactQueries(leaf, kind, scale * boostOf(kind))),
    ...levels.flatMap(({ score, urns }) => terms("urn", urns.map(inUnitOrder), scale * score)),
  ]);
}

/** The part of a leaf that the index can evaluate exactly, for texts of a kind. */
function exactQueries(leaf: TextLeaf, kind: TextFieldKind, boost: number): readonly QueryClause[] {
  switch (leaf.kind) {
    case "word":
      return wordQueries(leaf.any, fieldNames.words(kind), boost);
    case "whole": {
      const field = fieldNames.whole(kind);
      if (!leaf.prefix) return terms(field, [storedText(leaf.text)], boost);
      return isUncertain(leaf) ? [] : [prefix(field, inUnitOrder(leaf.text.toWellFormed()), boost)];
    }
    case "phrase": {
      const score = boost * (leaf.weight ?? 1);
      if (leaf.words.length <= 1) {
        return terms(fieldNames.words(kind), leaf.words.map(storedWord), score);
      }
      return isUncertain(leaf) ? [] : [scored(phraseQuery(leaf.words, kind), score)];
    }
  }
}

function wordQueries(
  any: readonly WordChoice[],
  field: string,
  boost: number,
): readonly QueryClause[] {
  const exact = Map.groupBy(
    any.filter((choice) => !choice.prefix),
    ({ weight }) => weight,
  );
  return [
    ...[...exact].flatMap(([weight, choices]) => {
      const words = [...new Set(choices.map(({ word }) => storedWord(word)))];
      return terms(field, words, boost * weight);
    }),
    ...any.flatMap((choice) =>
      choice.prefix && !isTooLongPrefix(choice)
        ? [prefix(field, storedBeginning(choice.word), boost * choice.weight)]
        : [],
    ),
  ];
}

const phraseQuery = (words: readonly string[], kind: TextFieldKind): QueryClause => ({
  match_phrase: { [fieldNames.words(kind)]: { query: words.map(storedWord).join(" ") } },
});

const isTooLongPrefix = ({ word, prefix }: WordChoice): boolean =>
  prefix && word.length > wordUnitsMax;

/** True if documents must be fetched to evaluate the leaf. */
function isUncertain(leaf: TextLeaf): boolean {
  switch (leaf.kind) {
    case "word":
      return leaf.any.some(isTooLongPrefix);
    case "phrase":
      return leaf.words.length > PHRASE_WORDS_MAX;
    case "whole":
      return leaf.prefix && isTooLong(inUnitOrder(leaf.text.toWellFormed()));
  }
}

/**
 * A leaf, the part of it that the index cannot evaluate exactly, and a query for its candidates.
 */
export interface UncertainLeaf {
  readonly leaf: TextLeaf;
  readonly uncertain: TextLeaf;
  readonly candidates: QueryClause;
}

export function uncertainLeaves(
  expression: Expression,
  kinds: readonly TextFieldKind[],
): readonly UncertainLeaf[] {
  switch (expression.kind) {
    case "and":
      return expression.all.flatMap((one) => uncertainLeaves(one, kinds));
    case "or":
      return expression.any.flatMap((one) => uncertainLeaves(one, kinds));
    case "not":
      return uncertainLeaves(expression.not, kinds);
    case "prefer":
      return [expression.base, ...expression.preferred.map(({ when }) => when)].flatMap((one) =>
        uncertainLeaves(one, kinds),
      );
    case "word":
    case "phrase":
    case "whole":
      return isUncertain(expression) ? [uncertainLeaf(expression, kinds)] : [];
    default:
      return [];
  }
}

function uncertainLeaf(leaf: TextLeaf, kinds: readonly TextFieldKind[]): UncertainLeaf {
  switch (leaf.kind) {
    case "word": {
      const any = leaf.any.filter(isTooLongPrefix);
      const beginnings = [...new Set(any.map(({ word }) => storedBeginning(word)))];
      const candidates = kinds.flatMap((kind) =>
        beginnings.map((beginning) => prefix(fieldNames.words(kind), beginning)),
      );
      return { leaf, uncertain: { ...leaf, any }, candidates: maxScoreOf(candidates) };
    }
    case "phrase": {
      const words = leaf.words.slice(0, PHRASE_WORDS_MAX);
      const candidates = maxScoreOf(kinds.map((kind) => phraseQuery(words, kind)));
      return { leaf, uncertain: leaf, candidates };
    }
    case "whole": {
      const beginning = truncatedTerm(inUnitOrder(leaf.text.toWellFormed()));
      const candidates = maxScoreOf(kinds.map((kind) => prefix(fieldNames.whole(kind), beginning)));
      return { leaf, uncertain: leaf, candidates };
    }
  }
}
