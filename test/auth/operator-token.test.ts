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
const open = (configuredFile = "") =>
  openOperatorToken({ data: directory.path, configuredFile, logger });
const own = () => join(directory.path, "operator.token");
const rejected = (message: RegExp) =>
  expect.objectContaining({ code: "invalid", message: expect.stringMatching(message) });

describe("the admin token of the data directory", () => {
  test("is created once, random, in a file that only its owner may read", () => {
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
      openOperatorToken({ data: other.path, configuredFile: "", logger }).admits(`Bearer ${token}`),
    ).toBe(false);
  });

  test("no other authorization header is accepted", () => {
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
    "a file that holds %j is rejected",
    (text) => {
      writeFileSync(own(), text);
      expect(() => open()).toThrow(rejected(/holds no token/));
    },
  );
});

describe("an admin token file that the configuration names", () => {
  test("is read, and no other token is created", () => {
    const file = join(directory.path, "secret");
    writeFileSync(file, "a-token-of-sixteen\n", { mode: 0o600 });
    const { made, admits } = open(file);
    expect(made).toBe(false);
    expect(admits("Bearer a-token-of-sixteen")).toBe(true);
    expect(() => statSync(own())).toThrow();
  });

  test("must exist and hold a token", () => {
    expect(() => open(join(directory.path, "nowhere"))).toThrow(rejected(/cannot read/));
    const file = join(directory.path, "secret");
    writeFileSync(file, "short", { mode: 0o600 });
    expect(() => open(file)).toThrow(rejected(/holds no token/));
  });
});

test("a data directory that cannot be written is reported", () => {
  const missing = join(directory.path, "missing");
  expect(() => openOperatorToken({ data: missing, configuredFile: "", logger })).toThrow(
    rejected(/cannot read or create the file/),
  );
  chmodSync(directory.path, 0o700);
});
