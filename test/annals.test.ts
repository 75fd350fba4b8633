/** The entry of the command on a Node.js that package.json does not accept. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Running, start } from "./cli/run-program.ts";

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "annals-entry-"));
  const source = fileURLToPath(new URL("../src/annals.mjs", import.meta.url));
  cpSync(source, join(project, "src", "annals.mjs"), { recursive: true });
});

afterEach(() => rmSync(project, { recursive: true }));

function write(path: string, text: string): void {
  const file = join(project, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

const needNode = (range: string): void =>
  write("package.json", JSON.stringify({ type: "module", engines: { node: range } }));

/**
 * Installs a fake Node.js with the packages. It prints its arguments, waits for a signal and ends
 * with 7.
 */
function installNode(): void {
  const folder = `node_modules/node-${process.platform}-${process.arch}`;
  write(`${folder}/package.json`, "{}");
  write(
    `${folder}/bin/node`,
    `#!${process.execPath}
    process.on("SIGTERM", () => { console.log("stopped"); process.exit(0); });
    console.log(JSON.stringify(process.argv.slice(3)));
    if (process.argv.includes("end")) process.exit(7);
    setInterval(() => {}, 1000);`,
  );
  chmodSync(join(project, folder, "bin", "node"), 0o755);
}

const annals = (...args: readonly string[]): Running =>
  start(process.execPath, [join(project, "src", "annals.mjs"), ...args]);

describe("the command on a Node.js that is too old", () => {
  test("runs on the installed Node.js, and ends with its exit code", async () => {
    needNode(">=99.1");
    installNode();
    expect(await annals("end", "a b").ended).toEqual({
      code: 7,
      stdout: '["end","a b"]\n',
      stderr: "",
    });
  });

  test("forwards signals", async () => {
    needNode(">=99.1");
    installNode();
    const { child, said, ended } = annals("serve");
    await said('["serve"]');
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, stdout: '["serve"]\nstopped\n', stderr: "" });
  });

  test("reports the required version when no other Node.js is installed", async () => {
    needNode(">=99.1");
    const { code, stdout, stderr } = await annals("serve").ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^annals: Node >=99\.1 is needed, and this is [\d.]+; run "npm ci" in /);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("the command on a supported Node.js", () => {
  test("runs on it", async () => {
    needNode(`>=${process.versions.node.split(".").slice(0, 2).join(".")}`);
    installNode();
    write("src/main.ts", "const name: string = process.execPath; console.log(name);");
    expect(await annals().ended).toEqual({ code: 0, stdout: `${process.execPath}\n`, stderr: "" });
  });

  test("reports missing packages", async () => {
    needNode(">=24.0");
    write("src/main.ts", 'import "annals-needs-this";');
    const { code, stderr } = await annals().ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`Cannot find package 'annals-needs-this'; run "npm ci" in`);
  });

  test("reports its own missing modules", async () => {
    needNode(">=24.0");
    write("src/main.ts", 'import "./absent.ts";');
    const { code, stderr } = await annals().ended;
    expect(code).toBe(1);
    expect(stderr).toContain("Cannot find module");
    expect(stderr).toContain("absent.ts");
  });
});
