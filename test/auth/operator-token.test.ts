import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openOperatorToken } from "../../src/auth/tokens/operator-token.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory("annals-token");
});
afterEach(() => directory[Symbol.dispose]());

const logger = { warn: () => {} };
const open = (given = "") => openOperatorToken({ data: directory.path, given, logger });
const own = () => join(directory.path, "operator.token");
const refused = (message: RegExp) =>
  expect.objectContaining({ code: "invalid", message: expect.stringMatching(message) });

describe("the directory's own token", () => {
  test("is made once, random, and for its owner's eyes only", () => {
    const { made, file, admits } = open();
    expect({ made, file }).toEqual({ made: true, file: own() });
    expect(statSync(own()).mode & 0o777).toBe(0o600);
    const token = readFileSync(own(), "utf8").trim();
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(admits(`Bearer ${token}`)).toBe(true);
    expect(admits(`bearer  ${token} `)).toBe(true);
    const again = open();
    expect(again.made).toBe(false);
    expect(again.admits(`Bearer ${token}`)).toBe(true);
    using other = temporaryDirectory("annals-token");
    expect(
      openOperatorToken({ data: other.path, given: "", logger }).admits(`Bearer ${token}`),
    ).toBe(false);
  });

  test("admits nothing but itself", () => {
    const { admits } = open();
    const token = readFileSync(own(), "utf8").trim();
    const wrong = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      token,
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token.toUpperCase()}`,
      `x Bearer ${token}`,
    ];
    for (const authorization of wrong) expect(admits(authorization)).toBe(false);
  });

  test.each(["", "short", "with a blank in it that is long", "with\nanother line in the file"])(
    "is refused when the file holds %j",
    (text) => {
      writeFileSync(own(), text);
      expect(() => open()).toThrow(refused(/holds no token/));
    },
  );
});

describe("a token that somebody else keeps", () => {
  test("is read from its file, and none is made", () => {
    const file = join(directory.path, "secret");
    writeFileSync(file, "a-token-of-sixteen\n", { mode: 0o600 });
    const { made, admits } = open(file);
    expect(made).toBe(false);
    expect(admits("Bearer a-token-of-sixteen")).toBe(true);
    expect(() => statSync(own())).toThrow();
  });

  test("must be there, and a token", () => {
    expect(() => open(join(directory.path, "nowhere"))).toThrow(refused(/cannot read/));
    const file = join(directory.path, "secret");
    writeFileSync(file, "short", { mode: 0o600 });
    expect(() => open(file)).toThrow(refused(/holds no token/));
  });
});

test("a directory that cannot be written is said so", () => {
  const missing = join(directory.path, "missing");
  expect(() => openOperatorToken({ data: missing, given: "", logger })).toThrow(
    refused(/cannot read or create the file/),
  );
  chmodSync(directory.path, 0o700);
});
