/**
 * Tools for OpenAPI on the document of a running service: Redocly's recommended rules, and the clients of two
 * generators, which are type-checked and then used.
 */
import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packages = join(root, "node_modules");

let service: RunningService;
let directory: TemporaryDirectory;
beforeAll(async () => {
  service = await runningService();
  directory = temporaryDirectory("annals-clients");
  symlinkSync(packages, join(directory.path, "node_modules"));
  write("openapi.json", await (await fetch(`${service.address}/openapi.json`)).text());
  write("package.json", JSON.stringify({ type: "module" }));
});
afterAll(async () => {
  directory[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const write = (name: string, text: string): void => writeFileSync(join(directory.path, name), text);

/** Runs a Node.js program in the directory and returns its output, also after a failure. */
async function run(...args: readonly string[]): Promise<{ failed: boolean; output: string }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const options = { cwd: directory.path, env, maxBuffer: 2 ** 26 };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return { failed: false, output: stdout };
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return { failed: true, output: stdout + stderr };
  }
}

/** The errors of the type checker for a program that uses the generated clients. */
async function typeErrors(name: string): Promise<string> {
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--allowImportingTsExtensions"];
  const modules = ["--module", "nodenext", "--target", "esnext", "--types", "node"];
  const tsc = join(packages, "typescript/bin/tsc");
  return (await run(tsc, ...flags, ...modules, name)).output;
}

const succeeded = { failed: false, output: expect.anything() };

test("the document passes Redocly's recommended rules", async () => {
  const lint = ["lint", "openapi.json", "--extends", "recommended", "--format", "json"];
  const skip = ["--skip-rule", "path-not-include-query", "--max-problems", "1000"];
  const { output } = await run(join(packages, "@redocly/cli/bin/cli.js"), ...lint, ...skip);
  const { totals, problems } = JSON.parse(output);
  expect(totals.errors).toBe(0);
  // Warnings: DataHub has paths that differ from each other only by the methods that they take.
  expect(problems.map(({ message }: { message: string }) => message)).toEqual([
    expect.stringContaining("`/openapi/v3/entity/{entity}/batchGet` and"),
    expect.stringContaining("`/openapi/v2/entity/{entity}/batchGet` and"),
  ]);
});

const usage = `
import type { paths } from "./schema.ts";
import { aspectsIngestProposal, defaults, getAspect } from "./client.ts";

const address = process.argv[2] ?? "";
defaults.baseUrl = address;
const entityUrn = "urn:li:tag:Generated";
const written = await aspectsIngestProposal({
  proposal: {
    entityType: "tag", entityUrn, changeType: "UPSERT", aspectName: "tagProperties",
    aspect: { contentType: "application/json", value: JSON.stringify({ name: "Generated" }) },
  },
});
const read = await getAspect(entityUrn, "tagProperties", { version: 0 });
const missing = await getAspect(entityUrn, "ownership");

type Exists = paths["/entities?action=exists"]["post"];
type Body = Exists["requestBody"]["content"]["application/json"];
type Reply = Exists["responses"][200]["content"]["application/json"];
const body: Body = { urn: entityUrn };
const reply = await fetch(address + "/entities?action=exists", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});
const { value } = (await reply.json()) as Reply;
const exists: boolean = value;
console.log(JSON.stringify({ written, read, missing: missing.status, exists }));
`;

describe("generated clients", () => {
  beforeAll(async () => {
    const preload = join(root, "test/support/typescript-of-generators.mjs");
    const first = join(packages, "openapi-typescript/bin/cli.js");
    const second = join(packages, "oazapfts/dist/cli.js");
    const types = await run("--import", preload, first, "openapi.json", "-o", "schema.ts");
    expect(types).toEqual(succeeded);
    expect(await run(second, "openapi.json", "client.ts")).toEqual(succeeded);
  });

  test("compile, and write and read the catalog", async () => {
    write("usage.ts", usage);
    expect(await typeErrors("usage.ts")).toBe("");
    const { output } = await run("usage.ts", service.address);
    expect(JSON.parse(output)).toMatchObject({
      written: { status: 200, data: { value: "success" } },
      read: { status: 200, data: { version: 0 } },
      missing: 404,
      exists: true,
    });
  });

  test("reject a body that the operation does not take", async () => {
    write("wrong.ts", `${usage}const wrong: Body = { urn: 1 };`);
    expect(await typeErrors("wrong.ts")).toMatch(
      /Type 'number' is not assignable to type 'string'/,
    );
  });
});
