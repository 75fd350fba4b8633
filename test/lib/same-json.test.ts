import { describe, expect, it } from "vitest";
import { sameJson } from "../../src/lib/same-json.ts";

describe("JSON values are equal", () => {
  it.each([
    ["1", "1"],
    ["null", "null"],
    ['"a"', '"a"'],
    ["[1, [2]]", "[1,[2]]"],
    ['{"a": 1, "b": {"c": []}}', '{"b": {"c": []}, "a": 1}'],
    ['{"toString": "a", "valueOf": {}}', '{"valueOf": {}, "toString": "a"}'],
    ['{"constructor": "a"}', '{"constructor": "a"}'],
    ['{"hasOwnProperty": 1}', '{"hasOwnProperty": 1}'],
  ])("%s equals %s", (one, other) => {
    expect(sameJson(JSON.parse(one), JSON.parse(other))).toBe(true);
  });

  it.each([
    ["1", "2"],
    ["0", '"0"'],
    ["null", "{}"],
    ["[]", "{}"],
    ["[1]", "[1, 2]"],
    ["[1, 2]", "[2, 1]"],
    ["{}", '{"a": null}'],
    ['{"a": null}', '{"b": null}'],
    ['{"toString": "a"}', "{}"],
    ["{}", '{"toString": "a"}'],
    ['{"toString": "a"}', '{"toString": "b"}'],
    ['{"valueOf": "a"}', '{"toString": "a"}'],
    ['{"constructor": "a"}', '{"constructor": "b"}'],
  ])("%s does not equal %s", (one, other) => {
    expect(sameJson(JSON.parse(one), JSON.parse(other))).toBe(false);
  });
});
