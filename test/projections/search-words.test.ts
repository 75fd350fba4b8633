import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  foldText,
  SEPARATOR,
  tokenPartsMax,
  tokensOf,
  wordCharsMax,
  wordsCharsMax,
  wordsOf,
} from "../../projections/search/words.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";

const words = (text: string): string => wordsOf(text).join(" ");

describe("the words of a text", () => {
  test.each([
    ["", ""],
    [" \t\n-_./:(),;!?'\"[]{}", ""],
    ["orders_by-day", "orders by day"],
    ["a.b/c:d(e),f", "a b c d e f"],
    ["/prod/hive/2024-01-31", "prod hive 2024 01 31"],
    ["userEvents", "user events ␟ userevents"],
    ["UserEvents", "user events ␟ userevents"],
    ["HTTPServer", "http server ␟ httpserver"],
    ["theURLs, IDs", "the urls ids ␟ theurls"],
    ["URLscan", "ur lscan ␟ urlscan"],
    ["parseXMLToJson", "parse xml to json ␟ parsexmltojson"],
    ["v2 s3bucket", "v 2 s 3 bucket ␟ v2 s3bucket"],
    ["userEvents of tableData", "user events of table data ␟ userevents ␟ tabledata"],
    ["SHOUTED", "shouted"],
    ["Crème Brûlée", "creme brulee"],
    [
      "Straße, Łódź, Sørland, Æsir ÆSIR, ﬁsh, Ｆｕｌｌ",
      "strasse lodz sorland aesir aesir fish full",
    ],
    ["Ὀδυσσεύς ΟΔΟΣ", "οδυσσευσ οδοσ"],
    ["Привет, ёлка, Йод", "привет ёлка йод"],
    ["ПриветМир", "привет мир ␟ приветмир"],
    ["हिन्दी में", "हिन्दी में"],
    ["서울에서 만나요", "서울에서 만나요"],
    ["שָׁלוֹם مرحبا", "שָׁלוֹם مرحبا"],
    ["東京都", "東 京 都"],
    ["データが", "デ ー タ が"],
    ["ﾃﾞｰﾀ", "デ ー タ"],
    ["iPhone手机15", "i phone 手 机 15 ␟ iphone"],
    ["🚀 launch ❤️", "🚀 launch ❤"],
    ["🇩🇪🇫🇷", "🇩🇪 🇫🇷"],
    ["soft\u00adhyphen zero\u200bwidth", "softhyphen zero width"],
    ["urn:li:tag:pii", "pii"],
    ["urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)", "hive a b prod"],
    ["see urn:acme:corpuser:ada", "see ada"],
    ["an urn: li, and turn:left:at:x", "an urn li and turn left at x"],
    ["\ud800 lonely \udc00", "lonely"],
  ])("the words of %j are %j", (text, expected) => {
    expect(words(text)).toBe(expected);
  });

  test("a checksum is a single word, and a token of fewer parts several words", () => {
    const checksum = "b5e95fce839e7d78151ed7e0a7420d84";
    expect(words(checksum)).toBe(checksum);
    const parts = (count: number) => "a1".repeat(count).slice(0, count);
    expect(wordsOf(parts(tokenPartsMax))).toHaveLength(tokenPartsMax + 2);
    expect(wordsOf(parts(tokenPartsMax + 1))).toEqual([parts(tokenPartsMax + 1)]);
  });

  test("words are cut at their limit, but not within a character", () => {
    expect(words("x".repeat(wordCharsMax))).toBe("x".repeat(wordCharsMax));
    expect(words("x".repeat(1000))).toBe("x".repeat(wordCharsMax));
    // An Old Italic letter has two code units.
    expect(words(`x${"𐌀".repeat(100)}`)).toBe(`x${"𐌀".repeat(wordCharsMax / 2 - 1)}`);
  });

  test("a very long text has the words of its beginning", () => {
    const text = "word ".repeat(wordsCharsMax);
    expect(wordsOf(text)).toHaveLength(wordsCharsMax / 5);
  });

  test("words are split in linear time, for any text", () => {
    for (const text of ["urn:", "urn:a:", "a1", "aA", "東", "🇩", "é", "\u0301", "e\u0301"]) {
      const start = cpuMilliseconds();
      wordsOf(text.repeat(1_000_000));
      expect(cpuMilliseconds() - start, text).toBeLessThan(2000);
    }
  });
});

describe("a token of a query", () => {
  test("a token has its parts and its joined form", () => {
    expect(tokensOf("userEvents_v2 東京 b5")).toEqual([
      { parts: ["user", "events"], joined: "userevents" },
      { parts: ["v", "2"], joined: "v2" },
      { parts: ["東", "京"], joined: undefined },
      { parts: ["b", "5"], joined: "b5" },
    ]);
  });
});

describe("a folded text", () => {
  test.each([
    ["Orders By-Day", "orders by-day"],
    ["Crème Brûlée", "creme brulee"],
    ["ΟΔΟΣ", "οδοσ"],
    ["İstanbul", "istanbul"],
  ])("%j folds to %j", (text, expected) => {
    expect(foldText(text)).toBe(expected);
  });
});

/** Texts of all scripts, with characters that separate and join words. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."abzABZ019 _-./:(),sS"),
    fc.constantFrom(
      ..."éßΣςİıŁǅﬁ東京あアｱกำहि́한ё\u200d\u00ad\ufe0f\u0301🚀🇩",
      "urn:li:tag:",
      "👨‍👩‍👧",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
});

const contains = (all: readonly string[], phrase: readonly string[]): boolean =>
  all.some((_, start) => phrase.every((word, index) => all[start + index] === word));

describe("for any text,", () => {
  test("its words are letters, digits and non-ASCII characters, lower-case and of bounded length", () => {
    fc.assert(
      fc.property(text, (whole) => {
        for (const word of wordsOf(whole)) {
          expect(word).toMatch(/^(?:[a-z0-9]|[^\p{ASCII}])+$/u);
          expect(word.length).toBeLessThanOrEqual(wordCharsMax);
          expect(word.isWellFormed()).toBe(true);
          expect(word).toBe(word.toLowerCase());
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("each of its words is a single word by itself", () => {
    fc.assert(
      fc.property(text, (whole) => {
        for (const { parts, joined } of tokensOf(whole)) {
          for (const part of parts) expect(wordsOf(part)).toContain(part);
          if (joined !== undefined) expect(wordsOf(joined)).toContain(joined);
          if (parts.length > 1) for (const part of parts) expect(wordsOf(part)).toEqual([part]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("a query with its words matches: each token joined, or its parts as a phrase", () => {
    fc.assert(
      fc.property(text, text, (before, asked) => {
        const all = wordsOf(`${before} ${asked}`);
        for (const { parts, joined } of tokensOf(asked)) {
          expect(contains(all, parts)).toBe(true);
          if (joined !== undefined) expect(all).toContain(joined);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("a text matches queries in any letter case, by its joined tokens", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."abAB12 _"), maxLength: 30 }), (whole) => {
        const all = wordsOf(whole);
        for (const { joined } of tokensOf(whole.toUpperCase())) expect(all).toContain(joined);
        for (const { joined } of tokensOf(whole.toLowerCase())) expect(all).toContain(joined);
      }),
      { numRuns: 1000 },
    );
  });

  test("a query has no separator, and folding again changes nothing", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const asked = tokensOf(whole + SEPARATOR + whole).flatMap(({ parts, joined }) => [
          ...parts,
          joined,
        ]);
        expect(asked).not.toContain(SEPARATOR);
        expect(foldText(foldText(whole))).toBe(foldText(whole));
      }),
      { numRuns: 2000 },
    );
  });
});
