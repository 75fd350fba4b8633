import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { type CallerRules, readCaller } from "../../src/http/request/caller/caller.ts";

const trusted: CallerRules = { actorHeaderTrusted: true, urnNamespace: "li" };
const untrusted: CallerRules = { actorHeaderTrusted: false, urnNamespace: "li" };

/** Reads a request with these headers, in the form in which Node.js parses them. */
function read(
  lines: readonly (readonly [string, string])[],
  rules = trusted,
  subject: string | undefined = undefined,
) {
  const headers: Record<string, string> = {};
  for (const [name, value] of lines) {
    const lower = name.toLowerCase();
    headers[lower] = headers[lower] === undefined ? value : `${headers[lower]}, ${value}`;
  }
  const request = { headers, rawHeaders: lines.flat() } as unknown as IncomingMessage;
  return readCaller(request, rules, subject);
}

const rejection = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

describe("the actor of a request", () => {
  test.each([
    ["X-DataHub-Actor", "urn:li:corpuser:mira", "urn:li:corpuser:mira"],
    ["X-Service-Actor", "urn:li:corpuser:mira", "urn:li:corpuser:mira"],
    ["x-dATAHUB-aCTOR", "urn:acme:corpuser:mira", "urn:li:corpuser:mira"],
    ["X-DataHub-Actor", "mira", "urn:li:corpuser:mira"],
    ["X-DataHub-Actor", " mira@example.com ", "urn:li:corpuser:mira@example.com"],
    ["X-DataHub-Actor", Buffer.from("jürgen").toString("latin1"), "urn:li:corpuser:jürgen"],
    ["X-DataHub-Actor", "100%41", "urn:li:corpuser:100%41"],
  ])("%s: %s names %s", (name, value, actor) => {
    expect(read([[name, value]])).toEqual({ actor, idempotencyKey: undefined });
  });

  test("is undefined without a header or with an empty one", () => {
    expect(read([])).toEqual({});
    expect(read([["X-DataHub-Actor", ""]]).actor).toBeUndefined();
    expect(read([["X-DataHub-Actor", " "]], untrusted).actor).toBeUndefined();
  });

  test("may be named by both headers if they agree", () => {
    const both = (a: string, b: string) =>
      read([
        ["X-Service-Actor", a],
        ["X-DataHub-Actor", b],
      ]);
    expect(both("mira", "mira").actor).toBe("urn:li:corpuser:mira");
    expect(() => both("mira", "otto")).toThrowError(rejection("malformed", "two actors"));
    expect(() => both("mira", "")).toThrowError(rejection("malformed", "two actors"));
  });

  test("is one user, also where a proxy joined two headers", () => {
    const joined = "urn:li:corpuser:mira, urn:li:corpuser:otto";
    expect(() => read([["X-Service-Actor", joined]])).toThrowError(
      rejection("malformed", "two actors"),
    );
    expect(read([["X-Service-Actor", "Otto, Mira"]]).actor).toBe("urn:li:corpuser:Otto, Mira");
  });

  test.each([
    ["X-DataHub-Actor", "x-datahub-actor"],
    ["X-Service-Actor", "X-SERVICE-ACTOR"],
  ])("repeated in %s is rejected, in any letter case", (first, second) => {
    for (const value of ["mira", "otto"]) {
      expect(() =>
        read([
          [first, "mira"],
          [second, value],
        ]),
      ).toThrowError(rejection("malformed", `header ${first} is given twice`));
    }
  });

  test.each([
    "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)",
    "urn:li:corpGroup:admins",
    "urn:li",
    "urn:li:corpuser:",
    "a\u0001b",
    `u${"x".repeat(600)}`,
  ])("%j is rejected", (value) => {
    expect(() => read([["X-DataHub-Actor", value]])).toThrowError(
      expect.objectContaining({ code: "malformed" }),
    );
  });

  test("is rejected from callers that are not trusted to name an actor", () => {
    expect(() => read([["X-DataHub-Actor", "mira"]], untrusted)).toThrowError(
      rejection("forbidden", "actor header"),
    );
  });
});

describe("a request with a token", () => {
  const mira = "urn:li:corpuser:mira";
  const beside = (lines: readonly (readonly [string, string])[], rules = untrusted) =>
    read(lines, rules, mira).actor;

  test("has the user of the token as actor", () => {
    expect(beside([])).toBe(mira);
    expect(beside([], trusted)).toBe(mira);
    expect(beside([["X-DataHub-Actor", ""]])).toBe(mira);
    expect(beside([["Idempotency-Key", "a-1"]])).toBe(mira);
  });

  test("may name the same user in an actor header, in any spelling", () => {
    expect(beside([["X-DataHub-Actor", "mira"]])).toBe(mira);
    expect(beside([["X-Service-Actor", "urn:acme:corpuser:mira"]])).toBe(mira);
  });

  test("is rejected when an actor header names another user", () => {
    for (const rules of [trusted, untrusted]) {
      expect(() => beside([["X-DataHub-Actor", "otto"]], rules)).toThrowError(
        rejection("forbidden", "another user than the token"),
      );
    }
  });
});

describe("the idempotency key", () => {
  test("is returned", () => {
    expect(read([["Idempotency-Key", "a-1"]])).toEqual({
      actor: undefined,
      idempotencyKey: "a-1",
    });
    expect(read([["Idempotency-Key", "k".repeat(255)]], untrusted).idempotencyKey).toHaveLength(
      255,
    );
  });

  test("is rejected when it is empty or too long", () => {
    expect(() => read([["Idempotency-Key", ""]])).toThrowError(
      rejection("malformed", "0 characters"),
    );
    expect(() => read([["Idempotency-Key", "k".repeat(256)]])).toThrowError(
      rejection("malformed", "256 characters; at most 255 are allowed"),
    );
  });
});
