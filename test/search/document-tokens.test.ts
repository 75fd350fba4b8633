/** Under which tokens the embedded index has a document. */
import { expect, test } from "vitest";
import type { DocumentText, SearchDocument } from "../../src/search/search.ts";
import { createDocumentTokens } from "../../src/search/sqlite/document-tokens.ts";

const text = (field: string, more: Partial<DocumentText> = {}): DocumentText => ({
  ...{ field, value: "Orders_v2", folded: "orders_v2", words: ["orders", "v", "2"] },
  ...{ boost: 8, suggested: true, ...more },
});

test("texts that have the same tokens are there once", () => {
  const tokensOf = createDocumentTokens({
    fieldOf: () => 1,
    kindOf: (boost, suggested) => boost * 2 + (suggested ? 1 : 0),
  });
  const of = (...texts: readonly DocumentText[]): SearchDocument => ({
    ...{ urn: "urn:li:dataset:a", entityType: "dataset", values: {}, texts },
  });
  const alone = tokensOf(of(text("name")));
  expect(tokensOf(of(text("name"), text("id"), text("title")))).toBe(alone);
  for (const unlike of [{ boost: 4 }, { suggested: false }, { words: ["orders", "v2"] }]) {
    expect(tokensOf(of(text("name"), text("id", unlike)))).not.toBe(alone);
  }
});
