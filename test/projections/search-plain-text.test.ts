import { describe, expect, test } from "vitest";
import { plainText } from "../../projections/search/plain-text.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";

describe("plain text of", () => {
  test.each([
    ["nothing to strip: a_b * c - d", "nothing to strip: a_b * c - d"],
    ["<p>One</p><p class='x'>two<br/>three</p>", "One  two three"],
    ["1 < 2 > 0, a<b", "1 < 2 > 0, a<b"],
    ["<!-- not said -->said", "said"],
    ["## Heading\n> quoted\n`code` and **bold**", "Heading\nquoted\ncode and bold"],
    ['[text](https://x.example/y) ![alt](a.png "title")', "text alt"],
    ["[not a link] (really)", "[not a link] (really)"],
    ["a &amp; b &lt;c&gt;&nbsp;&#39;d&#39;", "a & b <c> 'd'"],
    ["before ![](data:image/png;base64,iVBORw0KGgo=) after", "before  after"],
    ['<img src="data:image/png;base64,AAAA">', ""],
    ["__init__ stays", "__init__ stays"],
  ])("%j is %j", (text, expected) => {
    expect(plainText(text)).toBe(expected);
  });

  test("plain text of any markup is extracted in linear time", () => {
    for (const part of [
      "<",
      "<a",
      "[",
      "![",
      "[a](",
      "[a](b",
      '[a](b "',
      "data:a/b;base64,",
      "&",
      "*",
      " ",
      "\n>",
    ]) {
      const start = cpuMilliseconds();
      plainText(part.repeat(30_000));
      expect(cpuMilliseconds() - start, part).toBeLessThan(1000);
    }
  });
});
