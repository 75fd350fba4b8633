/** The keys that sign tokens: created, configured, and rotated with overlap. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openKeys } from "../../src/auth/tokens/key-file.ts";
import { createTokenFormat } from "../../src/auth/tokens/token-format.ts";
import { makeToken, ROOT } from "../graphql/graphql-client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { guardedService, whoIs } from "./guarded-service.ts";

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

const logger = { warn: () => {} };
const one = "one-key-that-is-long-enough-to-be-one";
const two = "two-keys-that-are-long-enough-to-be-some";

function keysIn(...lines: readonly string[]) {
  const file = join(directory.path, "keys");
  writeFileSync(file, lines.join("\n"), { mode: 0o600 });
  return openKeys({ name: "signing.key", data: directory.path, configuredFile: file, logger });
}
const formatWith = (...lines: readonly string[]) =>
  createTokenFormat(keysIn(...lines), { namespace: "li" });

describe("the key of a data directory", () => {
  test("the key is created at the first start, readable by its owner only, and stays", () => {
    mkdirSync(directory.path, { recursive: true });
    const place = { data: directory.path, configuredFile: "", logger };
    const { file, current } = openKeys({ name: "signing.key", ...place });
    expect(file).toBe(join(directory.path, "signing.key"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8").trim()).toHaveLength(43);
    expect(openKeys({ name: "signing.key", ...place }).current).toEqual(current);
  });
});

describe("keys rotate with overlap", () => {
  const claims = { type: "PERSONAL", actor: "urn:li:corpuser:mina" } as const;

  test("the first key signs, all keys verify, and removed keys do not", async () => {
    const now = Date.now();
    const old = await formatWith(one).sign(claims, now);
    const both = formatWith(two, "", `  ${one}  `);
    const fresh = await both.sign(claims, now);
    expect(await both.verify(old, now)).toMatchObject({ ok: true, claims });
    expect(await formatWith(two).verify(fresh, now)).toMatchObject({ ok: true });
    expect(await formatWith(two).verify(old, now)).toEqual({ ok: false, why: "foreign" });
    expect(await formatWith(one).verify(fresh, now)).toEqual({ ok: false, why: "foreign" });
  });

  test("a token is valid up to its last millisecond", async () => {
    const format = formatWith(one);
    const now = 1_772_409_600_000;
    const token = await format.sign({ ...claims, expiresAt: now + 1000 }, now);
    expect(await format.verify(token, now + 999)).toMatchObject({ ok: true });
    expect(await format.verify(token, now + 1000)).toEqual({ ok: false, why: "expired" });
  });
});

test("tokens outlive the rotation of keys, and end with the key that signed them", async () => {
  const file = join(directory.path, "keys");
  writeFileSync(file, one, { mode: 0o600 });
  await using service = await guardedService({ signingKeyFile: file });
  const made = () => makeToken(service.client, {}, service.operator);
  const old = (await made()).token;
  await service.restart(async () => writeFileSync(file, `${two}\n${one}\n`));
  const young = (await made()).token;
  expect([await whoIs(service.client, old), await whoIs(service.client, young)]).toEqual([
    ROOT,
    ROOT,
  ]);
  await service.restart(async () => writeFileSync(file, two));
  expect([await whoIs(service.client, old), await whoIs(service.client, young)]).toEqual([
    401,
    ROOT,
  ]);
});

test.each([
  ["is empty", []],
  ["contains a line that is not a key", ["short"]],
  ["contains a line that is not a key", [one, "with blanks in it, though it is long enough"]],
  ["contains a key that is public", ["WnEdIeTG/VVCLQqGwC/BAkqyY0k+H8NEAtWGejrBI94="]],
  ["contains a key twice", [one, two, one]],
])("a file that %s stops the start, with an error without the key: %j", (why, lines) => {
  let message = "";
  try {
    keysIn(...lines);
  } catch (error) {
    message = (error as { text: string }).text;
  }
  expect(message).toContain(why);
  for (const line of lines) expect(message).not.toContain(line);
});

test("a missing file stops the start", () => {
  const configuredFile = join(directory.path, "none");
  expect(() =>
    openKeys({ name: "signing.key", data: directory.path, configuredFile, logger }),
  ).toThrow("cannot read the keys");
});
