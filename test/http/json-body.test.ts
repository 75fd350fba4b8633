import { describe, expect, test } from "vitest";
import { jsonContentTypes, parseJsonBody } from "../../src/http/request/body/json-body.ts";

const refused = (hint: unknown) =>
  expect.objectContaining({ code: "malformed", message: "Cannot parse request entity", hint });
const parse = (body: string | Buffer) => parseJsonBody(Buffer.from(body));

describe("parseJsonBody", () => {
  test("gives the object that the text is", () => {
    expect(parse('{"a":"größe","b":[1]}')).toEqual({ a: "größe", b: [1] });
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  test("takes nothing as the empty object", () => {
    expect(parse("")).toEqual({});
  });

  test.each(["[]", "null", '"a"', "7", "true"])("refuses %s: it is no object", (body) => {
    expect(() => parse(body)).toThrowError(refused(expect.stringContaining("must be an object")));
  });

  test.each([
    ['{"a":', "Unexpected end"],
    ["<a/>", "Unexpected token"],
    ["  ", "Unexpected end"],
    ['{"a":1,"a":2}', 'Member "a" appears twice'],
    ['{"__proto__":{"x":1}}', 'Member "__proto__" is not allowed'],
    [`${'{"a":'.repeat(200)}1${"}".repeat(200)}`, "Nested deeper than 128"],
  ])("refuses %s and says why", (body, why) => {
    expect(() => parse(body)).toThrowError(refused(expect.stringContaining(why)));
  });

  test("rejects bytes that are not UTF-8", () => {
    expect(() => parse(Buffer.from('{"a":"é"}', "latin1"))).toThrowError(
      refused("The body is not UTF-8"),
    );
  });
});

test.each([
  "application/json",
  "application/json; charset=utf-8",
  "APPLICATION/JSON",
  "application/vnd.acme.v1+json",
  "application/json-patch+json; x=y",
  "text/plain",
  "text/plain;charset=UTF-8",
  "application/x-www-form-urlencoded",
])("%s is read as JSON", (type) => {
  expect(jsonContentTypes.test(type)).toBe(true);
});

test.each([
  "text/html",
  "application/jsonx",
  "multipart/form-data; boundary=x",
  "application/xml",
  "json",
])("%s is not", (type) => {
  expect(jsonContentTypes.test(type)).toBe(false);
});
