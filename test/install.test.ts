import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settings } from "../src/config/settings.ts";

/** A project with src/install.mjs and an npm that records its arguments. */
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "annals-install-"));
  const source = fileURLToPath(new URL("../src/install.mjs", import.meta.url));
  cpSync(source, join(project, "src", "install.mjs"), { recursive: true });
  writeFileSync(
    join(project, "npm-cli.js"),
    `require("node:fs").writeFileSync("called", JSON.stringify(process.argv.slice(2)));
     console.log("added 7 packages");
     setTimeout(() => process.exit(Number(process.env.NPM_ENDS_WITH ?? 0)), Number(process.env.NPM_MS ?? 0));`,
  );
});

afterEach(() => rmSync(project, { recursive: true }));

interface Package {
  readonly version: string;
  readonly integrity?: string;
  readonly optional?: boolean;
}

type Packages = Readonly<Record<string, Package>>;

function write(path: string, packages: Packages): void {
  const file = join(project, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, JSON.stringify({ packages }));
}

function install(
  environment: Readonly<Record<string, string>> = {},
  {
    flags = [],
    args = [],
  }: { readonly flags?: readonly string[]; readonly args?: readonly string[] } = {},
) {
  const command = [...flags, "src/install.mjs", ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: project,
    encoding: "utf8",
    timeout: 60_000,
    env: {
      ...process.env,
      npm_execpath: join(project, "npm-cli.js"),
      npm_node_execpath: process.execPath,
      ...environment,
    },
  });
  return { status, stdout, stderr };
}

const called = (): readonly string[] | undefined => {
  const file = join(project, "called");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
};

const ajv: Packages = { "node_modules/ajv": { version: "8.0.0", integrity: "sha512-a" } };
const root: Packages = { "": { version: "0.1.0" } };

describe("the installation before a script", () => {
  test("is skipped when the installed packages match the lock", () => {
    const foreign = { "node_modules/node-plan9-mips": { version: "24.0.0", optional: true } };
    write("package-lock.json", { ...root, ...ajv, ...foreign });
    write("node_modules/.package-lock.json", ajv);
    expect(install()).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(called()).toBeUndefined();
  });

  test("runs npm ci when nothing is installed, and leaves stdout to the command", () => {
    write("package-lock.json", { ...root, ...ajv });
    const { status, stdout, stderr } = install();
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    expect(stderr).toMatch(/^annals: the packages are not installed yet; running "npm ci"/);
    expect(stderr).toContain("added 7 packages");
    expect(called()).toEqual(expect.arrayContaining(["ci", "--include=dev", "--include=optional"]));
  });

  test("reports each step, and its progress as long as it takes", () => {
    const own = `node_modules/node-${process.platform}-${process.arch}`;
    const node: Packages = { [own]: { version: "24.0.0", optional: true } };
    write("package-lock.json", { ...root, ...ajv, ...node });
    // The test shortens the report interval to a tenth.
    writeFileSync(
      join(project, "hurry.mjs"),
      "const { setInterval: every } = globalThis; globalThis.setInterval = (f, ms) => every(f, ms / 10);",
    );
    const { status, stderr } = install({ NPM_MS: "900" }, { flags: ["--import", "./hurry.mjs"] });
    expect(status).toBe(0);
    const state = "annals: installing: 0 of 1 packages, Node 24.0.0 to come (";
    expect(stderr.split("\n").filter((line) => line.startsWith(state)).length).toBeGreaterThan(1);
    expect(stderr).toContain("(step 1 of 2)\n");
    expect(stderr).toContain("(step 2 of 2)\n");
  });

  test("comes after the report of a port in use", async () => {
    write("package-lock.json", { ...root, ...ajv });
    const other = createServer();
    await once(other.listen(0, "127.0.0.1"), "listening");
    const { port } = other.address() as AddressInfo;
    const given: Parameters<typeof install>[] = [
      [{}, { args: ["serve", "--port", `${port}`] }],
      [{}, { args: ["serve", `--port=${port}`, "--host", "127.0.0.1"] }],
      [{ ANNALS_PORT: `${port}` }, { args: ["serve"] }],
    ];
    const seen = given.map((each) => install(...each));
    other.close();
    for (const { status, stdout, stderr } of seen) {
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toMatch(/^annals: cannot listen on 127\.0\.0\.1:\d+\..*EADDRINUSE.*--port/);
    }
    expect(called()).toBeUndefined();
  });

  test("leaves other invalid addresses to the service", () => {
    write("package-lock.json", { ...root, ...ajv });
    for (const args of [
      ["serve", "--port", "70000"],
      ["serve", "--port"],
      ["serve", "--port", "0", "--host", "203.0.113.7"],
      ["status", "--port", "x"],
    ]) {
      expect(install({}, { args }).status).toBe(0);
    }
  });

  test("has the default address of the settings", () => {
    const source = readFileSync(join(project, "src", "install.mjs"), "utf8");
    expect(source).toContain(`settingOf("host", flags) ?? "${settings.host.fallback}"`);
    expect(source).toContain(`settingOf("port", flags) ?? "${settings.port.fallback}"`);
  });

  const outOfStep: readonly (readonly [string, Packages, Packages])[] = [
    ["another version", ajv, { "node_modules/ajv": { version: "8.0.1", integrity: "sha512-a" } }],
    ["another content", ajv, { "node_modules/ajv": { version: "8.0.0", integrity: "sha512-b" } }],
    ["a package too few", { ...ajv, "node_modules/b/node_modules/c": { version: "1.0.0" } }, ajv],
    ["a package too many", ajv, { ...ajv, "node_modules/b": { version: "1.0.0" } }],
    [
      "the project's own Node missing",
      {
        [`node_modules/node-${process.platform}-${process.arch}`]: {
          version: "24.0.0",
          optional: true,
        },
      },
      {},
    ],
  ];
  test.each(outOfStep)("runs for %s", (_, wanted, installed) => {
    write("package-lock.json", { ...root, ...wanted });
    write("node_modules/.package-lock.json", installed);
    const { status, stderr } = install();
    expect(status).toBe(0);
    expect(stderr).toContain("is not as package-lock.json wants it");
    expect(called()?.[0]).toBe("ci");
  });

  test("runs again after an interrupted installation", () => {
    write("package-lock.json", { ...root, ...ajv });
    mkdirSync(join(project, "node_modules"));
    writeFileSync(join(project, "node_modules", ".package-lock.json"), '{"packages": {"node_mod');
    install();
    expect(called()?.[0]).toBe("ci");
  });

  test("ends a first start that takes too long, with the Node.js process that it started", () => {
    write("package-lock.json", { ...root, ...ajv });
    // The test shortens timeouts to a tenth. An older Node.js starts another one and forwards
    // signals.
    writeFileSync(
      join(project, "hurry.mjs"),
      "const { setTimeout: at } = globalThis; globalThis.setTimeout = (f, ms) => at(f, ms / 10);",
    );
    writeFileSync(
      join(project, "src", "annals.mjs"),
      `import { spawn } from "node:child_process";
       import { writeFileSync } from "node:fs";
       const never = ["-e", "setInterval(() => {}, 60_000)"];
       const child = spawn(process.execPath, never, { stdio: "inherit" });
       writeFileSync("serves", String(child.pid));
       process.on("SIGTERM", () => child.kill("SIGTERM"));
       child.on("exit", () => process.exit());`,
    );
    expect(install({}, { flags: ["--import", "./hurry.mjs"] }).status).toBe(0);
    const serves = Number(readFileSync(join(project, "serves"), "utf8"));
    expect(() => process.kill(serves, 0)).toThrow("ESRCH");
  });

  test("ends before the command starts", () => {
    write("package-lock.json", { ...root, ...ajv });
    cpSync(new URL("../src/start.mjs", import.meta.url), join(project, "src", "start.mjs"));
    // The file runs twice: on an empty directory, to compile the sources, and as the command.
    writeFileSync(
      join(project, "src", "annals.mjs"),
      `import { appendFileSync, existsSync } from "node:fs";
       appendFileSync("started", existsSync("called") ? "installed " : "too early ");
       process.stdout.write(process.argv.slice(2).join(" "));`,
    );
    const { status, stdout } = spawnSync(process.execPath, ["src/start.mjs", "status", "--x"], {
      cwd: project,
      encoding: "utf8",
      env: {
        ...process.env,
        npm_execpath: join(project, "npm-cli.js"),
        npm_node_execpath: process.execPath,
      },
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "status --x" });
    expect(readFileSync(join(project, "started"), "utf8")).toBe("installed installed ");
  });

  test("stops the script with a reason when it fails", () => {
    write("package-lock.json", { ...root, ...ajv });
    const { status, stderr } = install({ NPM_ENDS_WITH: "7" });
    expect(status).toBe(1);
    expect(stderr).toContain("could not be installed (npm ended with exit code 7)");
    expect(stderr).toContain('run "npm ci" in ');
  });
});
