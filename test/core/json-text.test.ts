import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findHazard, jsonDepthMax, readJson } from "../../src/core/json-text.ts";

const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const fault = (text: string): string => {
  const read = readJson(text);
  return read.ok ? "" : read.fault;
};

describe("readJson", () => {
  test("readJson returns the value of JSON.parse for any value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes("__proto__") && !text.includes("prototype"));
        expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  test("readJson never throws, and agrees with JSON.parse on invalid text", () => {
    const pieces = ['"', "\\", "{", "}", "[", "]", ":", ",", "a", "1", "null", " ", '"a"', '\\"'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        const read = readJson(text);
        if (read.ok) expect(read.value).toEqual(JSON.parse(text));
        else expect(read.fault).not.toBe("");
      }),
      { numRuns: 2000 },
    );
  });

  test("an error states the cause and the position", () => {
    expect(fault('{"a": ')).toBe("Unexpected end of JSON input");
    expect(fault('{"a" 1}')).toContain("position 5");
    expect(fault('{"a": nope}')).toContain("nope");
  });

  test("nesting is accepted up to the limit", () => {
    expect(readJson(nested(jsonDepthMax)).ok).toBe(true);
    expect(fault(nested(jsonDepthMax + 1))).toBe(
      `Nested deeper than ${jsonDepthMax} levels at position ${jsonDepthMax}`,
    );
    // No value is built from it: a million levels cost the pass 129 characters.
    expect(fault("[".repeat(1_000_000))).toContain("Nested deeper");
  });
});

describe("the limit on members", () => {
  test.each([
    ["[]", 0],
    ["{ }", 0],
    ["[\n]", 0],
    ["1", 0],
    ["[1]", 1],
    ["[1,2,3]", 3],
    ["[{},{},{}]", 3],
    ['{"a":1}', 1],
    ['{"a":[1,2],"b":{"c":"x,y"}}', 5],
    ['[[[]], ["[,]"] ]', 4],
  ])("%s has %i members", (text, count) => {
    const limits = (membersMax: number) => ({ depthMax: 10, membersMax });
    expect(readJson(text, limits(count)).ok).toBe(true);
    if (count === 0) return;
    expect(readJson(text, limits(count - 1))).toEqual({
      ok: false,
      code: "too_large",
      fault: expect.stringContaining(`more than ${count - 1} members`),
    });
  });

  test("the limit counts the members of any value", () => {
    const members = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? Object.values(value).reduce((sum: number, one) => sum + 1 + members(one), 0)
        : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value, null, 1);
        fc.pre(!text.includes("__proto__") && !text.includes("prototype"));
        const count = members(value);
        expect(readJson(text, { depthMax: 128, membersMax: count }).ok).toBe(true);
        if (count > 0) {
          expect(readJson(text, { depthMax: 128, membersMax: count - 1 }).ok).toBe(false);
        }
      }),
    );
  });

  test("a smaller depth than the default can be set", () => {
    expect(readJson("[[[]]]", { depthMax: 2, membersMax: 10 })).toEqual({
      ok: false,
      code: "malformed",
      fault: "Nested deeper than 2 levels at position 2",
    });
  });
});

describe("duplicate members", () => {
  test.each([
    ['{"a":1,"a":2}', "a", 7],
    ['{"x":{"a":1,"b":{},"a":2}}', "a", 19],
    ['[{"a":1},{"b":1,"b":1}]', "b", 16],
    ['{"a":1,"\\u0061":2}', "a", 7],
    ['{"\\u0061":1,"a":2}', "a", 12],
    ['{"":1,"":2}', "", 6],
    ['{"é\\"x":1,"é\\"x":2}', 'é"x', 10],
  ])("a duplicate in %s is found", (text, member, offset) => {
    expect(findHazard(text)).toEqual({ kind: "duplicate", member, offset });
    expect(fault(text)).toBe(
      `Member ${JSON.stringify(member)} appears twice in one object at position ${offset}`,
    );
  });

  test.each([
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1,\\"a\\":1"}',
    '{"a":["a","a"],"b":"a"}',
    '{"a":{},"b":1}',
  ])("%s has no duplicate", (text) => {
    expect(findHazard(text)).toBeUndefined();
  });

  test("duplicates are found in objects of any size, at any position", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 6 }), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.nat(),
        (names, pick) => {
          fc.pre(!names.includes("__proto__"));
          const members = names.map((name) => `${JSON.stringify(name)}:1`);
          expect(findHazard(`{${members.join(",")}}`)).toBeUndefined();
          const again = names[pick % names.length] ?? "";
          const text = `{${[...members, `${JSON.stringify(again)}:2`].join(",")}}`;
          expect(findHazard(text)).toMatchObject({ kind: "duplicate", member: again });
        },
      ),
    );
  });

  test("members with equal hashes are distinguished", () => {
    // "Aa" and "BB" have one hash under multiplication by 31.
    expect(findHazard('{"Aa":1,"BB":2}')).toBeUndefined();
    expect(findHazard('{"Aa":1,"BB":2,"Aa":3}')).toMatchObject({ member: "Aa" });
  });
});

describe("member names that reach prototypes", () => {
  test.each([
    ['{"__proto__":{}}', "__proto__", 1],
    ['{"a":[{"b":{"__proto__":1}}]}', "__proto__", 12],
    ['{"\\u005f_proto__":1}', "__proto__", 1],
    ['{"constructor":{"prototype":{}}}', "constructor.prototype", 16],
    ['{"constructor" : {"a":1,"prototype":1}}', "constructor.prototype", 24],
  ])("%s is rejected", (text, member, offset) => {
    expect(findHazard(text)).toEqual({ kind: "prototype", member, offset });
    expect(fault(text)).toBe(`Member "${member}" is not allowed at position ${offset}`);
  });

  test.each([
    '{"constructor":"Brunel"}',
    '{"prototype":{"constructor":1}}',
    '{"constructor":1,"b":{"prototype":1}}',
    '{"constructor":[{"prototype":1}]}',
    '{"a":"__proto__"}',
    '["__proto__"]',
  ])("%s is accepted", (text) => {
    expect(findHazard(text)).toBeUndefined();
  });
});
