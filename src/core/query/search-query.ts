/**
 * The query language of search: parses a query into a tree.
 *
 *   harvest rows             all of the words; adjacent words are one run
 *   harv*                    words that start with harv
 *   "one row"                the words in sequence
 *   *, *:*, empty text       all documents
 *   tags:urn:li:tag:pii      a field's value; commas, colons and brackets of a urn need no escapes
 *   tags:urn\:li\:tag\:pii   the same, with the escapes that other search engines need
 *   title:"Sales: a\"b"      a value with blanks; title:(a OR b) one of several values. The text
 *                            after the first colon is also tried as one value (unquotedFieldValue)
 *   title:Sales*             a value that starts with Sales; *sales: ends with; *ale*: contains
 *   rows:>5, rows:[1 TO 5}   numbers, dates and texts within a range; * is an open end
 *   tags:*, _exists_:tags    the field has a value
 *   tags: x                  blanks after the colon are ignored
 *   a AND b, a && b, a b     both; OR, ||, |: either; NOT a, -a, !a: not a; +a is a. AND binds
 *                            tighter than OR
 *   MILL\mara, rye\|oats     a backslash is a character unless it escapes a reserved one
 *
 * A name before a colon is a field only if the catalog has it. All other text is words: an operator
 * without operands, an unmatched bracket or quote, and so on. Parsing takes linear time.
 */

import { CatalogError } from "../errors.ts";
import type { FieldQuery, QueryTree } from "./search-query-builder.ts";
import { createQueryBuilder, type Operator, type QueryBuilder } from "./search-query-builder.ts";
import { scanPhrase, scanRange, scanValue, unescaped } from "./search-query-values.ts";

/** Longest text, in UTF-16 code units. */
export const queryCharactersMax = 10_000;

/** Throws `malformed` for a text that is too long, and for nothing else. */
export function parseSearchQuery(input: string, isField: (name: string) => boolean): QueryTree {
  if (input.length > queryCharactersMax) {
    throw new CatalogError(
      "malformed",
      `the query has ${input.length} characters; at most ${queryCharactersMax} are allowed`,
      { hint: "Shorten the query, or use a filter, which accepts long lists of values" },
    );
  }
  const text = withoutMarker(input);
  if (text.trim() === "") return { kind: "all" };
  const builder = createQueryBuilder();
  let at = 0;
  while (at < text.length) at = readPart(text, at, isField, builder);
  return builder.finish() ?? { kind: "words", text, words: [{ text, open: false }] };
}

/** A field and its value without quotes and escapes. */
export interface UnquotedFieldValue {
  readonly field: string;
  /** Unchanged from the query, with leading and trailing blanks. */
  readonly text: string;
}

/**
 * A second reading of queries without quotes and escapes, such as `title:Tides of the north (draft`:
 * all text after the colon is the value. Undefined if the query does not start with a field, if it has
 * several field queries, or if the tree already has that meaning.
 */
export function unquotedFieldValue(
  typed: string,
  tree: QueryTree,
  isField: (name: string) => boolean,
): UnquotedFieldValue | undefined {
  const input = withoutMarker(typed);
  const named = (matchAt(KEYED_FIELD, input, 0) ?? matchAt(FIELD, input, 0))?.trimEnd();
  const field = named && unescaped(named.slice(0, -1));
  if (named === undefined || field === undefined || !isField(field)) return undefined;
  const text = input.slice(named.length);
  const [query, another] = fieldQueriesIn(tree);
  if (another !== undefined) return undefined;
  if (tree.kind === "field" && query !== undefined && isPlain(query, text)) return undefined;
  return { field, text };
}

function fieldQueriesIn(tree: QueryTree): readonly FieldQuery[] {
  switch (tree.kind) {
    case "field":
      return [tree.value];
    case "and":
      return tree.all.flatMap(fieldQueriesIn);
    case "or":
      return tree.any.flatMap(fieldQueriesIn);
    case "not":
      return fieldQueriesIn(tree.not);
    default:
      return [];
  }
}

/** True for an exists query, a query with a wildcard, and a query for exactly this text. */
const isPlain = (query: FieldQuery, text: string): boolean =>
  query.kind === "exists" ||
  (query.kind === "text" && (query.how !== "equals" || query.text === text));

/** The prefix with which clients of DataHub select its structured query mode; here it changes nothing. */
const MARKER = /^\s*\\?\/q\s+/;

const withoutMarker = (input: string): string => input.replace(MARKER, "").replace(/^[\s:]+/, "");

/** Adds the part at an index to the builder; returns the index of the next part. */
function readPart(
  text: string,
  at: number,
  isField: (name: string) => boolean,
  builder: QueryBuilder,
): number {
  const c = text[at] ?? "";
  if (BLANK.test(c)) return at + 1;
  if (c === "(") {
    builder.open(undefined);
    return at + 1;
  }
  if (c === ")") {
    builder.close();
    return at + 1;
  }
  const everything = matchAt(EVERYTHING, text, at);
  if (everything !== undefined) {
    builder.all();
    return at + everything.length;
  }
  const operator = operatorAt(text, at);
  if (operator !== undefined) {
    builder.operator(operator.name, operator.text);
    return at + operator.text.length;
  }
  return (
    readFieldQuery(text, at, isField, builder) ??
    readPhrase(text, at, builder) ??
    readWord(text, at, builder)
  );
}

const BLANK = /\s/;
const EVERYTHING = /\*:\*(?=[\s)]|$)/y;
const NAMED_OPERATOR = /(?:AND|OR|NOT)(?=[\s()"]|$)/y;
/** Blanks may separate a + from a bracket or a quote; any other + with a blank after it is a word. */
const SIGN = /&&|\|\|?|[-+!](?=[^\s)])|\+(?=\s+[("])/y;
const signs: Readonly<Record<string, Operator>> = {
  "&&": "AND",
  "||": "OR",
  "|": "OR",
  "-": "NOT",
  "!": "NOT",
  "+": "MUST",
};

function operatorAt(
  text: string,
  at: number,
): { readonly name: Operator; readonly text: string } | undefined {
  const named = matchAt(NAMED_OPERATOR, text, at);
  if (named !== undefined) return { name: named as Operator, text: named };
  const sign = matchAt(SIGN, text, at);
  return sign === undefined ? undefined : { name: signs[sign] ?? "MUST", text: sign };
}

/** The end of a field's name. A name before blanks and an operator is not a field but a word. */
const COLON = /:(?:\s+(?!(?:AND|OR|NOT)(?=[\s()"]|$)|&&|\|))?(?=\S)/.source;
/** Ids of structured properties may have any characters; the caller checks that the field exists. */
const FIELD = new RegExp(`[A-Za-z_](?:[^\\s:()"\\\\]|\\\\.)*${COLON}`, "y");
/** A field whose name has a urn: ownerTypes.urn:li:ownershipType:x. */
const KEYED_FIELD = new RegExp(
  `[A-Za-z_]\\w*\\.urn:[A-Za-z0-9-]{1,32}:[A-Za-z]\\w*:[^\\s:()"]+${COLON}`,
  "y",
);
/** A urn, not the field `urn`. */
const URN = /urn:(?!urn:)[A-Za-z0-9-]{1,32}:[A-Za-z]\w*:(?=\S)/y;

/** Reads the field query at an index; undefined if none starts there. */
function readFieldQuery(
  text: string,
  at: number,
  isField: (name: string) => boolean,
  builder: QueryBuilder,
): number | undefined {
  const urn = matchAt(URN, text, at) !== undefined;
  const typed = urn ? undefined : (matchAt(KEYED_FIELD, text, at) ?? matchAt(FIELD, text, at));
  const name = typed && unescaped(typed.trimEnd().slice(0, -1));
  if (name === "_exists_") {
    const named = scanValue(text, at + (typed?.length ?? 0), "value");
    if (!isField(named.text)) return undefined;
    builder.fieldQuery(named.text, { kind: "exists" });
    return named.end;
  }
  const own = name !== undefined && isField(name) ? name : undefined;
  const begin = own === undefined ? at : at + (typed?.length ?? 0);
  if (own !== undefined && text[begin] === "(") {
    builder.open(own);
    return begin + 1;
  }
  // In title:(a OR b), a is a value of title.
  const field = own ?? builder.fieldAround();
  if (field === undefined) return undefined;
  const { query, end } = fieldQueryAt(text, at, begin);
  if (end === begin || (query.kind === "text" && query.text === "")) return undefined;
  builder.fieldQuery(field, query);
  return end;
}

function fieldQueryAt(
  text: string,
  at: number,
  begin: number,
): { readonly query: FieldQuery; readonly end: number } {
  const phrase = scanPhrase(text, begin);
  if (phrase !== undefined) {
    const typed = text.slice(at, phrase.end);
    return { query: { kind: "text", text: phrase.text, how: "equals", typed }, end: phrase.end };
  }
  const range = scanRange(text, begin);
  if (range !== undefined) {
    const typed = text.slice(at, range.end);
    return { query: { kind: "range", typed, ends: range.ends }, end: range.end };
  }
  const { text: value, starred, open, end } = scanValue(text, begin, "value");
  const typed = text.slice(at, end);
  if (value === "" && open) return { query: { kind: "exists" }, end };
  const how = starred ? (open ? "contains" : "ends") : open ? "starts" : "equals";
  return { query: { kind: "text", text: value, how, typed }, end };
}

/** An unmatched quote separates words. */
function readPhrase(text: string, at: number, builder: QueryBuilder): number | undefined {
  if (text[at] !== '"') return undefined;
  const phrase = scanPhrase(text, at);
  if (phrase !== undefined && phrase.text.trim() !== "") builder.phrase(phrase.text);
  return phrase?.end ?? at + 1;
}

function readWord(text: string, at: number, builder: QueryBuilder): number {
  const urn = matchAt(URN, text, at) !== undefined;
  const { text: word, open, end } = scanValue(text, at, urn ? "value" : "word");
  if (word === "" && open) builder.all();
  else builder.word({ text: word, open });
  return end;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
