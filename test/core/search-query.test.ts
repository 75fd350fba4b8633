/** Search queries and the trees that they are parsed into. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSearchQuery, queryCharactersMax } from "../../src/core/query/search-query.ts";
import type { FieldQuery, QueryTree } from "../../src/core/query/search-query-builder.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";

const OWNERS = "ownerTypes.urn:li:ownershipType:owner";
const fields = new Set([
  OWNERS,
  "ownerTypes.urn",
  "tags",
  "platform",
  "urn",
  "name",
  "rows",
  "title",
  "owners",
]);
const parse = (text: string): QueryTree => parseSearchQuery(text, (name) => fields.has(name));

const all: QueryTree = { kind: "all" };
const words = (...texts: string[]): QueryTree => ({
  kind: "words",
  text: texts.map((text) => text.replace(/\*$/, "")).join(" "),
  words: texts.map((text) => ({ text: text.replace(/\*$/, ""), open: text.endsWith("*") })),
});
const phrase = (text: string): QueryTree => ({ kind: "phrase", text });
const and = (...trees: QueryTree[]): QueryTree => ({ kind: "and", all: trees });
const or = (...trees: QueryTree[]): QueryTree => ({ kind: "or", any: trees });
const not = (tree: QueryTree): QueryTree => ({ kind: "not", not: tree });

/** A field condition without its typed text. */
const asked = (field: string, value: object): QueryTree =>
  ({ kind: "field", field, value }) as QueryTree;
const is = (field: string, text: string, how = "equals"): QueryTree =>
  asked(field, { kind: "text", text, how });
const exists = (field: string): QueryTree => asked(field, { kind: "exists" });
const range = (field: string, ends: object): QueryTree => asked(field, { kind: "range", ends });

function untyped(tree: QueryTree): QueryTree {
  switch (tree.kind) {
    case "field": {
      const { typed: _, ...value } = tree.value as FieldQuery & { typed?: string };
      return { ...tree, value: value as FieldQuery };
    }
    case "and":
      return { ...tree, all: tree.all.map(untyped) };
    case "or":
      return { ...tree, any: tree.any.map(untyped) };
    case "not":
      return { ...tree, not: untyped(tree.not) };
    default:
      return tree;
  }
}

const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)";
const SPACED = "urn:li:dataset:(urn:li:dataPlatform:hive,my table (old),PROD)";

describe("a query is parsed:", () => {
  test.each<[string, QueryTree]>([
    // Everything.
    ["", all],
    ["  ", all],
    ["*", all],
    ["**", all],
    ["*:*", all],
    ["(*:*)", all],
    [":::", all],
    ["/q *", all],
    // Words.
    ["harvest", words("harvest")],
    ["harvest rows", words("harvest", "rows")],
    ["  harvest\trows\n", words("harvest", "rows")],
    ["farmly.public.harvests", words("farmly.public.harvests")],
    ["harv*", words("harv*")],
    ["*harv", words("harv")],
    ["harvest\\*", { kind: "words", text: "harvest*", words: [{ text: "harvest*", open: false }] }],
    ["a-b c_d", words("a-b", "c_d")],
    ["AT&T", words("AT&T")],
    ["* harvest", and(all, words("harvest"))],
    ["😀 東京", words("😀", "東京")],
    // Phrases.
    ['"one row"', phrase("one row")],
    ['"say \\"hi\\" \\\\ now"', phrase('say "hi" \\ now')],
    ['"one row"~2', phrase("one row")],
    ['"one" two', and(phrase("one"), words("two"))],
    // Values of fields.
    ["tags:urn:li:tag:pii", is("tags", "urn:li:tag:pii")],
    ["tags:urn\\:li\\:tag\\:pii", is("tags", "urn:li:tag:pii")],
    [`${OWNERS}:urn:li:corpuser:a`, is(OWNERS, "urn:li:corpuser:a")],
    [
      `${OWNERS.replaceAll(":", "\\:")}:"urn:li:corpuser:a" b`,
      and(is(OWNERS, "urn:li:corpuser:a"), words("b")),
    ],
    [`${OWNERS}:*`, exists(OWNERS)],
    // A backslash is a character unless it escapes one.
    ["MILL\\mara", words("MILL\\mara")],
    ["C:\\flour\\bags", words("C:\\flour\\bags")],
    ["C:\\flour\\", words("C:\\flour\\")],
    ["\\\\mill\\flour", words("\\mill\\flour")],
    ['"C:\\flour\\bags"', phrase("C:\\flour\\bags")],
    ["title:MILL\\mara", is("title", "MILL\\mara")],
    ["title:*\\mara", is("title", "\\mara", "ends")],
    ["title:(C:\\flour\\bags OR b)", or(is("title", "C:\\flour\\bags"), is("title", "b"))],
    ["ta\\gs:x", words("ta\\gs:x")],
    ["one\\ row", { kind: "words", text: "one row", words: [{ text: "one row", open: false }] }],
    ["title:one\\ row", is("title", "one row")],
    ["no\\:field:x", words("no:field:x")],
    ['tags:"urn:li:tag:pii"', is("tags", "urn:li:tag:pii")],
    ['title:"Sales: \\"b\\" (old)"', is("title", 'Sales: "b" (old)')],
    ["platform:urn:li:dataPlatform:hive", is("platform", "urn:li:dataPlatform:hive")],
    [`urn:${DATASET}`, is("urn", DATASET)],
    [`urn:${SPACED} x`, and(is("urn", SPACED), words("x"))],
    [`urn:"${SPACED}"`, is("urn", SPACED)],
    [`(urn:${DATASET})`, is("urn", DATASET)],
    [`${DATASET}`, words(DATASET)],
    [`${SPACED} x`, words(SPACED, "x")],
    ["urn:li:tag:pii", words("urn:li:tag:pii")],
    ["title:Revenue(monthly) x", and(is("title", "Revenue(monthly)"), words("x"))],
    ["title:a,b:c", is("title", "a,b:c")],
    ["title:Sales*", is("title", "Sales", "starts")],
    ["title:*sales", is("title", "sales", "ends")],
    ["title:*ale*", is("title", "ale", "contains")],
    ["title:Sales\\*", is("title", "Sales*")],
    ["title:*", exists("title")],
    ["_exists_:title", exists("title")],
    ["title:(a OR b)", or(is("title", "a"), is("title", "b"))],
    ['title:("a b" c*)', and(is("title", "a b"), is("title", "c", "starts"))],
    [
      "tags:(urn:li:tag:a OR -urn:li:tag:b)",
      or(is("tags", "urn:li:tag:a"), not(is("tags", "urn:li:tag:b"))),
    ],
    ["title:(a tags:(b) c)", and(is("title", "a"), is("tags", "b"), is("title", "c"))],
    // Whitespace after the colon has no meaning.
    ["tags: x", is("tags", "x")],
    ["tags:\t urn:li:tag:pii y", and(is("tags", "urn:li:tag:pii"), words("y"))],
    ['title: "one row"', is("title", "one row")],
    ["title: (a OR b)", or(is("title", "a"), is("title", "b"))],
    ["title: ORDERS", is("title", "ORDERS")],
    ["-title: Sales*", not(is("title", "Sales", "starts"))],
    ["rows: >5", range("rows", { above: "5" })],
    ["rows: [1 TO 5]", range("rows", { from: "1", to: "5" })],
    ["rows: -5", is("rows", "-5")],
    [`${OWNERS}: urn:li:corpuser:a`, is(OWNERS, "urn:li:corpuser:a")],
    ["_exists_: title", exists("title")],
    // Ranges.
    ["rows:>5", range("rows", { above: "5" })],
    ["rows:>=5", range("rows", { from: "5" })],
    ["rows:<5", range("rows", { below: "5" })],
    ["rows:<=-5.5", range("rows", { to: "-5.5" })],
    ["rows:[1 TO 5]", range("rows", { from: "1", to: "5" })],
    ["rows:{1 TO 5}", range("rows", { above: "1", below: "5" })],
    ["rows:[1 TO 5}", range("rows", { from: "1", below: "5" })],
    ["rows:[* TO 5]", range("rows", { to: "5" })],
    ["rows:[2026-01-01 TO *]", range("rows", { from: "2026-01-01" })],
    ['name:["a b" TO "c d"]', range("name", { from: "a b", to: "c d" })],
    // Operators.
    ["a AND b", and(words("a"), words("b"))],
    ["a && b", and(words("a"), words("b"))],
    ["a OR b", or(words("a"), words("b"))],
    ["a||b", or(words("a"), words("b"))],
    ["a b OR c d", or(words("a", "b"), words("c", "d"))],
    ["dark | light", or(words("dark"), words("light"))],
    ["dark|light", or(words("dark"), words("light"))],
    ["dark | light rye | oats", or(words("dark"), words("light", "rye"), words("oats"))],
    ["rye + (-dark | light)", and(words("rye"), or(not(words("dark")), words("light")))],
    ["rye + oats", words("rye", "+", "oats")],
    ['"dark rye" | title:light', or(phrase("dark rye"), is("title", "light"))],
    ["title:(a | b)", or(is("title", "a"), is("title", "b"))],
    ["title:a|b", is("title", "a|b")],
    ["a \\| b", words("a", "|", "b")],
    ["| a", words("a")],
    ["a |", words("a")],
    ["|", words("|")],
    ["a AND b OR c", or(and(words("a"), words("b")), words("c"))],
    ["a OR b AND c", or(words("a"), and(words("b"), words("c")))],
    ["NOT a", not(words("a"))],
    ["-a b", and(not(words("a")), words("b"))],
    ["a !b c", and(words("a"), not(words("b")), words("c"))],
    ["a AND NOT b", and(words("a"), not(words("b")))],
    ["NOT NOT a", words("a")],
    ["+a +b", words("a", "b")],
    ["-tags:urn:li:tag:x", not(is("tags", "urn:li:tag:x"))],
    ["(a OR b) c", and(or(words("a"), words("b")), words("c"))],
    ["-(a OR b)", not(or(words("a"), words("b")))],
    ["((((a))))", words("a")],
    ["a and b", words("a", "and", "b")],
    // Texts that match none of these forms.
    ["note: hello", words("note:", "hello")],
    ["https://a.b/c?d=e", words("https://a.b/c?d=e")],
    ["10:30", words("10:30")],
    ["note: title: a", and(words("note:"), is("title", "a"))],
    ["title:  ", words("title:")],
    ["title: AND a", and(words("title:"), words("a"))],
    ["title: OR", words("title:", "OR")],
    ["title: && a", and(words("title:"), words("a"))],
    ["_exists_: warp", words("_exists_:", "warp")],
    ["title :a", words("title", ":a")],
    ["title:", words("title:")],
    ["(title:)", words("title:")],
    ["_exists_:warp", words("_exists_:warp")],
    ["constructor:x __proto__:y", words("constructor:x", "__proto__:y")],
    ["AND", words("AND")],
    ["a AND", words("a", "AND")],
    ["OR a", words("OR", "a")],
    ["a AND OR b", and(words("a"), words("OR", "b"))],
    ["NOT", words("NOT")],
    ["a &&", words("a")],
    ["a - b", words("a", "-", "b")],
    ['a "b', words("a", "b")],
    ["a) b", words("a", "b")],
    ["(a b", words("a", "b")],
    ['/q a:(( "x OR', and(words("a:"), words("x", "OR"))],
    ["\\/q a", words("a")],
    ["()", words("()")],
    ['a "" b " " c', words("a", "b", "c")],
    ["rows:[1 TO", and(is("rows", "[1"), words("TO"))],
  ])("%s", (text, expected) => {
    expect(untyped(parse(text))).toEqual(expected);
  });
});

test("a field condition keeps its typed text, for fields without such values", () => {
  expect(parse("x rows:>many")).toMatchObject({ all: [{}, { value: { typed: "rows:>many" } }] });
  expect(parse("rows: many")).toMatchObject({ value: { typed: "rows: many" } });
  expect(parse('rows:"two or so"')).toMatchObject({ value: { typed: 'rows:"two or so"' } });
});

const size = (tree: QueryTree): { readonly nodes: number; readonly depth: number } => {
  const inner =
    tree.kind === "and"
      ? tree.all
      : tree.kind === "or"
        ? tree.any
        : tree.kind === "not"
          ? [tree.not]
          : [];
  const sizes = inner.map(size);
  return {
    nodes: 1 + sizes.reduce((sum, { nodes }) => sum + nodes, 0),
    depth: 1 + Math.max(0, ...sizes.map(({ depth }) => depth)),
  };
};

const part = fc.constantFrom(
  ...[
    "(",
    ")",
    '"',
    "\\",
    ":",
    "*",
    " ",
    "-",
    "+",
    "!",
    "&&",
    "||",
    "|",
    "AND",
    "OR",
    "NOT",
    "tags:",
  ],
  ...[
    "urn:li:tag:a",
    "urn:",
    "[",
    "]",
    "{",
    "TO",
    ">",
    "=",
    "~2",
    "^",
    "a",
    "b.c",
    "\0",
    "é",
    "\ud800",
  ],
  ...["_exists_:", "/q ", "__proto__:", ".*", "[^a]+$", "'", ";--", "%", "_", "␟", "\u2028"],
);
const anything = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.array(part, { maxLength: 200 }).map((parts) => parts.join("")),
  fc.array(part, { maxLength: 200 }).map((parts) => parts.join(" ")),
);

describe("any text", () => {
  test("any text gives a tree no larger than the text and of limited depth", () => {
    fc.assert(
      fc.property(anything, (text) => {
        const { nodes, depth } = size(parse(text));
        expect(nodes).toBeLessThanOrEqual(2 * text.length + 1);
        expect(depth).toBeLessThan(80);
      }),
      { numRuns: 2000 },
    );
  });

  test("a quoted and escaped text is the value of a field", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 50 }), (value) => {
        const quoted = value.replaceAll(/["\\]/g, "\\$&");
        expect(untyped(parse(`tags:"${quoted}"`))).toEqual(is("tags", value));
      }),
    );
  });

  test("a text without blanks and with escaped reserved characters is the value of a field", () => {
    const unit = fc.string({ minLength: 1, maxLength: 50 }).filter((text) => !/\s/.test(text));
    fc.assert(
      fc.property(unit, (value) => {
        const escaped = value.replaceAll(/[-+=&|><!(){}[\]^"~*?:\\/]/g, "\\$&");
        expect(untyped(parse(`tags:${escaped}`))).toEqual(is("tags", value));
      }),
    );
  });

  test("a text beyond the length limit is rejected, and shorter ones are parsed quickly", () => {
    expect(() => parse("a".repeat(queryCharactersMax + 1))).toThrow("10001 characters; at most");
    for (const piece of [
      "(",
      "((a) ",
      '"',
      '\\"',
      "-",
      "NOT ",
      "a OR ",
      "urn:li:a:(",
      "tags:(",
      "* ",
      "tags:urn:li:a:( ",
      "tags: ",
      "tags:\n\n\n\n",
      "a\\:",
    ]) {
      const text = piece.repeat(Math.floor(queryCharactersMax / piece.length));
      const begun = cpuMilliseconds();
      parse(text);
      expect(cpuMilliseconds() - begun).toBeLessThan(500);
    }
  });
});
