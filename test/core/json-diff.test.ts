/** The difference of two JSON values turns the first into the second. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonDiffOperation, jsonDiff } from "../../src/core/patch/json-diff.ts";

// biome-ignore lint/suspicious/noExplicitAny: any JSON.
type Any = any;

/** RFC 6902, as far as differences need it. */
function apply(document: Any, operations: readonly JsonDiffOperation[]): Any {
  const root = { whole: structuredClone(document) };
  for (const { op, path, value } of operations) {
    const names = ["whole", ...path.split("/").slice(1)].map((name) =>
      name.replaceAll("~1", "/").replaceAll("~0", "~"),
    );
    const last = names.pop() ?? "";
    const holder = names.reduce((at: Any, name) => at[name], root);
    if (Array.isArray(holder) && last === "-") holder.push(value);
    else if (Array.isArray(holder) && op === "remove") holder.splice(Number(last), 1);
    else if (op === "remove") delete holder[last];
    else holder[last] = value;
  }
  return root.whole;
}

test("applying the difference of two values to the first gives the second", () => {
  // A member with that name is a prototype to the small function above.
  const json = fc.jsonValue({ noUnicodeString: true } as object);
  const plain = json.filter((value) => !JSON.stringify(value).includes("__proto__"));
  fc.assert(
    fc.property(plain, plain, (before, after) => {
      const operations = jsonDiff(before, after);
      expect(JSON.stringify(apply(before, operations)) === undefined).toBe(false);
      expect(apply(before, operations)).toEqual(after);
    }),
    { numRuns: 300 },
  );
});

test("a difference has only the paths that differ", () => {
  expect(jsonDiff({ a: [1, 2, 3], "b/c": { d: 1 } }, { a: [1, 4], "b/c": { d: 1, e: 2 } })).toEqual(
    [
      { op: "replace", path: "/a/1", value: 4 },
      { op: "remove", path: "/a/2" },
      { op: "add", path: "/b~1c/e", value: 2 },
    ],
  );
});
