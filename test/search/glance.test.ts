/** What is told of a stored document without reading it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluate } from "../../src/search/evaluate.ts";
import { createGlance } from "../../src/search/glance.ts";
import type { DocumentText, Expression, SearchDocument } from "../../src/search/search.ts";
import { decodeDocument, encodeDocument } from "../../src/search/stored-document.ts";
import { corpora, expression } from "../contract/search-model.ts";

const urn = "urn:li:dataset:a";

const named = (value: string): SearchDocument => {
  const folded = value.toLowerCase();
  const words = folded.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const text: DocumentText = {
    ...{ field: "name", value, folded, words, boost: 1, suggested: true },
  };
  return { urn, entityType: "dataset", values: { name: [value] }, texts: [text] };
};

/** Undefined where nothing is told. */
const told = (asked: Expression, document: SearchDocument): boolean | undefined =>
  createGlance(asked)?.(encodeDocument(document));

const word = (text: string, prefix = false): Expression => ({
  ...{ kind: "word", any: [{ word: text, prefix, weight: 1 }] },
});
const whole = (text: string, prefix: boolean): Expression => ({ kind: "whole", text, prefix });

test("whatever fulfils an expression passes", () => {
  const one = fc.oneof(
    corpora(1).map(([document]) => document as SearchDocument),
    fc.string({ unit: "binary" }).map(named),
  );
  const text = fc.string({ unit: "binary", maxLength: 2 });
  const asking = fc.oneof(
    expression,
    text.map((some) => whole(some, true)),
    text.map((some) => word(some, true)),
  );
  fc.assert(
    fc.property(one, asking, (document, asked) => {
      const stored = decodeDocument(document.urn, encodeDocument(document));
      if (evaluate(asked, stored) !== undefined) expect(told(asked, document)).not.toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test.each(["Sales by Day", 'A "quoted" \\ name', "ΟΔΟΣ", "İstanbul ΣΑΣ.", "tab\there", "日本"])(
  "%j passes for what it is asked for, and for nothing else",
  (value) => {
    const document = named(value);
    const [text] = document.texts;
    const { folded = "", words = [] } = text ?? {};
    expect(told(whole(folded, false), document)).toBe(true);
    expect(told(whole(folded.slice(0, 2), true), document)).toBe(true);
    expect(told(whole(folded.slice(0, -1), false), document)).toBe(false);
    expect(told(whole(folded.slice(1), true), document)).toBe(false);
    expect(told({ kind: "phrase", words }, document)).toBe(true);
    for (const one of words) expect(told(word(one), document)).toBe(true);
    expect(told(word("unheard"), document)).toBe(false);
    const all: Expression = { kind: "and", all: [word("unheard"), { kind: "all" }] };
    expect(told(all, document)).toBe(false);
    expect(told({ kind: "or", any: [word("unheard"), word(words[0] ?? "")] }, document)).toBe(true);
    const preferred = [{ weight: 2, when: word("unheard") }];
    const base = word(words[0] ?? "");
    expect(told({ kind: "prefer", base, preferred }, document)).toBe(true);
  },
);

test("nothing is told of conditions, of what must not be, and of half characters", () => {
  const document = named("a \ud83d b");
  const unheard = word("unheard");
  for (const asked of [
    { kind: "all" } as const,
    { kind: "not", not: word("a") } as const,
    { kind: "condition", condition: { kind: "exists", field: "name" } } as const,
    { kind: "or", any: [unheard, { kind: "all" }] } as const,
    whole("a \ud83d", true),
    whole("a \ufffd", true),
  ]) {
    expect(told(asked, document)).toBeUndefined();
  }
});
