/** The checked-in types of the client against the OpenAPI document of a running service. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const generator = join(root, "node_modules/openapi-typescript/bin/cli.js");
const preload = join(root, "test/support/typescript-of-generators.mjs");

/** Texts and examples change more often than types, and /restli/docs shows them: they are left out. */
function withoutTexts(node: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((member) => withoutTexts(member));
  if (typeof node !== "object" || node === null) return node;
  const isText = (name: string): boolean => !isMap && /^(description|examples?)$/.test(name);
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => !isText(name))
      // The members of these are named by the API.
      .map(([name, value]) => [name, withoutTexts(value, /^(properties|schemas)$/.test(name))]),
  );
}

async function typesOf(document: unknown): Promise<string> {
  using directory = temporaryDirectory("annals-schema");
  const file = join(directory.path, "openapi.json");
  writeFileSync(file, JSON.stringify(withoutTexts(document)));
  const args = ["--import", preload, generator, file, "--empty-objects-unknown"];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: directory.path,
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

test("the types of the client are those of the OpenAPI document (update: vitest -u)", async () => {
  await using service = await runningService();
  const document = await (await fetch(`${service.address}/openapi.json`)).json();
  await expect(await typesOf(document)).toMatchFileSnapshot("../../src/client/schema.ts");
});
