import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { type CallerRules, readCaller } from "../../src/http/request/caller/caller.ts";

const trusted: CallerRules = { actorHeaderTrusted: true, urnNamespace: "li" };
const untrusted: CallerRules = { actorHeaderTrusted: false, urnNamespace: "li" };

/** A request with these headers, read as node reads them. */
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

const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

describe("the actor", () => {
  test.each([
    ["X-DataHub-Actor", "urn:li:corpuser:mira", "urn:li:corpuser:mira"],
    ["X-Service-Actor", "urn:li:corpuser:mira", "urn:li:corpuser:mira"],
    ["x-dATAHUB-aCTOR", "urn:acme:corpuser:mira", "urn:li:corpuser:mira"],
    ["X-DataHub-Actor", "mira", "urn:li:corpuser:mira"],
    ["X-DataHub-Actor", " mira@example.com ", "urn:li:corpuser:mira@example.com"],
    ["X-DataHub-Actor", Buffer.from("jürgen").toString("latin1"), "urn:li:corpuser:jürgen"],
    ["X-DataHub-Actor", "100%41", "urn:li:corpuser:100%41"],
  ])("%s: %s is %s", (name, value, actor) => {
    expect(read([[name, value]])).toEqual({ actor, idempotencyKey: undefined });
  });

  test("is nobody without a header, or with an empty one", () => {
    expect(read([])).toEqual({});
    expect(read([["X-DataHub-Actor", ""]]).actor).toBeUndefined();
    expect(read([["X-DataHub-Actor", " "]], untrusted).actor).toBeUndefined();
  });

  test("may be told by both headers, if they agree", () => {
    const both = (a: string, b: string) =>
      read([
        ["X-Service-Actor", a],
        ["X-DataHub-Actor", b],
      ]);
    expect(both("mira", "mira").actor).toBe("urn:li:corpuser:mira");
    expect(() => both("mira", "otto")).toThrowError(refused("malformed", "two actors"));
    expect(() => both("mira", "")).toThrowError(refused("malformed", "two actors"));
  });

  test("is one, also where two headers were joined on the way", () => {
    const joined = "urn:li:corpuser:mira, urn:li:corpuser:otto";
    expect(() => read([["X-Service-Actor", joined]])).toThrowError(
      refused("malformed", "two actors"),
    );
    expect(read([["X-Service-Actor", "Otto, Mira"]]).actor).toBe("urn:li:corpuser:Otto, Mira");
  });

  test.each([
    ["X-DataHub-Actor", "x-datahub-actor"],
    ["X-Service-Actor", "X-SERVICE-ACTOR"],
  ])("told twice by %s is refused, in any letter case", (first, second) => {
    for (const value of ["mira", "otto"]) {
      expect(() =>
        read([
          [first, "mira"],
          [second, value],
        ]),
      ).toThrowError(refused("malformed", `header ${first} is given twice`));
    }
  });

  test.each([
    "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)",
    "urn:li:corpGroup:admins",
    "urn:li",
    "urn:li:corpuser:",
    "a\u0001b",
    `u${"x".repeat(600)}`,
  ])("%j is refused", (value) => {
    expect(() => read([["X-DataHub-Actor", value]])).toThrowError(
      expect.objectContaining({ code: "malformed" }),
    );
  });

  test("is refused from callers that are not trusted to name it", () => {
    expect(() => read([["X-DataHub-Actor", "mira"]], untrusted)).toThrowError(
      refused("forbidden", "actor header"),
    );
  });
});

describe("beside a token", () => {
  const mira = "urn:li:corpuser:mira";
  const beside = (lines: readonly (readonly [string, string])[], rules = untrusted) =>
    read(lines, rules, mira).actor;

  test("the actor is the token's user, whoever may name one", () => {
    expect(beside([])).toBe(mira);
    expect(beside([], trusted)).toBe(mira);
    expect(beside([["X-DataHub-Actor", ""]])).toBe(mira);
    expect(beside([["Idempotency-Key", "a-1"]])).toBe(mira);
  });

  test("a header may say the same, in any spelling", () => {
    expect(beside([["X-DataHub-Actor", "mira"]])).toBe(mira);
    expect(beside([["X-Service-Actor", "urn:acme:corpuser:mira"]])).toBe(mira);
  });

  test("a header that names another is refused, trusted or not", () => {
    for (const rules of [trusted, untrusted]) {
      expect(() => beside([["X-DataHub-Actor", "otto"]], rules)).toThrowError(
        refused("forbidden", "another user than the token"),
      );
    }
  });
});

describe("the idempotency key", () => {
  test("is passed on", () => {
    expect(read([["Idempotency-Key", "a-1"]])).toEqual({
      actor: undefined,
      idempotencyKey: "a-1",
    });
    expect(read([["Idempotency-Key", "k".repeat(255)]], untrusted).idempotencyKey).toHaveLength(
      255,
    );
  });

  test("is refused when it is empty or too long", () => {
    expect(() => read([["Idempotency-Key", ""]])).toThrowError(
      refused("malformed", "0 characters"),
    );
    expect(() => read([["Idempotency-Key", "k".repeat(256)]])).toThrowError(
      refused("malformed", "256 characters of at most 255"),
    );
  });
});
