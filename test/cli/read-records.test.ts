import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRecords } from "../../src/cli/client/read-records.ts";

/** The records of a text that arrives in chunks of this size. */
async function split(text: string, chunkBytes = 7): Promise<readonly string[]> {
  return Array.fromAsync(readRecords(chunksOf(Buffer.from(text), chunkBytes)));
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("the records of a file", () => {
  test("are the elements of an array", async () => {
    const text = '\n [ {"a": [1, 2]},\n  {"b": "x,]}\\"y"} , 3 ]\n';
    expect(await split(text)).toEqual(['{"a": [1, 2]}', '{"b": "x,]}\\"y"}', "3"]);
  });

  test("are the lines of a file of lines, without blank ones", async () => {
    expect(await split('{"a":1}\r\n\n  {"b":[\n{"c":3}')).toEqual(['{"a":1}', '{"b":[', '{"c":3}']);
  });

  test("are one object that spans several lines", async () => {
    expect(await split('{\n  "a": [\n    1\n  ]\n}\n')).toEqual(['{\n  "a": [\n    1\n  ]\n}']);
  });

  test("are none for an empty file, a blank one and an empty array", async () => {
    expect(await split("")).toEqual([]);
    expect(await split(" \n\n ")).toEqual([]);
    expect(await split(" [ \n ] ")).toEqual([]);
  });

  test("are found after a byte order mark", async () => {
    expect(await split('\uFEFF[{"a":1}]')).toEqual(['{"a":1}']);
  });

  test("do not depend on the layout or the ends of the chunks", async () => {
    const records = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.integer({ min: 1, max: 50 }),
        fc.nat(3),
        async (all, size, by) => {
          const array = await split(JSON.stringify(all, undefined, by), size);
          const lines = await split(all.map((record) => JSON.stringify(record)).join("\n"), size);
          const expected = JSON.parse(JSON.stringify(all));
          expect(array.map((text) => JSON.parse(text))).toEqual(expected);
          expect(lines.map((text) => JSON.parse(text))).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("a malformed file is reported after the records before the error:", () => {
  const cases: readonly (readonly [string, string, readonly string[], string])[] = [
    ["an array that does not end", '[{"a":1}, {"b":', ['{"a":1}', '{"b":'], "does not end"],
    ["an array cut off after a comma", '[{"a":1},', ['{"a":1}'], "does not end"],
    ["something after the array", '[{"a":1}] {"b":2}', ['{"a":1}'], "follows the array"],
  ];
  test.each(cases)("%s", async (_, text, expected, message) => {
    const found: string[] = [];
    const reading = (async () => {
      for await (const record of readRecords(chunksOf(Buffer.from(text), 4))) found.push(record);
    })();
    await expect(reading).rejects.toThrow(message);
    expect(found).toEqual(expected);
  });

  test("bytes that are not UTF-8", async () => {
    const reading = Array.fromAsync(
      readRecords(chunksOf(Buffer.from('{"a":"\u00e9"}', "latin1"), 99)),
    );
    await expect(reading).rejects.toThrow("not UTF-8");
  });
});
