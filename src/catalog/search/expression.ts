/**
 * Compiles a search query (core/query/search-query.ts) to an expression on documents with weights. A
 * document matches if its texts have all words. Its score is the sum over the words, plus the greatest
 * weight of a whole-text match; each weight is multiplied by the boost of the field:
 *
 *   word of the query        1     the same word
 *                            3/4   its singular or plural
 *                            1/2   a word that starts with it
 *   whole text of the query  256   the value equals it, and it is a urn: a name may have all words of
 *                                  a urn
 *                            16    the value equals it
 *                            4     the value starts with it
 *                            2     the value has its words in sequence
 *
 * A quoted phrase has the weight that its words have in sequence without the quotes. So documents with
 * the words in their names rank before documents with the words elsewhere, and exact matches before
 * prefixes before partial matches. A matching field value has the weight 1.
 */
import { CatalogError } from "../../core/errors.ts";
import { plainField } from "../../core/query/filter.ts";
import {
  parseSearchQuery,
  type UnquotedFieldValue,
  unquotedFieldValue,
} from "../../core/query/search-query.ts";
import type { FieldQuery, QueryTree, QueryWord } from "../../core/query/search-query-builder.ts";
import { withNamespace } from "../../core/urn.ts";
import type { Expression, WordChoice } from "../../views/search/search.ts";
import { conditionOn, type FieldMatch } from "./filter/conditions.ts";
import type { SearchFields } from "./filter/fields.ts";

/** The tokenizer that documents were indexed with. */
export interface SearchWords {
  /** A text contains a token if it contains the joined form, or the parts in sequence. */
  tokensOf(text: string): readonly Token[];
  foldText(text: string): string;
}

interface Token {
  readonly parts: readonly string[];
  readonly joined: string | undefined;
}

export interface ReadQuery {
  readonly expression: Expression;
  /** True for a query that matches everything. */
  readonly everything: boolean;
  /** The fields that the query names, by their plain names. */
  readonly fields: ReadonlySet<string>;
}

export const weights = {
  urn: 256,
  whole: 16,
  beginning: 4,
  phrase: 2,
  word: 1,
  otherNumber: 3 / 4,
  prefix: 1 / 2,
};

/**
 * Maximum number of terms of a query: runs of words, phrases and field queries; long ones count as
 * several.
 */
const termsMax = 100;
/** Shorter words do not match as prefixes. */
const prefixCharactersMin = 2;

/** Number of words that cost as much as one term: in a phrase, and in a run. */
const wordsOfTerm = { phrase: 10, run: 2 };

const termsOf = (count: number, words: keyof typeof wordsOfTerm): number =>
  Math.max(1, Math.ceil(count / wordsOfTerm[words]));

interface Dependencies {
  readonly words: SearchWords;
  readonly namespace: string;
}

/** `fields`: the fields resolved for the request. */
export type QueryReader = (input: string, fields: SearchFields) => ReadQuery;

/** Reading throws `malformed` for a query that is too long or has too many terms. */
export function createQueryReader(dependencies: Dependencies): QueryReader {
  return (input, fields) => {
    const isField = (name: string): boolean => fields.find(name).length > 0;
    const tree = parseSearchQuery(input, isField);
    const named = new Set<string>();
    const terms = createCount();
    const reading = { ...dependencies, fields, named, terms };
    const expression = expressionOf(tree, reading);
    const unquoted = unquotedFieldValue(input, tree, isField);
    const asOneValue = unquoted && ofUnquoted(unquoted, reading);
    return {
      expression:
        asOneValue === undefined ? expression : { kind: "or", any: [asOneValue, expression] },
      everything: tree.kind === "all",
      fields: named,
    };
  };
}

interface Reading extends Dependencies {
  readonly fields: SearchFields;
  readonly named: Set<string>;
  readonly terms: { add(count: number): void };
}

function createCount() {
  let count = 0;
  return {
    add(more: number): void {
      count += more;
      if (count <= termsMax) return;
      throw new CatalogError(
        "malformed",
        `the query has more than ${termsMax} terms (a value, two words, or ten words of a phrase count as one)`,
        {
          hint: "Shorten the query, or use a filter, which accepts long lists of values",
        },
      );
    },
  };
}

function expressionOf(tree: QueryTree, reading: Reading): Expression {
  switch (tree.kind) {
    case "all":
      return tree;
    case "words":
      return ofWords(tree.text, tree.words, reading);
    case "phrase":
      return ofPhrase(tree.text, reading);
    case "field":
      return ofFieldQuery(tree.field, tree.value, reading);
    case "and":
      return { kind: "and", all: tree.all.map((one) => expressionOf(one, reading)) };
    case "or":
      return { kind: "or", any: tree.any.map((one) => expressionOf(one, reading)) };
    case "not":
      return { kind: "not", not: expressionOf(tree.not, reading) };
  }
}

function ofWords(typed: string, words: readonly QueryWord[], reading: Reading): Expression {
  const tokens = words.flatMap(({ text, open }) => openLast(reading.words.tokensOf(text), open));
  const different = new Map(
    tokens.map((one) => [JSON.stringify([one.token.parts, one.open]), one]),
  );
  const long = [...different.values()].filter(({ token }) => token.parts.length > 1);
  for (const { token } of long) reading.terms.add(termsOf(token.parts.length, "phrase"));
  const short = different.size - long.length;
  if (short > 0) reading.terms.add(termsOf(short, "run"));
  const folded = reading.words.foldText(withNamespace(typed.trim(), reading.namespace));
  if (tokens.length === 0) return { kind: "whole", text: folded, prefix: true };
  const leaves = [...different.values()].map(({ token, open }) => ofToken(token, open));
  const parts = tokens.flatMap(({ token }) => token.parts);
  return {
    kind: "prefer",
    base: leaves.length === 1 && leaves[0] !== undefined ? leaves[0] : { kind: "and", all: leaves },
    preferred: [
      {
        weight: folded.startsWith("urn:") ? weights.urn : weights.whole,
        when: { kind: "whole", text: folded, prefix: false },
      },
      { weight: weights.beginning, when: { kind: "whole", text: folded, prefix: true } },
      ...(parts.length < 2
        ? []
        : [{ weight: weights.phrase, when: { kind: "phrase", words: parts } } as const]),
    ],
  };
}

const openLast = (tokens: readonly Token[], open: boolean) =>
  tokens.map((token, i) => ({ token, open: open && i === tokens.length - 1 }));

function ofToken({ parts, joined }: Token, open: boolean): Expression {
  const [only = ""] = parts;
  if (parts.length === 1) return { kind: "word", any: choicesOf(only, open) };
  const phrase: Expression = { kind: "phrase", words: parts };
  if (joined === undefined) return phrase;
  return { kind: "or", any: [{ kind: "word", any: choicesOf(joined, open) }, phrase] };
}

function choicesOf(word: string, open: boolean): readonly WordChoice[] {
  const choices = [{ word, prefix: false, weight: weights.word }];
  const other = otherNumber(word);
  if (other !== undefined && !open) {
    choices.push({ word: other, prefix: false, weight: weights.otherNumber });
  }
  if (open || word.length >= prefixCharactersMin) {
    choices.push({ word, prefix: true, weight: weights.prefix });
  }
  return choices;
}

/** The singular of an English plural, or the plural if it does not start with the singular. */
function otherNumber(word: string): string | undefined {
  if (!/^[a-z]{4,}$/.test(word)) return undefined;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  if (word.endsWith("s")) return /(?:ss|us|is)$/.test(word) ? undefined : word.slice(0, -1);
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : undefined;
}

function ofPhrase(typed: string, { words, terms }: Reading): Expression {
  const parts = words.tokensOf(typed).flatMap((token) => token.parts);
  terms.add(termsOf(parts.length, "phrase"));
  const text = words.foldText(typed.trim());
  if (parts.length === 0) return { kind: "whole", text, prefix: true };
  // The weight that the words have in sequence without the quotes.
  const order = parts.length < 2 ? 0 : weights.phrase;
  return {
    kind: "prefer",
    base: { kind: "phrase", words: parts, weight: parts.length * weights.word + order },
    preferred: [
      { weight: weights.whole - order, when: { kind: "whole", text, prefix: false } },
      { weight: weights.beginning - order, when: { kind: "whole", text, prefix: true } },
    ],
  };
}

/** Undefined if the text is not a value of the field's kind. */
function ofUnquoted({ field, text }: UnquotedFieldValue, reading: Reading): Expression | undefined {
  const { fields, namespace, named } = reading;
  const match: FieldMatch = { how: "is", texts: [withNamespace(text.trim(), namespace), text] };
  const condition = conditionOn(fields.find(field), match, fields);
  if ("invalidText" in condition) return undefined;
  named.add(plainField(field));
  return { kind: "condition", condition };
}

/** A value that does not fit the field's kind is searched as words. */
function ofFieldQuery(field: string, query: FieldQuery, reading: Reading): Expression {
  const { fields, namespace } = reading;
  const condition = conditionOn(fields.find(field), matchOf(query, namespace), fields);
  if ("invalidText" in condition) {
    const typed = query.kind === "exists" ? field : query.typed;
    return ofWords(typed, [{ text: typed, open: false }], reading);
  }
  reading.terms.add(1);
  reading.named.add(plainField(field));
  return { kind: "condition", condition };
}

function matchOf(query: FieldQuery, namespace: string): FieldMatch {
  if (query.kind === "exists") return { how: "exists" };
  if (query.kind === "range") return { how: "range", ends: query.ends };
  const texts = [withNamespace(query.text, namespace)];
  return { how: matchKinds[query.how], texts };
}

const matchKinds = { equals: "is", starts: "begins", ends: "ends", contains: "contains" } as const;
