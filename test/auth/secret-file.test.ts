/** Permissions of key and token files at the start of a service. */
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
let warnings: readonly unknown[];
beforeEach(() => {
  directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  warnings = [];
});
afterEach(() => directory[Symbol.dispose]());

const logger = {
  warn(fields: object, message: string) {
    warnings = [...warnings, { ...fields, message }];
  },
};
const modeOf = (file: string): number => statSync(file).mode & 0o777;
const text = "a-text-that-is-long-enough-for-a-key-or-a-token";

function keysNamed(name: string) {
  return (place: Omit<Parameters<typeof openKeys>[0], "name">) => openKeys({ ...place, name });
}

describe.each([
  ["the admin token", "operator.token", openOperatorToken],
  ["the signing keys", "signing.key", keysNamed("signing.key")],
  ["the keys of secrets", "secret.key", keysNamed("secret.key")],
])("%s", (_, name, openAny) => {
  const open = (configuredFile = "") => openAny({ data: directory.path, configuredFile, logger });

  test.each([0o644, 0o640, 0o622, 0o666])(
    "files of the data directory with mode %o are restricted to the owner",
    (mode) => {
      const { file } = open();
      expect(file).toBe(join(directory.path, name));
      expect(warnings).toEqual([]);
      chmodSync(file, mode);
      open();
      expect(modeOf(file)).toBe(0o600);
      expect(warnings).toMatchObject([{ file, mode: `0${mode.toString(8)}` }]);
      open();
      expect(warnings).toHaveLength(1);
    },
  );

  test("files are readable for the owner only, also when a temporary file was left behind", () => {
    const beside = join(directory.path, `${name}.new`);
    writeFileSync(beside, "left", { mode: 0o644 });
    expect(modeOf(open().file)).toBe(0o600);
    expect(warnings).toEqual([]);
  });

  test.each<[number, "accepted" | "warned" | "rejected"]>([
    [0o600, "accepted"],
    [0o400, "accepted"],
    [0o440, "warned"],
    [0o444, "warned"],
    [0o644, "warned"],
    [0o620, "rejected"],
    [0o602, "rejected"],
    [0o666, "rejected"],
  ])("a configured file with mode %o is %s", (mode, expected) => {
    const file = join(directory.path, "given");
    writeFileSync(file, `${text}\n`);
    chmodSync(file, mode);
    if (expected === "rejected") expect(() => open(file)).toThrow("other users may write");
    else open(file);
    expect(modeOf(file)).toBe(mode);
    expect(warnings).toHaveLength(expected === "warned" ? 1 : 0);
    expect(JSON.stringify(warnings)).not.toContain(text);
  });
});

test("every file of a service is private to its owner, also in a directory that is open to all", async () => {
  chmodSync(directory.path, 0o755);
  const env = { ANNALS_LOG_LEVEL: "silent" };
  await using service = await startService(directory.path, { args: ["--auth", "on"], env });
  const files = readdirSync(directory.path).filter((name) =>
    existsSync(join(directory.path, name)),
  );
  const open = files.filter((name) => (modeOf(join(directory.path, name)) & 0o077) !== 0);
  await service.stop();
  expect(files).toEqual(expect.arrayContaining(["log.sqlite", "aspects.sqlite", "signing.key"]));
  expect(open).toEqual([]);
  // The first start names the file of the admin token at any log level, and never the token.
  const token = join(directory.path, "operator.token");
  expect(service.stderr()).toContain(`"file":${JSON.stringify(token)},"made":true`);
  expect(service.stderr()).not.toContain(readFileSync(token, "utf8").trim());
});
