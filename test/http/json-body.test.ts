import { describe, expect, test } from "vitest";
import { jsonContentTypes, parseJsonBody } from "../../src/http/request/body/json-body.ts";

const rejection = (hint: unknown) =>
  expect.objectContaining({ code: "malformed", message: "Cannot parse request entity", hint });
const parse = (body: string | Buffer) => parseJsonBody(Buffer.from(body));

describe("parseJsonBody", () => {
  test("returns the object", () => {
    expect(parse('{"a":"größe","b":[1]}')).toEqual({ a: "größe", b: [1] });
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  test("reads an empty body as the empty object", () => {
    expect(parse("")).toEqual({});
  });

  test.each(["[]", "null", '"a"', "7", "true"])("rejects %s, which is not an object", (body) => {
    expect(() => parse(body)).toThrowError(rejection(expect.stringContaining("must be an object")));
  });

  test.each([
    ['{"a":', "Unexpected end"],
    ["<a/>", "Unexpected token"],
    ["  ", "Unexpected end"],
    ['{"a":1,"a":2}', 'Member "a" appears twice'],
    ['{"__proto__":{"x":1}}', 'Member "__proto__" is not allowed'],
    [`${'{"a":'.repeat(200)}1${"}".repeat(200)}`, "Nested deeper than 128"],
  ])("rejects %s with the cause", (body, why) => {
    expect(() => parse(body)).toThrowError(rejection(expect.stringContaining(why)));
  });

  test("rejects bytes that are not UTF-8", () => {
    expect(() => parse(Buffer.from('{"a":"é"}', "latin1"))).toThrowError(
      rejection("The body is not UTF-8"),
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
])("%s is not read as JSON", (type) => {
  expect(jsonContentTypes.test(type)).toBe(false);
});
