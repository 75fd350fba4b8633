import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery } from "../../src/http/request/query.ts";

const list = (raw: string, form = false) => parseQuery(raw, form).list("a");
const orders = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
const encoded = encodeURIComponent(orders);

describe("a list parameter", () => {
  test.each([
    ["a=x", ["x"]],
    ["a=x&a=y", ["x", "y"]],
    ["a[0]=x&a[1]=y", ["x", "y"]],
    ["a=List(x,y)", ["x", "y"]],
    ["a=List(x)&a=y", ["x", "y"]],
    ["a=List()", []],
    ["a=List('')", [""]],
    ["a=''", [""]],
    ["a=", [""]],
    ["a", [""]],
    ["b=x&a=x&c", ["x"]],
    ["&&a=x&", ["x"]],
    ["a=List%28x%2Cy%29", ["x", "y"]],
    ["a=List(x%2Cy,z)", ["x,y", "z"]],
    ["a=List(x%252Cy)", ["x%2Cy"]],
    ["a=List(x%28,%29y)", ["x(", ")y"]],
    [`a=List(${encoded},urn%3Ali%3Atag%3Ab)`, [orders, "urn:li:tag:b"]],
    [`a=List(${orders},urn:li:tag:b)`, [orders, "urn:li:tag:b"]],
    [`a=${orders}`, [orders]],
    ["a=List(x),y)", ["x)", "y"]],
    ["a=x=y", ["x=y"]],
    ["%61=x", ["x"]],
  ])("%s is parsed", (raw, expected) => {
    expect(list(raw)).toEqual(expected);
  });

  test("is undefined when it is absent", () => {
    expect(list("")).toBeUndefined();
    expect(list("b=x")).toBeUndefined();
  });

  test.each([
    ["a=List(x", "List(x"],
    ["a=List(", "List("],
    ["a=List(x,urn:li:chart:(looker,b", "List(x,urn:li:chart:(looker,b"],
    ["a=y&a=List(x", "List(x"],
    ["a=List%28x%2Cy", "List(x,y"],
  ])("%s is rejected, because it is not closed", (raw, named) => {
    expect(() => list(raw)).toThrowError(
      expect.objectContaining({
        code: "malformed",
        message: `the list of parameter "a" is not closed: "${named}"`,
      }),
    );
  });

  test("decodes + as a blank only in the form encoding", () => {
    expect(list("a=List(x+y,z%2B)", true)).toEqual(["x y", "z+"]);
    expect(list("a=List(x+y)")).toEqual(["x+y"]);
  });

  test("returns elements that were encoded one by one", () => {
    const element = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((s) => s.isWellFormed() && s !== "''");
    // encodeURIComponent does not encode ( ) ', which the protocol requires.
    const encode = (s: string) =>
      encodeURIComponent(s).replace(/[()']/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    fc.assert(
      fc.property(fc.array(element), (elements) => {
        expect(list(`a=List(${elements.map(encode).join(",")})`)).toEqual(elements);
      }),
    );
  });
});

describe("a single parameter", () => {
  test("is decoded once", () => {
    expect(parseQuery("v=a%252Cb&w=%2B1", false).one("v")).toBe("a%2Cb");
    expect(parseQuery("v=a%252Cb&w=%2B1", false).one("w")).toBe("+1");
    expect(parseQuery("", false).one("v")).toBeUndefined();
  });

  test("a parameter that is repeated with one value has that value", () => {
    expect(parseQuery("v=1&v=1", false).one("v")).toBe("1");
    expect(parseQuery("v=%31&v=1", false).one("v")).toBe("1");
  });

  test("a parameter with two different values is rejected", () => {
    expect(() => parseQuery("v=1&v=2", false).one("v")).toThrowError(
      expect.objectContaining({ code: "malformed", message: 'parameter "v" is given 2 times' }),
    );
  });

  test("is rejected only when it is read and not UTF-8", () => {
    const query = parseQuery("v=%ff&w=1", false);
    expect(query.one("w")).toBe("1");
    expect(() => query.one("v")).toThrowError(expect.objectContaining({ code: "malformed" }));
  });
});
