import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenIn } from "../../src/cli/client/token-file.ts";
import { ingest } from "../../src/cli/commands/catalog/ingest.ts";
import { createToken, type TokenOptions } from "../../src/cli/commands/operations/token.ts";
import { readConfig } from "../../src/config/config.ts";
import { type GuardedService, guardedService, whoIs } from "../auth/guarded-service.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { recordedOutput } from "./recorded-output.ts";

let service: GuardedService;
beforeAll(async () => {
  service = await guardedService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const { printed, messages, ...output } = recordedOutput();
const { terminal } = output;

function create(options: Partial<TokenOptions> = {}, flags: { operatorTokenFile?: string } = {}) {
  printed.length = 0;
  messages.length = 0;
  const config = readConfig({ data: service.directory, ...flags }, {});
  const whole = { server: service.address, name: "cli", duration: "ONE_DAY", ...options } as const;
  return createToken(config, whole, output);
}

test("only the token of the root user is printed on stdout, and its description on stderr", async () => {
  expect(await create()).toBe(0);
  const [token = "", ...others] = printed;
  expect(others).toEqual([]);
  expect(await whoIs(service.client, token)).toBe("urn:li:corpuser:datahub");
  expect(messages).toEqual([
    expect.stringMatching(
      /^token \S+ acts for urn:li:corpuser:datahub and expires 20\S+Z; it is shown this once$/,
    ),
  ]);
});

test("a token of another user without expiry is printed", async () => {
  expect(await create({ actor: "urn:li:corpuser:mina", duration: "NO_EXPIRY" })).toBe(0);
  expect(await whoIs(service.client, printed[0] ?? "")).toBe("urn:li:corpuser:mina");
  expect(messages[0]).toContain("never expires");
});

test("a token that cannot be created is reported with the cause", async () => {
  await expect(create({ actor: "urn:li:tag:a" })).rejects.toThrow("is not the urn of a user");
  const wrong = join(service.directory, "wrong.token");
  writeFileSync(wrong, "not-the-token-of-this-service");
  await expect(create({}, { operatorTokenFile: wrong })).rejects.toThrow("not one of this service");
  await expect(create({}, { operatorTokenFile: `${wrong}s` })).rejects.toThrow(
    "cannot read the token",
  );
  await expect(create({ server: "http://127.0.0.1:9" })).rejects.toThrow("did not answer (");
});

test("a server that is not a catalog is reported", async () => {
  const other = createServer((_, response) => response.end("<html>"));
  await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
  const { port } = other.address() as AddressInfo;
  await expect(create({ server: `http://127.0.0.1:${port}` })).rejects.toThrow(
    /^there is no catalog at http:\S+: GET http:\S+\/config gives status 200$/,
  );
  other.close();
});

test("ingest sends the token, and without one stops at the first rejection", async () => {
  await create();
  const token = printed[0];
  const record = join(service.directory, "record.json");
  const tag = {
    entityType: "tag",
    entityUrn: "urn:li:tag:a",
    changeType: "UPSERT",
    aspectName: "tagProperties",
    aspect: { json: { name: "a" } },
  };
  writeFileSync(record, JSON.stringify(tag));
  const options = {
    files: [record],
    server: service.address,
    batch: 10,
    concurrency: 1,
    retryDelayMs: 1,
  };
  const signal = new AbortController().signal;
  expect(await ingest({ ...options, token }, { terminal, signal })).toBe(0);
  // An expired token is rejected like a missing one.
  for (const shown of [undefined, "expired"]) {
    messages.length = 0;
    expect(await ingest({ ...options, token: shown }, { terminal, signal })).toBe(1);
    expect(messages.join("\n")).toContain("Name a file with an access token with --token-file");
  }
});

test("the admin token is read from its file without the line end", () => {
  const file = join(service.directory, "operator.token");
  expect(readFileSync(file, "utf8")).toBe(`${tokenIn(file, "")}\n`);
});

const secret = "eyJhbGciOi.secret";
test.each([
  ["two lines", `token abc acts for urn:li:corpuser:datahub\n${secret}\n`],
  ["characters that no header accepts", `${secret}\u2026`],
  ["two lines with Windows line ends", `${secret}\r\n${secret}`],
])("a file with %s is rejected without showing its content", (_, content) => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "mixed.token");
  writeFileSync(file, content);
  const rejected = failureOf(() => tokenIn(file, "Name another file with --token-file"));
  expect(rejected).toMatchObject({
    code: "invalid",
    text: `the file "${file}" does not hold one token alone. A token is one line of letters, digits and signs without blanks: write nothing else into the file. Name another file with --token-file`,
  });
});

test("an empty token file is reported as empty", () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "empty.token");
  writeFileSync(file, " \n");
  expect(failureOf(() => tokenIn(file, "Name another file with --token-file"))).toMatchObject({
    code: "invalid",
    text: `the token file "${file}" is empty. Name another file with --token-file`,
  });
});

function failureOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

test("the first start logs the file of the admin token, and no start logs the token", async () => {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const logs: string[] = [];
  for (let n = 0; n < 2; n++) {
    await using started = await startService(data, { env: { ANNALS_LOG_LEVEL: "debug" } });
    await started.stop();
    logs.push(started.stderr());
  }
  const file = join(data, "operator.token");
  const [first = "", second = ""] = logs;
  expect(first.split("\n").filter((line) => line.includes(file))).toEqual([
    expect.stringContaining("first token is in this file"),
  ]);
  expect(second).not.toContain("first token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const value = readFileSync(file, "utf8").trim();
  expect(value.length).toBeGreaterThan(40);
  expect(first + second).not.toContain(value);
});
