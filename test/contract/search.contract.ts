/**
 * The contract of every search view (src/views/search/search.ts). Its results are compared with
 * documents that are evaluated one by one (search-model.ts). The contract of its sink is in
 * sink.contract.ts.
 */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Position, position, START } from "../../src/core/position.ts";
import {
  type Condition,
  type DocumentText,
  type Expression,
  type FieldValue,
  hitsMax,
  type SearchDocument,
  type SearchQuery,
  type SearchReader,
  type SearchResult,
  type SearchSink,
  type SearchWrite,
  type WordChoice,
} from "../../src/views/search/search.ts";
import {
  corpora,
  createSearchModel,
  folderQueries,
  type SearchModel,
  searchHistories,
  searchQueries,
} from "./search-model.ts";

export interface SearchPlace {
  openSink(): Promise<SearchSink>;
  openReader(): Promise<SearchReader>;
  /** Refreshes the index, in a store where applied writes are not visible at once. */
  refresh?(): Promise<void>;
  remove(): Promise<void>;
}

const types = ["dataset", "chart", "corpuser", "tag"];

const documentOf = (
  name: string,
  values: Readonly<Record<string, readonly FieldValue[]>> = {},
  texts: readonly Partial<DocumentText>[] = [],
): SearchDocument => {
  const urn = name.startsWith("urn:") ? name : `urn:li:dataset:${name}`;
  return {
    urn,
    entityType: urn.split(":")[2] ?? "",
    values,
    texts: texts.map((text) => ({
      field: "name",
      value: text.words?.join(" ") ?? "",
      folded: text.value?.toLowerCase() ?? text.words?.join(" ") ?? "",
      words: [],
      boost: 1,
      suggested: false,
      ...text,
    })),
  };
};

const word = (text: string, more: Partial<WordChoice> = {}): Expression => ({
  kind: "word",
  any: [{ word: text, prefix: false, weight: 1, ...more }],
});
const beginning = (text: string, weight = 1): Expression => word(text, { prefix: true, weight });
const phrase = (...words: readonly string[]): Expression => ({ kind: "phrase", words });
const whole = (text: string, prefix = false): Expression => ({ kind: "whole", text, prefix });
const and = (...all: readonly Expression[]): Expression => ({ kind: "and", all });
const or = (...any: readonly Expression[]): Expression => ({ kind: "or", any });
const not = (one: Expression): Expression => ({ kind: "not", not: one });
const equal = (field: string, ...values: readonly FieldValue[]): Condition => ({
  kind: "equal",
  field,
  values,
});
const all: Expression = { kind: "all" };

const query = (asked: Partial<SearchQuery> = {}): SearchQuery => ({
  entityTypes: types,
  expression: all,
  sort: [],
  start: 0,
  count: 100,
  facets: [],
  ...asked,
});

export function searchContract(
  name: string,
  harness: {
    createPlace(): Promise<SearchPlace>;
    /** True if a batch takes tens of milliseconds, and a reset more: fewer random ones. */
    readonly slow?: boolean;
  },
): void {
  const runs = harness.slow ? { histories: 3, questions: 20 } : { histories: 40, questions: 120 };
  let place: SearchPlace;
  let sink: SearchSink;
  let reader: SearchReader;
  let last: Position;

  async function apply(writes: readonly SearchWrite[], upTo: Position): Promise<void> {
    await sink.apply(writes, upTo);
    await place.refresh?.();
  }

  async function put(...documents: readonly SearchDocument[]): Promise<void> {
    const writes = documents.map((document): SearchWrite => {
      last = position(last + 1);
      return { op: "put", position: last, urn: document.urn, document };
    });
    await apply(writes, last);
  }

  async function remove(...urns: readonly string[]): Promise<void> {
    const writes = urns.map((urn): SearchWrite => {
      last = position(last + 1);
      return { op: "remove", position: last, urn };
    });
    await apply(writes, last);
  }

  const search = (asked: Partial<SearchQuery> = {}) => reader.search(query(asked));

  const namesOf = ({ hits }: SearchResult): readonly string[] =>
    hits.map(({ document }) => document.urn.replace("urn:li:dataset:", ""));

  /** The names of the hits, sorted. */
  const find = async (asked: Expression | Partial<SearchQuery>): Promise<readonly string[]> =>
    namesOf(await search("kind" in asked ? { expression: asked as Expression } : asked));

  /** The names of the documents that meet a condition, sorted. */
  const fulfilling = (condition: Condition): Promise<readonly string[]> => find({ condition });

  const scores = async (expression: Expression): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries(
      (await search({ expression })).hits.map(({ document, score }) => [
        document.urn.replace("urn:li:dataset:", ""),
        score,
      ]),
    );

  const sorted = (field: string, order: "ASCENDING" | "DESCENDING") =>
    find({ sort: [{ field, order }] });

  describe(`search: ${name}`, () => {
    beforeAll(async () => {
      place = await harness.createPlace();
      sink = await place.openSink();
      reader = await place.openReader();
    });

    afterAll(async () => {
      await reader.close();
      await sink.close();
      await place.remove();
    });

    beforeEach(async () => {
      await sink.reset();
      await place.refresh?.();
      last = START;
    });

    describe("documents", () => {
      test("a new view has no documents", async () => {
        expect(await search()).toEqual({ hits: [], total: 0, facets: [], position: START });
        expect(await reader.documents(["urn:li:dataset:a"])).toEqual([undefined]);
      });

      test("documents are returned unchanged, in the order of the requested urns", async () => {
        const a = documentOf("a", { tags: ["x", "y"], count: [1.5], removed: [false] }, [
          { field: "name", value: "A b", folded: "a b", words: ["a", "b"], boost: 0.5 },
          { field: "description", value: "Été", folded: "ete", words: ["ete"], suggested: true },
          { field: "empty", value: "", folded: "", words: [] },
        ]);
        const b = documentOf("b");
        await put(a, b);
        const asked = [b.urn, "urn:li:dataset:unheard", a.urn, b.urn];
        expect(await reader.documents(asked)).toEqual([b, undefined, a, b]);
        expect((await search()).hits.map(({ document }) => document)).toEqual([a, b]);
      });

      test("hits of which only the urns are asked for have the same urns, scores and places", async () => {
        await put(documentOf("a", { tags: ["x"] }, [{ words: ["w"] }]), documentOf("b"));
        for (const sort of [[], [{ field: "tags", order: "DESCENDING" }]] as const) {
          const placed = ({ hits }: SearchResult) =>
            hits.map(({ document: { urn }, score, cursor }) => ({ urn, score, cursor }));
          const whole = placed(await search({ sort }));
          expect(whole).toHaveLength(2);
          expect(placed(await search({ sort, urnsOnly: true }))).toEqual(whole);
        }
      });

      test("a write replaces the whole document", async () => {
        await put(documentOf("a", { tags: ["x"] }, [{ words: ["old"] }]));
        await put(documentOf("a", { platform: ["p"] }, [{ words: ["new"] }]));
        expect(await find(word("old"))).toEqual([]);
        expect(await find(word("new"))).toEqual(["a"]);
        expect(await fulfilling(equal("tags", "x"))).toEqual([]);
        expect(await fulfilling(equal("platform", "p"))).toEqual(["a"]);
        expect((await search()).total).toBe(1);
      });

      test("a removed document leaves no trace, and can be written again", async () => {
        const a = documentOf("a", { tags: ["x"] }, [{ words: ["w"] }]);
        await put(a, documentOf("b"));
        await remove(a.urn, "urn:li:dataset:unheard");
        expect(await find(all)).toEqual(["b"]);
        expect(await find(word("w"))).toEqual([]);
        expect(await reader.documents([a.urn])).toEqual([undefined]);
        const answer = await search({ facets: [{ fields: ["tags"], limit: 9 }] });
        expect(answer.facets).toEqual([[]]);
        await put(a);
        expect(await find(word("w"))).toEqual(["a"]);
      });

      test("a write without changes leaves a document unchanged, and later writes apply", async () => {
        const a = documentOf("a", {}, [{ words: ["w"] }]);
        await put(a, documentOf("b"));
        await put(a);
        expect(await find(word("w"))).toEqual(["a"]);
        expect(await reader.documents([a.urn])).toEqual([a]);
        await put(documentOf("a", {}, [{ words: ["x"] }]));
        expect([await find(word("w")), await find(word("x"))]).toEqual([[], ["a"]]);
      });

      test("documents may be amended before their batch sets the position", async () => {
        const [a, b] = [documentOf("a", { rows: [1] }), documentOf("b", { rows: [2] })];
        await put(a, b);
        const before = last;
        last = position(last + 3);
        const changed = documentOf("a", { rows: [7] });
        await sink.amend([{ op: "put", position: last, urn: a.urn, document: changed }]);
        expect(await sink.position()).toBe(before);
        await sink.amend([{ op: "remove", position: last, urn: b.urn }]);
        await apply([], last);
        expect(await sink.position()).toBe(last);
        expect(await find({ condition: { kind: "exists", field: "rows" } })).toEqual(["a"]);
        expect(await find({ condition: { kind: "equal", field: "rows", values: [7] } })).toEqual([
          "a",
        ]);
      });

      test("documents may be created lazily: one that fails leaves the view unchanged", async () => {
        const made: string[] = [];
        const later = (document: SearchDocument): SearchWrite => ({
          ...{ op: "put", position: last, urn: document.urn },
          get document() {
            made.push(document.urn);
            if (document.entityType === "") throw new Error("no such value");
            return document;
          },
        });
        const [a, b, c] = [documentOf("a"), documentOf("b"), documentOf("c")];
        await put(a, b);
        const before = last;
        last = position(last + 2);
        const changed = documentOf("a", { rows: [1] });
        const writes = [later(changed), later({ ...b, entityType: "" }), later(c)];
        await expect(sink.apply(writes, last)).rejects.toThrow("no such value");
        await expect(sink.amend(writes)).rejects.toThrow("no such value");
        await expect(sink.restore(b.urn, writes.slice(1, 2))).rejects.toThrow("no such value");
        await place.refresh?.();
        expect(await sink.position()).toBe(before);
        expect((await search()).hits.map(({ document }) => document)).toEqual([a, b]);
        made.splice(0);
        await apply([later(changed), later(c)], last);
        expect(made.toSorted()).toEqual([a.urn, c.urn]);
        expect((await search()).hits.map(({ document }) => document)).toEqual([changed, b, c]);
        await apply([later(a)], last);
        expect(made).toHaveLength(2);
      });

      test("documents with a value in a field are listed page by page", async () => {
        const numbered = Array.from({ length: 2_100 }, (_, n) =>
          documentOf(`n${n}`, n % 2 === 0 ? { rows: [n] } : { "a field.of\u{1F3D4}": ["x"] }),
        );
        await put(...numbered, documentOf("none"), documentOf("empty", { rows: [] }));
        await put(documentOf("urn:li:chart:c", { rows: [1] }));
        const listed = async (...fields: string[]) => {
          const urns: string[] = [];
          for (let from: string | undefined; ; ) {
            const page = await sink.holding("dataset", fields, from);
            urns.push(...page.urns);
            if (page.next === undefined) return urns.sort();
            from = page.next;
          }
        };
        const with_ = (odd: boolean) =>
          numbered.filter(({ values }) => "rows" in values !== odd).map(({ urn }) => urn);
        expect(await listed("rows")).toEqual(with_(false).sort());
        expect(await listed("a field.of\u{1F3D4}", "row")).toEqual(with_(true).sort());
        expect(await listed("rows", "a field.of\u{1F3D4}")).toEqual(
          numbered.map(({ urn }) => urn).sort(),
        );
        expect(await listed("unheard")).toEqual([]);
        expect(await sink.holding("dataset", [])).toEqual({ urns: [] });
        expect(await sink.holding("notebook", ["rows"])).toEqual({ urns: [] });
      });

      test("a response contains the documents up to its position", async () => {
        await put(documentOf("a"));
        await apply([], position(40));
        expect((await search()).position).toBe(40);
        const folders = { ...query(), field: "path", separator: "/", path: "" };
        expect((await reader.folders(folders)).position).toBe(40);
      });

      test("a reset deletes all documents, also for readers that have read before", async () => {
        await put(documentOf("a", { tags: ["x"] }), documentOf("b", { tags: ["y"] }));
        const facets = [{ fields: ["tags"] as const, limit: 9 }];
        expect((await search({ facets })).total).toBe(2);
        await sink.reset();
        last = START;
        await put(documentOf("c", { tags: ["y"] }));
        const answer = await search({ facets });
        expect(namesOf(answer)).toEqual(["c"]);
        expect(answer.facets).toEqual([[{ values: ["y"], count: 1 }]]);
      });

      test("readers that were opened at any time find the documents", async () => {
        await put(documentOf("a"));
        const other = await place.openReader();
        try {
          expect((await other.search(query())).total).toBe(1);
          await put(documentOf("b"));
          expect((await other.search(query())).total).toBe(2);
          expect((await search()).total).toBe(2);
        } finally {
          await other.close();
        }
      });
    });

    describe("expressions", () => {
      test("all: matches every document of the requested types with score 1", async () => {
        await put(documentOf("a"), documentOf("urn:li:chart:b"), documentOf("urn:li:tag:c"));
        expect(await scores(all)).toEqual({ a: 1, "urn:li:chart:b": 1, "urn:li:tag:c": 1 });
        expect(await find({ entityTypes: ["chart", "unheard"] })).toEqual(["urn:li:chart:b"]);
        expect(await find({ entityTypes: ["unheard"] })).toEqual([]);
      });

      test("word: matches letter for letter, whatever the neighbouring characters are", async () => {
        await put(
          documentOf("a", {}, [{ words: ["order"] }]),
          documentOf("b", {}, [{ words: ["orders"] }, { words: ["x", "order", "y"] }]),
          documentOf("c", {}, [{ words: ["border"] }]),
        );
        expect(await find(word("order"))).toEqual(["a", "b"]);
        expect(await find(word("Order"))).toEqual([]);
        expect(await find(word(""))).toEqual([]);
      });

      test("word: with prefix matches words that begin with the text, and the text itself", async () => {
        await put(
          documentOf("a", {}, [{ words: ["order"] }]),
          documentOf("b", {}, [{ words: ["orders"] }]),
          documentOf("c", {}, [{ words: ["border"] }]),
          documentOf("d", {}, [{ words: [] }]),
        );
        expect(await find(beginning("order"))).toEqual(["a", "b"]);
        expect(await find(beginning("o"))).toEqual(["a", "b"]);
        expect(await find(beginning(""))).toEqual(["a", "b", "c"]);
      });

      test("word: the score is the greatest weight times the boost", async () => {
        await put(
          documentOf("a", {}, [{ words: ["order"], boost: 4 }]),
          documentOf("b", {}, [{ words: ["orders"], boost: 10 }]),
          documentOf("c", {}, [
            { words: ["order", "orders"], boost: 0.5 },
            { words: ["orders"], boost: 1 },
          ]),
        );
        const any = [
          { word: "order", prefix: false, weight: 1 },
          { word: "order", prefix: true, weight: 0.5 },
        ];
        expect(await scores({ kind: "word", any })).toEqual({ a: 4, b: 5, c: 0.5 });
        expect(await scores({ kind: "word", any: [] })).toEqual({});
      });

      test("word: within suggested texts, other texts do not match", async () => {
        await put(
          documentOf("a", {}, [{ words: ["order"], boost: 4 }]),
          documentOf("b", {}, [
            { words: ["order"], boost: 10 },
            { words: ["order"], suggested: true },
          ]),
        );
        const any = [{ word: "or", prefix: true, weight: 1 }];
        expect(await scores({ kind: "word", any, within: "suggested" })).toEqual({ b: 1 });
        expect(await scores({ kind: "word", any })).toEqual({ a: 4, b: 10 });
      });

      test("phrase: matches consecutive words of one text, and the greatest boost is the score", async () => {
        await put(
          documentOf("a", {}, [{ words: ["x", "daily", "orders"], boost: 4 }]),
          documentOf("b", {}, [{ words: ["orders", "daily"] }]),
          documentOf("c", {}, [{ words: ["daily"] }, { words: ["orders"] }]),
          documentOf("d", {}, [
            { words: ["daily", "orders"], boost: 1 },
            { words: ["daily", "orders", "x"], boost: 10 },
          ]),
          documentOf("e", {}, [{ words: ["daily", "big", "orders"] }]),
        );
        expect(await scores(phrase("daily", "orders"))).toEqual({ a: 4, d: 10 });
        const weighted: Expression = { kind: "phrase", words: ["daily", "orders"], weight: 4 };
        expect(await scores(weighted)).toEqual({ a: 16, d: 40 });
        expect(await find(phrase("orders"))).toEqual(["d", "a", "b", "c", "e"]);
        expect(await find(phrase("daily", "order"))).toEqual([]);
        expect(await find(phrase())).toEqual([]);
      });

      test("phrase: matches a word of all documents next to a word of one document", async () => {
        const urns = Array.from({ length: 20 }, (_, n) => `${n}`.padStart(2, "0"));
        await put(
          ...urns.map((urn, n) =>
            documentOf(urn, {}, [{ words: ["some", "mark", `${n}`, ...Array(n).fill("mark")] }]),
          ),
        );
        for (const [n, urn] of urns.entries()) {
          expect(await find(phrase("mark", `${n}`)), urn).toEqual([urn]);
          expect(await find(phrase("some", "mark", `${n}`)), urn).toEqual([urn]);
          expect(await find(phrase(`${n}`, "some")), urn).toEqual([]);
        }
      });

      test("whole: matches the folded value, or its beginning", async () => {
        await put(
          documentOf("a", {}, [{ value: "Daily Orders", boost: 4 }]),
          documentOf("b", {}, [{ value: "daily orders 2", boost: 10 }]),
          documentOf("c", {}, [{ value: "Daily" }, { value: "daily orders" }]),
          documentOf("d", {}, [{ value: "the daily orders" }]),
        );
        expect(await scores(whole("daily orders"))).toEqual({ a: 4, c: 1 });
        expect(await scores(whole("daily o", true))).toEqual({ a: 4, b: 10, c: 1 });
        expect(await find(whole("Daily Orders"))).toEqual([]);
      });

      test("whole: within suggested texts, other texts do not match", async () => {
        await put(
          documentOf("a", {}, [{ value: "Daily Orders", boost: 4 }]),
          documentOf("b", {}, [
            { value: "Daily", boost: 4 },
            { value: "Daily", suggested: true },
          ]),
          documentOf("c", {}, [{ value: "days", suggested: true }]),
        );
        const suggested = (text: string, prefix: boolean): Expression => ({
          kind: "whole",
          text,
          prefix,
          within: "suggested",
        });
        expect(await scores(suggested("daily", false))).toEqual({ b: 1 });
        expect(await scores(suggested("da", true))).toEqual({ b: 1, c: 1 });
        expect(await scores(suggested("dail", true))).toEqual({ b: 1 });
        expect(await scores(suggested("", true))).toEqual({ b: 1, c: 1 });
      });

      test("whole: long texts that differ at the end are different", async () => {
        const long = "x".repeat(5_000);
        await put(
          documentOf("a", {}, [{ value: `${long}a` }]),
          documentOf("b", {}, [{ value: `${long}b` }]),
          documentOf("c", {}, [{ value: "x".repeat(200) }]),
        );
        expect(await find(whole(`${long}a`))).toEqual(["a"]);
        expect(await find(whole(long))).toEqual([]);
        expect(await find(whole(long, true))).toEqual(["a", "b"]);
        expect(await find(whole("x".repeat(200)))).toEqual(["c"]);
      });

      test("and: all must match, scores are added, and an empty one matches with score 0", async () => {
        await put(
          documentOf("a", { tags: ["x"] }, [{ words: ["v", "w"], boost: 4 }]),
          documentOf("b", {}, [{ words: ["v"] }]),
        );
        const condition: Expression = { kind: "condition", condition: equal("tags", "x") };
        expect(await scores(and(word("v"), word("w"), condition))).toEqual({ a: 9 });
        expect(await scores(and())).toEqual({ a: 0, b: 0 });
        expect(await scores(and(word("v"), word("unheard")))).toEqual({});
      });

      test("or: one must match, the greatest score is used, and an empty one does not match", async () => {
        await put(
          documentOf("a", {}, [{ words: ["v"], boost: 4 }, { words: ["w"] }]),
          documentOf("b", {}, [{ words: ["w"] }]),
          documentOf("c"),
        );
        expect(await scores(or(word("v"), word("w")))).toEqual({ a: 4, b: 1 });
        expect(await scores(or())).toEqual({});
      });

      test("not: matches with score 0 where its operand does not match", async () => {
        await put(
          documentOf("a", {}, [{ words: ["v", "w"] }]),
          documentOf("b", {}, [{ words: ["v"] }]),
        );
        expect(await scores(and(word("v"), not(word("w"))))).toEqual({ b: 1 });
        expect(await scores(not(word("w")))).toEqual({ b: 0 });
        expect(await scores(not(not(word("w"))))).toEqual({ a: 0 });
      });

      test("prefer: documents that match a preference are ranked first, by the greatest preference", async () => {
        await put(
          documentOf("a", {}, [{ value: "v", words: ["v"] }]),
          documentOf("b", {}, [{ value: "v w", words: ["v", "w"] }]),
          documentOf("c", {}, [{ value: "w", words: ["w"] }]),
        );
        const expression: Expression = {
          kind: "prefer",
          base: word("v"),
          preferred: [
            { weight: 16, when: whole("v") },
            { weight: 4, when: whole("v", true) },
          ],
        };
        expect(await scores(expression)).toEqual({ a: 17, b: 5 });
        expect(await scores({ kind: "prefer", base: word("w"), preferred: [] })).toEqual({
          b: 1,
          c: 1,
        });
      });

      test("condition: matches with score 1", async () => {
        await put(
          documentOf("a", { tags: ["x"], f: [1] }),
          documentOf("b"),
          documentOf("c", { tags: ["x"] }),
        );
        const condition: Expression = { kind: "condition", condition: equal("tags", "x") };
        expect(await scores(condition)).toEqual({ a: 1, c: 1 });
        expect(await scores(or(condition, all))).toEqual({ a: 1, b: 1, c: 1 });
        const every = { kind: "every" as const, every: [equal("tags", "x"), equal("f", 1)] };
        expect(await scores({ kind: "condition", condition: every })).toEqual({ a: 1 });
      });
    });

    describe("conditions", () => {
      test("equal: compares values of the same type, letter for letter", async () => {
        await put(
          documentOf("text", { f: ["1", "Abc"] }),
          documentOf("number", { f: [1] }),
          documentOf("boolean", { f: [true] }),
          documentOf("none", { f: [] }),
          documentOf("other"),
        );
        expect(await fulfilling(equal("f", "1"))).toEqual(["text"]);
        expect(await fulfilling(equal("f", 1))).toEqual(["number"]);
        expect(await fulfilling(equal("f", true, "Abc"))).toEqual(["boolean", "text"]);
        expect(await fulfilling(equal("f", "abc", "ab", "true"))).toEqual([]);
        expect(await fulfilling(equal("f"))).toEqual([]);
        expect(await fulfilling(equal("unheard", 1))).toEqual([]);
      });

      test("equal: long values that differ at the end are different", async () => {
        const long = "urn".repeat(500);
        await put(documentOf("a", { f: [`${long}a`] }), documentOf("b", { f: [`${long}b`, long] }));
        expect(await fulfilling(equal("f", `${long}a`))).toEqual(["a"]);
        expect(await fulfilling(equal("f", long))).toEqual(["b"]);
        const { facets } = await search({ facets: [{ fields: ["f"], limit: 9 }] });
        expect(facets[0]?.map(({ values: [value] }) => value)).toEqual([
          long,
          `${long}a`,
          `${long}b`,
        ]);
      });

      test("like: ignores case, and matches the beginning, the end, a part or all of a value", async () => {
        await put(
          documentOf("a", { f: ["Daily_Orders"] }),
          documentOf("b", { f: ["x", "orders"] }),
          documentOf("c", { f: [1, -20.5] }),
          documentOf("d"),
          documentOf("e", { f: [true] }),
        );
        const like = (
          how: "equals" | "contains" | "starts" | "ends",
          ...texts: readonly string[]
        ) => fulfilling({ kind: "like", field: "f", how, texts });
        expect(await like("equals", "daily_orders", "1")).toEqual(["a", "c"]);
        expect(await like("equals", "-20.5", "tru", "")).toEqual(["c"]);
        expect(await like("contains", "0.")).toEqual(["c"]);
        expect(await like("starts", "-2")).toEqual(["c"]);
        expect(await like("starts", "2", "tr")).toEqual(["e"]);
        expect(await like("ends", ".5", "5")).toEqual(["c"]);
        expect(await like("ends", "e", "1")).toEqual(["c", "e"]);
        expect(await like("contains", "order")).toEqual(["a", "b"]);
        expect(await like("contains", "_")).toEqual(["a"]);
        expect(await like("contains", "%")).toEqual([]);
        expect(await like("starts", "order", "da")).toEqual(["a", "b"]);
        expect(await like("ends", "orders")).toEqual(["a", "b"]);
        expect(await like("ends", "")).toEqual(["a", "b", "c", "e"]);
        expect(await like("contains")).toEqual([]);
        expect(await like("starts", "Daily")).toEqual([]);
      });

      test("like: a backslash is an ordinary character", async () => {
        await put(
          documentOf("a", { f: ["MILL\\mara"] }),
          documentOf("b", { f: ["MILLmara", "c:\\*"] }),
          documentOf("c", { f: ["\\\\mill\\"] }),
        );
        const like = (how: "equals" | "contains" | "starts" | "ends", text: string) =>
          fulfilling({ kind: "like", field: "f", how, texts: [text] });
        expect(await like("equals", "mill\\mara")).toEqual(["a"]);
        expect(await like("starts", "mill\\")).toEqual(["a"]);
        expect(await like("ends", "\\mara")).toEqual(["a"]);
        expect(await like("ends", "\\")).toEqual(["c"]);
        expect(await like("ends", "\\*")).toEqual(["b"]);
        expect(await like("contains", "l\\m")).toEqual(["a"]);
        expect(await like("contains", "\\\\")).toEqual(["c"]);
      });

      test("range: compares numbers with numbers and texts with texts, and one value must be within all limits", async () => {
        await put(
          documentOf("one", { f: [1] }),
          documentOf("two", { f: [2, 20] }),
          documentOf("text", { f: ["b"] }),
          documentOf("boolean", { f: [true] }),
          documentOf("none"),
        );
        const range = (ends: Partial<Extract<Condition, { kind: "range" }>>) =>
          fulfilling({ kind: "range", field: "f", ...ends });
        expect(await range({ from: 1, to: 2 })).toEqual(["one", "two"]);
        expect(await range({ above: 1, below: 21 })).toEqual(["two"]);
        expect(await range({ above: 2, below: 20 })).toEqual([]);
        expect(await range({ from: "a" })).toEqual(["text"]);
        expect(await range({ above: "b" })).toEqual([]);
        expect(await range({ from: "" })).toEqual(["text"]);
        expect(await range({ from: 0, to: "z" })).toEqual([]);
        expect(await range({})).toEqual(["one", "text", "two"]);
      });

      test("range: compares texts by UTF-16 code unit", async () => {
        await put(
          documentOf("ligature", { f: ["\ufb03"] }),
          documentOf("smile", { f: ["\u{1F600}"] }),
        );
        const condition: Condition = { kind: "range", field: "f", above: "\u{1F600}" };
        expect(await fulfilling(condition)).toEqual(["ligature"]);
      });

      test("exists: matches documents with any value", async () => {
        await put(
          documentOf("a", { f: [""] }),
          documentOf("b", { f: [false] }),
          documentOf("c", { f: [] }),
          documentOf("d"),
        );
        expect(await fulfilling({ kind: "exists", field: "f" })).toEqual(["a", "b"]);
        expect(await fulfilling({ kind: "exists", field: "constructor" })).toEqual([]);
      });

      test("every, any and not: combine conditions", async () => {
        await put(
          documentOf("a", { f: ["x"], g: ["x"] }),
          documentOf("b", { f: ["x"] }),
          documentOf("c", { g: ["x"] }),
        );
        const [f, g] = [equal("f", "x"), equal("g", "x")];
        expect(await fulfilling({ kind: "every", every: [f, g] })).toEqual(["a"]);
        expect(await fulfilling({ kind: "any", any: [f, g] })).toEqual(["a", "b", "c"]);
        expect(await fulfilling({ kind: "not", not: f })).toEqual(["c"]);
        expect(await fulfilling({ kind: "every", every: [] })).toEqual(["a", "b", "c"]);
        expect(await fulfilling({ kind: "any", any: [] })).toEqual([]);
        expect(await fulfilling({ kind: "not", not: { kind: "any", any: [] } })).toEqual([
          "a",
          "b",
          "c",
        ]);
      });

      test("a condition restricts the results of an expression", async () => {
        await put(
          documentOf("a", { f: ["x"] }, [{ words: ["w"] }]),
          documentOf("b", { f: ["y"] }, [{ words: ["w"] }]),
          documentOf("c", { f: ["x"] }),
        );
        const answer = await search({ expression: word("w"), condition: equal("f", "x") });
        expect(namesOf(answer)).toEqual(["a"]);
        expect(answer.total).toBe(1);
      });
    });

    describe("order", () => {
      test("hits are sorted by score, then by urn in UTF-16 code units", async () => {
        const names = ["b", "a", "B", "é", "\ufb03", "\u{1F600}", "aa", "%", "日"];
        await put(
          ...names.map((one) => documentOf(one, {}, [{ words: ["w"] }])),
          documentOf("z", {}, [{ words: ["w"], boost: 10 }]),
        );
        const expected = ["%", "B", "a", "aa", "b", "é", "日", "\u{1F600}", "\ufb03"];
        expect(await find(word("w"))).toEqual(["z", ...expected]);
      });

      test("hits are sorted by a field: numbers and booleans by size, then texts ignoring case", async () => {
        await put(
          documentOf("a", { f: ["b"] }),
          documentOf("b", { f: ["A"] }),
          documentOf("c", { f: [10] }),
          documentOf("d", { f: [2] }),
          documentOf("e", { f: [true] }),
          documentOf("f", { f: [false] }),
          documentOf("g"),
          documentOf("h", { f: ["B"] }),
          documentOf("i", { f: [-0.5] }),
        );
        expect(await sorted("f", "ASCENDING")).toEqual([..."ifedcbahg"]);
        expect(await sorted("f", "DESCENDING")).toEqual([..."ahbcdefig"]);
      });

      test("hits are sorted by the least value when ascending, and by the greatest when descending", async () => {
        await put(
          documentOf("a", { f: [5, 1] }),
          documentOf("b", { f: [2, 3] }),
          documentOf("c", { f: [4, "x"] }),
        );
        expect(await sorted("f", "ASCENDING")).toEqual(["a", "b", "c"]);
        expect(await sorted("f", "DESCENDING")).toEqual(["c", "a", "b"]);
      });

      test("hits are sorted by several criteria, then by score and urn", async () => {
        await put(
          documentOf("a", { f: [1], g: [1] }, [{ words: ["w"] }]),
          documentOf("b", { f: [1], g: [2] }, [{ words: ["w"] }]),
          documentOf("c", { f: [0] }, [{ words: ["w"] }]),
          documentOf("d", { f: [1], g: [2] }, [{ words: ["w"], boost: 4 }]),
          documentOf("e", { f: [1] }, [{ words: ["w"] }]),
        );
        const sort = [
          { field: "f", order: "ASCENDING" as const },
          { field: "g", order: "DESCENDING" as const },
        ];
        expect(await find({ expression: word("w"), sort })).toEqual(["c", "d", "b", "a", "e"]);
      });

      test("the order follows values that change, are added and are removed", async () => {
        await put(documentOf("a", { f: ["m"] }), documentOf("b", { f: ["n"] }));
        expect(await sorted("f", "ASCENDING")).toEqual(["a", "b"]);
        await put(documentOf("a", { f: ["o"] }), documentOf("c", { f: ["B"] }));
        expect(await sorted("f", "ASCENDING")).toEqual(["c", "b", "a"]);
        await put(documentOf("b"), documentOf("c", { f: ["n", "p"] }));
        await remove("urn:li:dataset:a");
        expect(await sorted("f", "DESCENDING")).toEqual(["c", "b"]);
      });

      test("a fixed corpus is ranked: exact before prefix before part, name before description", async () => {
        const text = (field: string, value: string, boost: number): Partial<DocumentText> => ({
          field,
          value,
          words: value.toLowerCase().split(" "),
          boost,
        });
        await put(
          documentOf("part", {}, [text("name", "all new orders", 10)]),
          documentOf("description", {}, [
            text("name", "returns", 10),
            text("description", "orders", 1),
          ]),
          documentOf("exact", {}, [text("name", "Orders", 10)]),
          documentOf("prefix", {}, [text("name", "orders daily", 10)]),
          documentOf("within", {}, [text("name", "ordersofday", 10)]),
          documentOf("nothing", {}, [text("name", "customers", 10)]),
        );
        const any = [
          { word: "orders", prefix: false, weight: 1 },
          { word: "orders", prefix: true, weight: 0.5 },
        ];
        const expression: Expression = {
          kind: "prefer",
          base: { kind: "word", any },
          preferred: [
            { weight: 16, when: whole("orders") },
            { weight: 4, when: whole("orders", true) },
          ],
        };
        const expected = ["exact", "prefix", "within", "description", "part"];
        const found = await search({ expression });
        expect(found.hits.map(({ score }) => score)).toEqual([170, 50, 45, 17, 10]);
        expect(namesOf(found)).toEqual(expected);
      });
    });

    describe("pages", () => {
      const names = Array.from({ length: 25 }, (_, n) => String.fromCharCode(97 + n));

      test("start and count select a page, and the total stays the same", async () => {
        await put(...names.map((one) => documentOf(one)));
        for (const [start, count] of [
          [0, 10],
          [20, 10],
          [25, 10],
          [24, 1],
          [3, 0],
        ] as const) {
          const answer = await search({ start, count });
          expect(namesOf(answer)).toEqual(names.slice(start, start + count));
          expect(answer.total).toBe(25);
        }
      });

      test("a page may begin after a hit in any order, and totals and facets cover all hits", async () => {
        await put(
          ...names.map((one, n) => documentOf(one, n % 3 === 0 ? {} : { f: [n % 5, "x"] })),
        );
        for (const order of ["ASCENDING", "DESCENDING"] as const) {
          const asked = {
            sort: [{ field: "f", order }],
            facets: [{ fields: ["f"] as const, limit: 3 }],
          };
          const whole = await search(asked);
          for (const [at, hit] of whole.hits.entries()) {
            const after = JSON.parse(JSON.stringify(hit.cursor));
            const rest = await search({ ...asked, after });
            expect(rest).toEqual({ ...whole, hits: whole.hits.slice(at + 1) });
            const page = await search({ ...asked, after, start: 2, count: 3 });
            expect(page.hits).toEqual(whole.hits.slice(at + 3, at + 6));
          }
        }
      });

      test("a page may begin after a position in the order that has no document", async () => {
        await put(...["a", "c", "e"].map((one, n) => documentOf(one, { f: [n * 2] })));
        expect(await find({ after: [1, "urn:li:dataset:b"] })).toEqual(["c", "e"]);
        expect(await find({ after: [2, "urn:li:dataset:z"] })).toEqual(["a", "c", "e"]);
        expect(await find({ after: [0.5, ""] })).toEqual([]);
        const sort = [{ field: "f", order: "ASCENDING" as const }];
        expect(await find({ sort, after: [3, 1, ""] })).toEqual(["e"]);
        expect(await find({ sort, after: ["a", 1, ""] })).toEqual([]);
        expect(await find({ sort, after: [null, 1, ""] })).toEqual([]);
        await remove("urn:li:dataset:c");
        expect(await find({ after: [1, "urn:li:dataset:c"] })).toEqual(["e"]);
      });

      test("consecutive pages return every document once while others are written", async () => {
        const staying = Array.from({ length: 300 }, (_, n) => documentOf(`s${n}`, { f: [n % 7] }));
        await put(...staying);
        const sort = [{ field: "f", order: "DESCENDING" as const }];
        const seen: string[] = [];
        let after: SearchQuery["after"];
        for (let page = 0; ; page++) {
          expect(page, "pages until the end").toBeLessThan(100);
          const answer = await search({ sort, count: 20, after });
          if (answer.hits.length === 0) break;
          seen.push(...namesOf(answer));
          after = answer.hits.at(-1)?.cursor;
          await put(
            documentOf(`x${page}`, { f: [page % 9] }),
            documentOf(`s${page}`, { f: [page % 7], g: [page] }),
          );
          await remove(`urn:li:dataset:x${page - 2}`);
        }
        const returned = seen.filter((one) => one.startsWith("s"));
        expect(new Set(returned).size).toBe(returned.length);
        expect(returned.toSorted()).toEqual(staying.map(({ urn }) => urn.slice(15)).toSorted());
      });

      test("a response has no more hits than the limit", async () => {
        const many = Array.from({ length: hitsMax + 1 }, (_, n) => documentOf(`${n}`));
        await put(...many);
        const answer = await search({ count: hitsMax + 1 });
        expect(answer.hits.length).toBe(hitsMax);
        expect(answer.total).toBe(hitsMax + 1);
        const rest = await search({ count: 10, after: answer.hits.at(-1)?.cursor });
        expect(rest.hits.length).toBe(1);
      });
    });

    describe("facets", () => {
      test("facets count documents by value, sorted by count, then by text", async () => {
        await put(
          documentOf("a", { f: ["y", "x", "x"] }),
          documentOf("b", { f: ["y"] }),
          documentOf("c", { f: ["B"] }),
          documentOf("d", { f: ["\u{1F600}", "\ufb03"] }),
          documentOf("e"),
        );
        const one = (text: string, count = 1) => ({ values: [text], count });
        const counted = [one("y", 2), one("B"), one("x"), one("\u{1F600}"), one("\ufb03")];
        const { facets } = await search({
          facets: [5, 2, 0].map((limit) => ({ fields: ["f"], limit })),
        });
        expect(facets).toEqual([counted, counted.slice(0, 2), []]);
      });

      test("facets count all hits, whatever the page", async () => {
        await put(
          documentOf("a", { f: ["x"] }, [{ words: ["w"] }]),
          documentOf("b", { f: ["x"] }, [{ words: ["w"] }]),
          documentOf("c", { f: ["x"] }),
          documentOf("urn:li:tag:d", { f: ["x"] }, [{ words: ["w"] }]),
        );
        const { facets } = await search({
          entityTypes: ["dataset"],
          expression: word("w"),
          count: 0,
          facets: [
            { fields: ["f"], limit: 9 },
            { fields: ["unheard"], limit: 9 },
          ],
        });
        expect(facets).toEqual([[{ values: ["x"], count: 2 }], []]);
      });

      test("facet values are texts, and values with the same text are counted together", async () => {
        await put(
          documentOf("a", { f: [1, "1", true] }),
          documentOf("b", { f: ["1", "true", 0.5] }),
        );
        const { facets } = await search({ facets: [{ fields: ["f"], limit: 9 }] });
        expect(facets[0]).toEqual([
          { values: ["1"], count: 2 },
          { values: ["true"], count: 2 },
          { values: ["0.5"], count: 1 },
        ]);
      });

      test("facets count combinations of the values of two fields", async () => {
        await put(
          documentOf("a", { f: ["x", "y"], g: [1] }),
          documentOf("b", { f: ["x"], g: [1, 2] }),
          documentOf("c", { f: ["x"] }),
        );
        const { facets } = await search({ facets: [{ fields: ["f", "g"], limit: 9 }] });
        expect(facets[0]).toEqual([
          { values: ["x", "1"], count: 2 },
          { values: ["x", "2"], count: 1 },
          { values: ["y", "1"], count: 1 },
        ]);
      });

      test("facets count given values, however rare, in any of several fields", async () => {
        const long = "long ".repeat(3_000);
        await put(
          documentOf("a", { f: ["x", "y"], g: ["y"], h: [1, "1"] }),
          documentOf("b", { f: ["x"], g: ["z", long], h: ["1", 2] }),
          documentOf("c", { f: ["x"], h: [true, 1] }),
          documentOf("urn:li:tag:d", { f: ["y"] }),
        );
        const asked = (among: readonly (readonly string[])[], named: string[][]) => ({
          among,
          named,
        });
        const none = ["\u{1F600}", ""].map((text) => [text]);
        const { facets } = await search({
          entityTypes: ["dataset"],
          count: 0,
          facets: [
            asked([["f"]], [["y"], ...none, ["x"]]),
            asked([["f", "g", "unheard"]], [["z"], ["y"], [long]]),
            asked([["h"]], [["1"], ["true"], ["2"]]),
            asked(
              [["f", "g"], ["h"]],
              [
                ["y", "1"],
                ["x", "true"],
                ["y", "2"],
                ["x", "1"],
              ],
            ),
            asked([["unheard"]], [["x"]]),
            asked([["f"]], []),
            { fields: ["f"], limit: 1 },
          ],
        });
        const counts = facets.map((counted) =>
          counted.map(({ values, count }) => [...values, count]),
        );
        expect(counts).toEqual([
          [
            ["y", 1],
            ["x", 3],
          ],
          [
            ["z", 1],
            ["y", 1],
            [long, 1],
          ],
          [
            ["1", 3],
            ["true", 1],
            ["2", 1],
          ],
          [
            ["y", "1", 1],
            ["x", "true", 1],
            ["x", "1", 3],
          ],
          [],
          [],
          [["x", 3]],
        ]);
        expect(
          (await search({ entityTypes: ["chart"], facets: [asked([["f"]], [["x"]])] })).facets,
        ).toEqual([[]]);
      });

      test("facets follow changes of documents", async () => {
        const facets = [{ fields: ["f"] as const, limit: 9 }];
        await put(documentOf("a", { f: ["x"] }), documentOf("b", { f: ["x", "y"] }));
        expect((await search({ facets })).facets[0]?.length).toBe(2);
        await put(documentOf("b", { f: ["x", "z", "w"] }), documentOf("c", { f: ["x"] }));
        await remove("urn:li:dataset:a");
        expect((await search({ facets })).facets[0]).toEqual([
          { values: ["x"], count: 2 },
          { values: ["w"], count: 1 },
          { values: ["z"], count: 1 },
        ]);
      });
    });

    describe("folders", () => {
      const folders = (path: string, more: Partial<SearchQuery> = {}) =>
        reader.folders({ ...query(more), field: "path", separator: "/", path });

      test("the folders of one level are returned with the number of documents in and below them", async () => {
        await put(
          documentOf("a", { path: ["/prod/hive/x"] }),
          documentOf("b", { path: ["/prod/kafka"] }),
          documentOf("c", { path: ["/dev"] }),
          documentOf("d", { path: ["/prod"] }),
          documentOf("e"),
        );
        expect(await folders("")).toMatchObject({
          folders: [
            { name: "prod", count: 3, hasFolders: true },
            { name: "dev", count: 1, hasFolders: false },
          ],
          total: 4,
        });
        expect(await folders("/prod")).toMatchObject({
          folders: [
            { name: "hive", count: 1, hasFolders: true },
            { name: "kafka", count: 1, hasFolders: false },
          ],
          total: 2,
        });
        expect(await folders("/dev")).toMatchObject({ folders: [], total: 0 });
        expect(await folders("/pro")).toMatchObject({ folders: [], total: 0 });
      });

      test("a document in several folders of a path is counted once", async () => {
        await put(
          documentOf("a", { path: ["/x/1", "/x/2", "/y"] }),
          documentOf("b", { path: ["/y"] }),
        );
        expect(await folders("")).toMatchObject({
          folders: [
            { name: "y", count: 2, hasFolders: false },
            { name: "x", count: 1, hasFolders: true },
          ],
          total: 2,
        });
      });

      test("folders are sorted by number of documents, then by name in UTF-16 code units", async () => {
        const paths = ["/b", "/\ufb03", "/\u{1F600}", "/B", "/c", "/c"];
        await put(...paths.map((path, n) => documentOf(`${n}`, { path: [path] })));
        const names = (await folders("")).folders.map((folder) => folder.name);
        expect(names).toEqual(["c", "B", "b", "\u{1F600}", "\ufb03"]);
      });

      test("folders are limited to the hits of the query, and an empty name is no folder", async () => {
        await put(
          documentOf("a", { path: ["/x/y"], f: [1] }),
          documentOf("b", { path: ["/x", "/", "//z", "/x/"] }),
          documentOf("urn:li:tag:c", { path: ["/t"] }),
        );
        const scope = { entityTypes: ["dataset"], condition: { kind: "not", not: equal("f", 1) } };
        expect(await folders("", scope as Partial<SearchQuery>)).toMatchObject({
          folders: [{ name: "x", count: 1, hasFolders: false }],
          total: 1,
        });
      });

      test("folders may have any separator", async () => {
        await put(documentOf("a", { path: ["␟urn:li:container:a/b␟c"] }));
        const asked = { ...query(), field: "path", separator: "␟" };
        const root = await reader.folders({ ...asked, path: "" });
        expect(root.folders).toEqual([
          { name: "urn:li:container:a/b", count: 1, hasFolders: true },
        ]);
        const below = await reader.folders({ ...asked, path: "␟urn:li:container:a/b" });
        expect(below.folders).toEqual([{ name: "c", count: 1, hasFolders: false }]);
      });
    });

    describe("near words", () => {
      const nearWords = async (
        asked: string | readonly string[],
        scope: Partial<SearchQuery> = {},
      ): Promise<SearchResult["nearWords"]> => {
        const nearWordsOf = [asked].flat();
        return (await search({ expression: or(), nearWordsOf, ...scope })).nearWords;
      };

      /** The near words of one word, without their counts. */
      const near = async (asked: string, scope: Partial<SearchQuery> = {}) =>
        (await nearWords(asked, scope))?.[0]?.map((one) => one.word);

      const withWords = (name: string, ...words: readonly string[]) =>
        documentOf(name, {}, [{ words }]);

      test("near words are returned for each word of a query without matches", async () => {
        await put(
          documentOf("a", {}, [{ words: ["daily", "orders"], boost: 4 }, { words: ["orders"] }]),
          documentOf("b", {}, [{ words: ["orders", "customer"], suggested: true }]),
        );
        expect(await nearWords(["ordrs", "customre", "unheard"])).toEqual([
          [{ word: "orders", distance: 1, documents: 2 }],
          [{ word: "customer", distance: 1, documents: 1 }],
          [],
        ]);
        expect(await nearWords([])).toEqual([]);
        expect(await nearWords("ordrs", { expression: word("ordrs"), count: 0 })).toHaveLength(1);
      });

      test("near words are absent if a document matches, or if they are not requested", async () => {
        await put(withWords("a", "orders"));
        const found = await search({ expression: all, nearWordsOf: ["ordrs"], start: 9 });
        expect([found.total, found.nearWords]).toEqual([1, undefined]);
        expect((await search({ expression: or() })).nearWords).toBeUndefined();
      });

      test("near words differ by an insertion, a deletion, a replacement or a swap of neighbours", async () => {
        await put(withWords("a", "order", "harvest"));
        for (const asked of [
          "oder",
          "oorder",
          "orxder",
          "orber",
          "odrer",
          "orderx",
          "orde\u{1F600}",
        ]) {
          expect(await near(asked), asked).toEqual(["order"]);
        }
        for (const asked of ["odrre", "ordxy", "orderxy", "oredrs", "harv", "borders"]) {
          expect(await near(asked), asked).toEqual([]);
        }
      });

      test("near words have the same first character", async () => {
        await put(withWords("a", "order", "\u{1F600}abc"));
        expect(await near("border")).toEqual([]);
        expect(await near("roder")).toEqual([]);
        expect(await near("\u{1F600}adc")).toEqual(["\u{1F600}abc"]);
        expect(await near("\u{1F601}abc")).toEqual([]);
      });

      test("near words are one edit away from words of 4 to 7 characters, and two from longer ones", async () => {
        await put(withWords("a", "abd", "abcdefx", "abcdefgx", "w".repeat(64), "日本語版日本語"));
        expect(await near("abc")).toEqual([]);
        expect(await near("abdd")).toEqual(["abd"]);
        expect(await near("abcdyyx")).toEqual([]);
        expect(await near("abcdyfgx")).toEqual(["abcdefgx", "abcdefx"]);
        expect(await near("abcdyyxx")).toEqual([]);
        expect(await near("abcdyygx")).toEqual(["abcdefgx"]);
        expect(await near("日本話版日本語")).toEqual(["日本語版日本語"]);
        expect(await near("日本話話日本語")).toEqual([]);
        expect(await near(`${"w".repeat(62)}x`)).toEqual(["w".repeat(64)]);
        expect(await near(`${"w".repeat(64)}x`)).toEqual([]);
      });

      test("near words are sorted by distance, then by number of documents, then by UTF-16 code unit", async () => {
        await put(
          ...["customers", "customers", "customer", "custamer", "custbmer", "custbmer"].map(
            (one, n) => withWords(`${n}`, one),
          ),
        );
        expect(await nearWords("custxmer")).toEqual([
          [
            { word: "custbmer", distance: 1, documents: 2 },
            { word: "custamer", distance: 1, documents: 1 },
            { word: "customer", distance: 1, documents: 1 },
          ],
        ]);
        expect(await near("custommers")).toEqual(["customers", "customer"]);
        await put(withWords("x", "orde\ufb03"), withWords("y", "orde\u{1F600}"));
        expect(await near("ordex")).toEqual(["orde\u{1F600}", "orde\ufb03"]);
      });

      test("a word that is a prefix of a word of a document has no near words", async () => {
        await put(withWords("a", "orders", "order"), withWords("b", "harvests"));
        expect(await near("orders")).toEqual([]);
        expect(await near("orde")).toEqual([]);
        expect(await near("harv")).toEqual([]);
      });

      test("near words come from documents that match the types and the condition of the query", async () => {
        await put(
          documentOf("a", { tags: ["x"] }, [{ words: ["orders"] }]),
          documentOf("b", { tags: ["y"] }, [{ words: ["ordrs", "ordars"] }]),
          documentOf("urn:li:chart:c", {}, [{ words: ["ordurs"] }]),
        );
        expect(await near("ordxrs", { entityTypes: ["unheard"] })).toEqual([]);
        expect(await near("ordxrs", { entityTypes: ["chart"] })).toEqual(["ordurs"]);
        expect(await near("ordrs", { condition: equal("tags", "x") })).toEqual(["orders"]);
        expect(await near("ordrs", { condition: equal("tags", "y") })).toEqual([]);
        expect(await near("ordrs", { condition: { kind: "any", any: [] } })).toEqual([]);
        const others: Condition = { kind: "not", not: equal("tags", "x") };
        expect(await near("ordxrs", { condition: others })).toEqual(["ordars", "ordrs", "ordurs"]);
      });

      test("near words come from no document that was replaced or removed", async () => {
        await put(withWords("a", "orders"), withWords("b", "harvest"), withWords("c", "harvest"));
        await put(withWords("a", "other"));
        await remove("urn:li:dataset:b");
        expect(await near("ordrs")).toEqual([]);
        expect(await nearWords("harvset")).toEqual([
          [{ word: "harvest", distance: 1, documents: 1 }],
        ]);
      });

      test("near words equal those of documents that are evaluated one by one", async () => {
        const some = fc.string({
          unit: fc.constantFrom("a", "b", "é", "\u{1F600}"),
          maxLength: 10,
        });
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.array(some.filter(Boolean), { maxLength: 6 }), { minLength: 20 }),
            fc.array(some, { minLength: 10 }),
            async (documents, nearWordsOf) => {
              await sink.reset();
              const model = createSearchModel();
              const writes = documents.map((words, n): SearchWrite => {
                const document = documentOf(`${n}`, { rows: [n % 3] }, [{ words }]);
                return { op: "put", position: position(n + 1), urn: document.urn, document };
              });
              model.apply(writes, position(writes.length));
              await apply(writes, position(writes.length));
              const asked = query({
                expression: or(),
                nearWordsOf,
                condition: equal("rows", 1, 2),
              });
              expect(await reader.search(asked)).toEqual(model.search(asked));
            },
          ),
          { numRuns: runs.histories },
        );
      });
    });

    describe("hostile input", () => {
      const hostile = [
        ...['"', '""', 'a" OR "b', "a*", "*", "-a", "+a", "(a", "a)", "{t}:a", "a^2", "~", "a:b"],
        ...[
          "AND",
          "OR",
          "NOT",
          "NEAR(a b, 2)",
          "a\u0000b",
          "\u0000",
          "\n",
          "'; DROP TABLE term; --",
        ],
        ...[
          "(.*)+$",
          "[a-z]",
          "\\",
          "\\Q",
          "\ud83d",
          "\ude00",
          "a\ud83d",
          "\u{1F600}",
          "\ufffe",
          "%",
          "_",
        ],
        ...["^", "^41", "__proto__", "constructor", "x".repeat(10_000), "日".repeat(10_000)],
      ];

      test("hostile text is searched unchanged, as a word, phrase, whole value or value", async () => {
        await put(documentOf("a", { f: ["a", "b"] }, [{ value: "a b", words: ["a", "b"] }]));
        for (const text of hostile) {
          expect(await find(word(text)), text).toEqual([]);
          expect(await find(phrase("a", text)), text).toEqual([]);
          expect(await find(whole(text)), text).toEqual([]);
          expect(await fulfilling(equal("f", text)), text).toEqual([]);
          expect(await fulfilling(equal(text, "a")), text).toEqual([]);
          expect(await find(and(word("a"), not(beginning(text)))), text).toEqual(["a"]);
          const asked = { field: text, separator: text, path: text };
          expect((await reader.folders({ ...query(), ...asked })).folders, text).toEqual([]);
        }
      });

      test("hostile text is found in documents that contain it", async () => {
        const texts = hostile.filter((text) => text.isWellFormed());
        await put(
          ...texts.map((text, n) =>
            documentOf(`${n}`, { f: [text], [text]: ["x"] }, [{ value: text, folded: text }]),
          ),
        );
        for (const [n, text] of texts.entries()) {
          expect(await find(whole(text)), text).toEqual([`${n}`]);
          expect(await fulfilling(equal("f", text)), text).toEqual([`${n}`]);
          expect(await fulfilling(equal(text, "x")), text).toEqual([`${n}`]);
          const lower = text.toLowerCase();
          const same = texts.flatMap((other, m) => (other.toLowerCase() === lower ? [`${m}`] : []));
          const condition: Condition = { kind: "like", field: "f", how: "equals", texts: [lower] };
          expect((await fulfilling(condition)).toSorted(), text).toEqual(same.toSorted());
        }
        const { facets } = await search({ facets: [{ fields: ["f"], limit: 1_000 }] });
        expect(facets[0]?.map(({ values: [value] }) => value)).toEqual(texts.toSorted());
      });

      test("a lone surrogate is equal to U+FFFD", async () => {
        const text = { value: "\ud83d", folded: "\ud83d", words: ["a\ud83d"] };
        const smile = { value: "\u{1F600}", folded: "\u{1F600}", words: ["\u{1F600}"] };
        await put(
          documentOf("a", { f: ["x\ude00"] }, [text]),
          documentOf("b", {}, [{ ...smile, suggested: true }]),
        );
        expect(await find(beginning("\ud83d"))).toEqual([]);
        expect(await find(whole("\ud83d", true))).toEqual(["a"]);
        expect(await find(beginning("\u{1F600}"))).toEqual(["b"]);
        expect(await find(word("a\ufffd"))).toEqual(["a"]);
        expect(await find(beginning("a\ud83d"))).toEqual(["a"]);
        expect(await find(whole("\ude00"))).toEqual(["a"]);
        expect(await fulfilling(equal("f", "x\ufffd"))).toEqual(["a"]);
      });

      test("words of any length are distinguished", async () => {
        const long = "w".repeat(20_000);
        await put(
          documentOf("a", {}, [{ words: [`${long}a`], suggested: true }]),
          documentOf("b", {}, [{ words: [`${long}b`, "c"] }]),
        );
        expect(await find(word(`${long}a`))).toEqual(["a"]);
        expect(await find(word(long))).toEqual([]);
        expect(await find(beginning(long))).toEqual(["a", "b"]);
        expect(await find(phrase(`${long}b`, "c"))).toEqual(["b"]);
        expect(await find(phrase(`${long}a`, "c"))).toEqual([]);
      });

      test("a query may have a thousand leaves, alternatives, values and filters", async () => {
        await put(
          documentOf("a", { f: ["v7"] }, [{ words: ["w3"] }]),
          documentOf("b", { f: ["v1023"] }, [{ words: ["w1023", "w1"] }]),
          documentOf("c"),
        );
        const many = Array.from({ length: 1_024 }, (_, n) => n);
        const any = many.map((n) => ({ word: `w${n}`, prefix: n % 2 === 0, weight: 1 }));
        expect(await find(or(...many.map((n) => word(`w${n}`))))).toEqual(["a", "b"]);
        expect(await find({ kind: "word", any })).toEqual(["a", "b"]);
        expect(await find(and(...many.map((n) => not(word(`x${n}`)))))).toEqual(["a", "b", "c"]);
        expect(await find(phrase(...many.map((n) => `w${n}`)))).toEqual([]);
        expect(await fulfilling(equal("f", ...many.map((n) => `v${n}`)))).toEqual(["a", "b"]);
        const anyOf = many.map((n) => equal(n % 2 === 0 ? "f" : `f${n}`, `v${n + 1}`));
        expect(await fulfilling({ kind: "any", any: anyOf })).toEqual(["a", "b"]);
        let nested: Expression = word("w3");
        for (let depth = 0; depth < 500; depth++)
          nested = depth % 2 === 0 ? and(nested) : or(nested);
        expect(await find(nested)).toEqual(["a"]);
      });

      test("each of 20,000 values and texts finds its document", async () => {
        const names = Array.from({ length: 20_000 }, (_, n) => `column_${n}`);
        const texts = names.map((value, n) => ({ value, words: ["column", `${n}`], boost: 0.5 }));
        await put(documentOf("wide", { columns: names }, texts), documentOf("other"));
        for (const n of [0, 999, 1_000, 11_999, 19_999]) {
          expect(await find(word(`${n}`))).toEqual(["wide"]);
          expect(await find(phrase("column", `${n}`))).toEqual(["wide"]);
          expect(await find(whole(`column_${n}`))).toEqual(["wide"]);
          expect(await fulfilling(equal("columns", `column_${n}`))).toEqual(["wide"]);
        }
        const ends: Condition = { kind: "like", field: "columns", how: "ends", texts: ["_19999"] };
        expect(await fulfilling(ends)).toEqual(["wide"]);
        expect(await find(phrase("19999", "column"))).toEqual([]);
        const [document] = await reader.documents(["urn:li:dataset:wide"]);
        expect(document?.values.columns).toEqual(names);
      });

      test("any number of words may have the same beginning", async () => {
        await put(
          ...Array.from({ length: 400 }, (_, n) =>
            documentOf(`${n}`, {}, [{ words: [`customer${n}`], boost: n % 2 === 0 ? 4 : 0.5 }]),
          ),
        );
        const { hits, total } = await search({ expression: beginning("cust", 0.5), count: 1 });
        expect([total, hits[0]?.score]).toEqual([400, 2]);
      });
    });

    describe("comparison with documents that are evaluated one by one", () => {
      async function compare(model: SearchModel, asked: SearchQuery): Promise<void> {
        const expected = model.search(asked);
        expect(await reader.search(asked)).toEqual(expected);
        const [middle] = expected.hits.slice(expected.hits.length / 2);
        if (middle === undefined) return;
        const next = { ...asked, after: middle.cursor };
        expect(await reader.search(next)).toEqual(model.search(next));
      }

      test("the view gives the same results for any query after any history", async () => {
        await fc.assert(
          fc.asyncProperty(
            searchHistories(1, 60),
            fc.array(fc.tuple(searchQueries, folderQueries), { minLength: 3, maxLength: 6 }),
            async (history, questions) => {
              await sink.reset();
              const model = createSearchModel();
              const size = Math.ceil(history.length / questions.length);
              for (const [n, [asked, folders]] of questions.entries()) {
                const writes = history.slice(n * size, (n + 1) * size);
                const upTo = writes.at(-1)?.position;
                if (upTo !== undefined) {
                  model.apply(writes, upTo);
                  await apply(writes, upTo);
                }
                await compare(model, asked);
                expect(await reader.folders(folders)).toEqual(model.folders(folders));
              }
              const urns = history.map(({ urn }) => urn);
              expect(await reader.documents(urns)).toEqual(model.documents(urns));
            },
          ),
          { numRuns: runs.histories },
        );
      });

      test("the view gives the same results for any query of many documents", async () => {
        const [documents = []] = fc.sample(corpora(1_500), { numRuns: 1, seed: 11 });
        const model = createSearchModel();
        const writes = documents.map(
          (document, n): SearchWrite => ({
            ...{ op: "put", position: position(n + 1), urn: document.urn, document },
          }),
        );
        model.apply(writes, position(writes.length));
        await apply(writes, position(writes.length));
        await fc.assert(
          fc.asyncProperty(searchQueries, folderQueries, async (asked, folders) => {
            await compare(model, asked);
            expect(await reader.folders(folders)).toEqual(model.folders(folders));
            // What is not counted is the same in the same order.
            const { hits, total } = await reader.search({ ...asked, uncounted: true });
            expect(hits).toEqual(model.search(asked).hits);
            expect(total).toBeGreaterThanOrEqual(hits.length);
          }),
          { numRuns: runs.questions },
        );
      });
    });

    test("a closed reader is unavailable, and closing it again does nothing", async () => {
      const unavailable = expect.objectContaining({ code: "unavailable" });
      const other = await place.openReader();
      await other.search(query());
      await other.close();
      await other.close();
      await expect(other.search(query())).rejects.toEqual(unavailable);
      await expect(other.documents([])).rejects.toEqual(unavailable);
      const folders = { ...query(), field: "path", separator: "/", path: "" };
      await expect(other.folders(folders)).rejects.toEqual(unavailable);
    });
  });
}
