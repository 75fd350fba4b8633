/** Files with keys and tokens that others may read or write, at the start of a service. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openKeys } from "../../src/auth/tokens/key-file.ts";
import { openOperatorToken } from "../../src/auth/tokens/operator-token.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let told: readonly unknown[];
beforeEach(() => {
  directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  told = [];
});
afterEach(() => directory[Symbol.dispose]());

const logger = {
  warn(fields: object, message: string) {
    told = [...told, { ...fields, message }];
  },
};
const modeOf = (file: string): number => statSync(file).mode & 0o777;
const text = "a-text-that-is-long-enough-for-a-key-or-a-token";

function keysNamed(name: string) {
  return (place: Omit<Parameters<typeof openKeys>[0], "name">) => openKeys({ ...place, name });
}

describe.each([
  ["the operator's token", "operator.token", openOperatorToken],
  ["the signing keys", "signing.key", keysNamed("signing.key")],
  ["the keys of secrets", "secret.key", keysNamed("secret.key")],
])("%s", (_, name, openAny) => {
  const open = (given = "") => openAny({ data: directory.path, given, logger });

  test.each([0o644, 0o640, 0o622, 0o666])("of the directory are closed again: %o", (mode) => {
    const { file } = open();
    expect(file).toBe(join(directory.path, name));
    expect(told).toEqual([]);
    chmodSync(file, mode);
    open();
    expect(modeOf(file)).toBe(0o600);
    expect(told).toMatchObject([{ file, mode: `0${mode.toString(8)}` }]);
    open();
    expect(told).toHaveLength(1);
  });

  test("are for their owner alone, also where something lies in their place", () => {
    const beside = join(directory.path, `${name}.new`);
    writeFileSync(beside, "left", { mode: 0o644 });
    expect(modeOf(open().file)).toBe(0o600);
    expect(told).toEqual([]);
  });

  test.each<[number, "taken" | "told" | "refused"]>([
    [0o600, "taken"],
    [0o400, "taken"],
    [0o440, "told"],
    [0o444, "told"],
    [0o644, "told"],
    [0o620, "refused"],
    [0o602, "refused"],
    [0o666, "refused"],
  ])("that somebody else keeps with mode %o are %s", (mode, expected) => {
    const file = join(directory.path, "given");
    writeFileSync(file, `${text}\n`);
    chmodSync(file, mode);
    if (expected === "refused") expect(() => open(file)).toThrow("others may write");
    else open(file);
    expect(modeOf(file)).toBe(mode);
    expect(told).toHaveLength(expected === "told" ? 1 : 0);
    expect(JSON.stringify(told)).not.toContain(text);
  });
});

test("every file of a service is its owner's alone, also where the directory is open to all", async () => {
  chmodSync(directory.path, 0o755);
  const env = { ANNALS_LOG_LEVEL: "silent" };
  const service = await startService(directory.path, { args: ["--auth", "on"], env });
  const files = readdirSync(directory.path).filter((name) =>
    existsSync(join(directory.path, name)),
  );
  const open = files.filter((name) => (modeOf(join(directory.path, name)) & 0o077) !== 0);
  await service.stop();
  expect(files).toEqual(expect.arrayContaining(["log.sqlite", "aspects.sqlite", "signing.key"]));
  expect(open).toEqual([]);
  // The first start says where the operator's token is, whatever is left unsaid, and never what it is.
  const token = join(directory.path, "operator.token");
  expect(service.stderr()).toContain(`"file":${JSON.stringify(token)},"made":true`);
  expect(service.stderr()).not.toContain(readFileSync(token, "utf8").trim());
});
