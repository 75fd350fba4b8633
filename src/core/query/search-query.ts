/**
 * The query language of search: parses a query into a tree.
 *
 *   harvest rows             words, all of them; several in a row are one run
 *   harv*                    words that begin so
 *   "one row"                words one after the other
 *   *, *:*                   everything; so does nothing at all
 *   tags:urn:li:tag:pii      a field's value, as it is: commas, colons and brackets of urns are its own
 *   tags:urn\:li\:tag\:pii   the same, as users of search engines write it
 *   title:"Sales: a\"b"      a value with blanks; title:(a OR b) several. All that stands behind the
 *                            first colon is looked for as it is, as well (wholeQuestion)
 *   title:Sales*             a value that begins so; *sales, *ale* end and contain
 *   rows:>5, rows:[1 TO 5}   numbers, dates and texts between two ends; * is no end
 *   tags:*, _exists_:tags    there is a value
 *   tags: x                  a blank behind the colon says nothing
 *   a AND b, a && b, a b     both; OR, ||, | one of them; NOT a, -a, !a not; +a is a. AND binds
 *                            tighter than OR
 *   MILL\mara, rye\|oats     a backslash is a character unless it escapes a reserved one
 *
 * A name before a colon is a field only if the catalog has it. All other text is words: an operator
 * without operands, an unmatched bracket or quote, and so on. Parsing takes linear time.
 */

import { CatalogError } from "../errors.ts";
import type { FieldQuestion, QueryTree } from "./search-query-builder.ts";
import { createQueryBuilder, type Operator, type QueryBuilder } from "./search-query-builder.ts";
import { scanPhrase, scanRange, scanValue, unescaped } from "./search-query-values.ts";

/** Longest text, in UTF-16 code units. */
export const queryCharactersMax = 10_000;

/** Throws `malformed` for a text that is too long, and for nothing else. */
export function parseSearchQuery(input: string, isField: (name: string) => boolean): QueryTree {
  if (input.length > queryCharactersMax) {
    throw new CatalogError(
      "malformed",
      `the query has ${input.length} characters of at most ${queryCharactersMax}`,
      { hint: "Ask for less at once; filters take long lists of values" },
    );
  }
  const text = withoutMarker(input);
  if (text.trim() === "") return { kind: "all" };
  const builder = createQueryBuilder();
  let at = 0;
  while (at < text.length) at = readPart(text, at, isField, builder);
  return builder.finish() ?? { kind: "words", text, words: [{ text, open: false }] };
}

/** A field, and a value of it. */
export interface WholeQuestion {
  readonly field: string;
  /** As it was typed, blanks at its ends, too. */
  readonly text: string;
}

/**
 * `title:Tides of the north (draft` as people mean it who neither quote nor escape: all that follows
 * the colon is the value, letter for letter. Undefined where the query does not begin with a field,
 * asks several questions about fields, or was read so anyway.
 */
export function wholeQuestion(
  input: string,
  tree: QueryTree,
  isField: (name: string) => boolean,
): WholeQuestion | undefined {
  const query = withoutMarker(input);
  const named = (matchAt(KEYED_FIELD, query, 0) ?? matchAt(FIELD, query, 0))?.trimEnd();
  const field = named && unescaped(named.slice(0, -1));
  if (named === undefined || field === undefined || !isField(field)) return undefined;
  const text = query.slice(named.length);
  const [question, another] = questionsIn(tree);
  if (another !== undefined) return undefined;
  if (tree.kind === "field" && question !== undefined && isPlain(question, text)) return undefined;
  return { field, text };
}

function questionsIn(tree: QueryTree): readonly FieldQuestion[] {
  switch (tree.kind) {
    case "field":
      return [tree.value];
    case "and":
      return tree.all.flatMap(questionsIn);
    case "or":
      return tree.any.flatMap(questionsIn);
    case "not":
      return questionsIn(tree.not);
    default:
      return [];
  }
}

/** The question is for exactly that text, a prefix or a suffix. */
const isPlain = (question: FieldQuestion, text: string): boolean =>
  question.kind === "exists" ||
  (question.kind === "text" && (question.how !== "equals" || question.text === text));

/** The prefix with which clients of DataHub select its structured query mode; here it changes nothing. */
const MARKER = /^\s*\\?\/q\s+/;

const withoutMarker = (input: string): string => input.replace(MARKER, "").replace(/^[\s:]+/, "");

/** Adds the part that begins there to the builder; returns the index of the next one. */
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
    readQuestion(text, at, isField, builder) ??
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

/** Ends a field's name; behind blanks an operator joins the name, which is a word then. */
const COLON = /:(?:\s+(?!(?:AND|OR|NOT)(?=[\s()"]|$)|&&|\|))?(?=\S)/.source;
/** Ids of structured properties may hold anything; who asks knows whether there is such a field. */
const FIELD = new RegExp(`[A-Za-z_](?:[^\\s:()"\\\\]|\\\\.)*${COLON}`, "y");
/** One of the fields that are named with a urn: ownerTypes.urn:li:ownershipType:x. */
const KEYED_FIELD = new RegExp(
  `[A-Za-z_]\\w*\\.urn:[A-Za-z0-9-]{1,32}:[A-Za-z]\\w*:[^\\s:()"]+${COLON}`,
  "y",
);
/** A urn, and not the field of that name. */
const URN = /urn:(?!urn:)[A-Za-z0-9-]{1,32}:[A-Za-z]\w*:(?=\S)/y;

/** Reads the question for a field; undefined when none begins there. */
function readQuestion(
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
    builder.question(named.text, { kind: "exists" });
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
  const { question, end } = questionAt(text, at, begin);
  if (end === begin || (question.kind === "text" && question.text === "")) return undefined;
  builder.question(field, question);
  return end;
}

function questionAt(
  text: string,
  at: number,
  begin: number,
): { readonly question: FieldQuestion; readonly end: number } {
  const phrase = scanPhrase(text, begin);
  if (phrase !== undefined) {
    const typed = text.slice(at, phrase.end);
    return { question: { kind: "text", text: phrase.text, how: "equals", typed }, end: phrase.end };
  }
  const range = scanRange(text, begin);
  if (range !== undefined) {
    const typed = text.slice(at, range.end);
    return { question: { kind: "range", typed, ends: range.ends }, end: range.end };
  }
  const { text: value, starred, open, end } = scanValue(text, begin, "value");
  const typed = text.slice(at, end);
  if (value === "" && open) return { question: { kind: "exists" }, end };
  const how = starred ? (open ? "contains" : "ends") : open ? "starts" : "equals";
  return { question: { kind: "text", text: value, how, typed }, end };
}

/** A quote without its other half divides words. */
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
