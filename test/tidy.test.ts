import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { checkFolders, checkParts } from "./tidy/shape.ts";
import {
  checkCycles,
  checkExports,
  checkLinks,
  checkMentions,
  checkPackage,
  checkProse,
  checkSmallFiles,
  checkTopLevel,
  checkTypeNames,
  type SourceFile,
  tidy,
} from "./tidy/tidier.ts";
import { directions, generated, mayOpenAdapters } from "./tidy/tree-rules.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The rules name what they forbid, and so do the bad samples here. */
const ruleBooks = ["test/tidy.test.ts", "test/tidy/"];

function sources(): readonly SourceFile[] {
  return ["src", "projections", "test"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (name) => `${folder}/${name.replaceAll("\\", "/")}`,
      ),
    )
    .filter((path) => /\.tsx?$/.test(path) && !ruleBooks.some((book) => path.startsWith(book)))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** The text of a page or file; of a folder that of its README. */
function textOf(path: string): string | undefined {
  const file = join(root, path);
  if (!existsSync(file)) return undefined;
  return statSync(file).isFile() ? readFileSync(file, "utf8") : textOf(join(path, "README.md"));
}

function pages(): readonly SourceFile[] {
  const inFolders = ["src", "projections", "avro", "docker", "docs", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name.replaceAll("\\", "/")}`,
    ),
  );
  const atTheTop = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"];
  return [...atTheTop, ...inFolders.filter((path) => path.endsWith(".md"))].map((path) => ({
    path,
    text: readFileSync(join(root, path), "utf8"),
  }));
}

describe("the source tree is tidy", () => {
  test("in every source file", () => {
    const files = sources();
    expect(files.length).toBeGreaterThan(50);
    const written = files.filter(({ path }) => !generated.includes(path));
    expect(written.flatMap(tidy)).toEqual([]);
  });

  test("has no files that import each other in a cycle", () => {
    const files = sources().filter(({ path }) => !path.startsWith("test/"));
    expect(checkCycles(files)).toEqual([]);
  });

  test("in the files that its comments name", () => {
    const files = sources();
    const paths = files.map(({ path }) => path);
    expect(files.flatMap((file) => checkMentions(file, paths))).toEqual([]);
  });

  test("each exported function, class and constant of a source is imported by another", () => {
    expect(checkExports(sources())).toEqual([]);
  });

  test("in the links of its pages", () => {
    const all = pages();
    expect(all.length).toBeGreaterThan(5);
    expect(all.flatMap((page) => checkLinks(page, textOf))).toEqual([]);
  });

  test("in the lines and words of its pages", () => {
    expect(pages().flatMap(checkProse)).toEqual([]);
  });

  test("in its rules, which name what is there", () => {
    const named = [...Object.keys(directions), ...Object.values(directions).flat()].concat(
      mayOpenAdapters,
    );
    const paths = named
      .map((one) => one.replace(/^type /, ""))
      .filter((one) => /^(src|projections|test)\//.test(one));
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("at the top", () => {
    expect(checkTopLevel(readdirSync(root))).toEqual([]);
  });

  test("in package.json and the changelog", () => {
    const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
    expect(checkPackage(packageJson, changelog)).toEqual([]);
  });
});

/** A file that is tidy except for the lines. */
const sample = (path: string, ...lines: readonly string[]): SourceFile => ({
  path,
  text: ["/** Opens a file. */", ...lines, ""].join("\n"),
});

test("functions, interfaces and folders of sources are small", () => {
  const own = sources().filter(
    ({ path }) => !path.startsWith("test/") && !generated.includes(path),
  );
  expect(own.flatMap(checkParts)).toEqual([]);
  expect(checkFolders(own.map(({ path }) => path))).toEqual([]);
});

test("each type name is exported by one file", () => {
  expect(checkTypeNames(sources())).toEqual([]);
  const files = ["src/a.ts", "src/b.ts"].map((path) => sample(path, "export interface Twice {}"));
  expect(checkTypeNames(files)).toHaveLength(1);
});

test("a small file that one file of its folder imports is part of it", () => {
  expect(checkSmallFiles(sources())).toEqual([]);
  const small = sample("src/a/small.ts", "export const x = 1;");
  const importer = sample("src/a/b.ts", 'import { x } from "./small.ts";');
  expect(checkSmallFiles([small, importer])).toHaveLength(1);
  const test = sample("test/small.test.ts", 'import { x } from "../src/a/small.ts";');
  expect(checkSmallFiles([small, importer, test])).toEqual([]);
});

test("a function counts its own lines, an interface its methods, a folder its files", () => {
  const calls = (count: number) => Array.from({ length: count }, () => "  x();");
  const inner = ["  function inner() {", ...calls(60), "  }"];
  const factory = ["function outer() {", ...inner, ...calls(40), "}"];
  expect(checkParts(sample("src/a.ts", ...factory))).toEqual([]);
  const long = sample("src/a.ts", "function long() {", ...calls(70), "}");
  expect(checkParts(long)).toEqual(["src/a.ts:2: has 72 lines of at most 70"]);
  const methods = Array.from({ length: 10 }, (_, n) => `  m${n}(): void;`);
  expect(checkParts(sample("src/a.ts", "interface A {", ...methods, "}"))).toEqual([
    "src/a.ts:2: A has 10 methods of at most 9",
  ]);
  const paths = Array.from({ length: 17 }, (_, n) => `src/a/${n}.ts`);
  expect(checkFolders([...paths, "src/a/b/c.ts"])).toEqual(["src/a: has 17 files of at most 16"]);
});

describe("the tidier finds", () => {
  const bad: readonly (readonly [string, SourceFile])[] = [
    ["a pure core that does I/O", sample("src/core/a.ts", 'import { x } from "node:fs";')],
    [
      "a core that knows another room",
      sample("src/core/a.ts", 'import { x } from "../model/b.ts";'),
    ],
    [
      "a projection that knows an adapter",
      sample("projections/a.ts", 'import type { X } from "../src/log/sqlite/b.ts";'),
    ],
    [
      "a projection that runs a port",
      sample("projections/a.ts", 'import { x } from "../src/projector/sink.ts";'),
    ],
    [
      "a door past the catalog",
      sample("src/http/a.ts", 'import { x } from "../log/change-log.ts";'),
    ],
    [
      "a door inside the catalog",
      sample("src/http/a.ts", 'import { x } from "../catalog/ingest.ts";'),
    ],
    [
      "a use case that knows a door",
      sample("src/catalog/a.ts", 'import type { X } from "../http/b.ts";'),
    ],
    [
      "a use case that knows an adapter",
      sample("src/catalog/a.ts", 'import { x } from "../log/sqlite/b.ts";'),
    ],
    ["a port that knows its adapter", sample("src/log/a.ts", 'import { x } from "./sqlite/b.ts";')],
    [
      "an adapter that knows the catalog",
      sample("src/log/sqlite/a.ts", 'import { x } from "../../catalog/b.ts";'),
    ],
    [
      "a driver outside its folder",
      sample("src/log/a.ts", 'import { DatabaseSync } from "node:sqlite";'),
    ],
    ["a package in the wrong room", sample("src/catalog/a.ts", 'import fastify from "fastify";')],
    ["a package that no room has", sample("src/model/a.ts", 'import x from "left-pad";')],
    [
      "an import over several lines",
      sample("src/core/a.ts", "import {", "  x,", '} from "../http/b.ts";'),
    ],
    ["an import on demand", sample("src/core/a.ts", 'const x = await import("../http/b.ts");')],
    ["an import for its effect", sample("src/core/a.ts", 'import "../http/b.ts";')],
    [
      "what is exported from elsewhere",
      sample("src/core/a.ts", 'export { x } from "../http/b.ts";'),
    ],
    [
      "a worker of another room",
      sample("src/http/a.ts", 'new Worker(new URL("../log/sqlite/b.ts", import.meta.url));'),
    ],
    [
      "a source that knows a test",
      sample("src/catalog/a.ts", 'import { x } from "../../test/support/b.ts";'),
    ],
    [
      "a name from outside looked up in a plain object",
      sample("src/graphql/a.ts", "", "const found = table[entityType];"),
    ],
    [
      "an import that loads fetch",
      sample("src/http/a.ts", 'import { STATUS_CODES } from "node:http";'),
    ],
    ["the environment read elsewhere", sample("src/http/a.ts", "const port = process.env.PORT;")],
    ["a list as arguments", sample("src/core/a.ts", "all.push(...found);")],
    ["the maximum of arguments", sample("src/core/a.ts", "const most = Math.max(0, ...sizes);")],
    ["work left for later", sample("src/core/a.ts", "// TODO: the rest")],
    ["tests that are left out for one", sample("test/a.test.ts", 'test.only("x", () => {});')],
    [
      "a test that is skipped without a reason",
      sample("test/a.test.ts", "const x = 1;", 'test.skip("x", () => {});'),
    ],
    [
      "a condition on a test without a reason",
      sample("test/a.test.ts", "const x = 1;", "test.skipIf(x)(y);"),
    ],
    ["a type that is passed over", sample("src/core/a.ts", "// @ts-expect-error", "x();")],
    ["a place on one machine", sample("test/a.ts", 'const data = "/home/ada/data";')],
    ["a replaced word in a comment", sample("src/log/a.ts", "// The store tells its position.")],
    ["a replaced word in a name", sample("src/log/a.ts", "const toldNumber = 1;")],
    ["a replaced word in a constant", sample("src/log/a.ts", "const TOLD_MAX = 1;")],
    ["a replaced word in a message", sample("src/log/a.ts", 'throw new Error("read it anew");')],
    ["a comment that begins with Whether", sample("src/log/a.ts", "/** Whether it is open. */")],
    [
      "a longer comment that begins with Who",
      sample("src/log/a.ts", "/**", " * Who waits for it.", " */"),
    ],
    ["a file without an opening", { path: "src/core/a.ts", text: "export const x = 1;\n" }],
    ["a file of two files", sample("src/core/a.ts", ...Array.from({ length: 500 }, () => "x();"))],
    ["a name that says nothing", sample("src/core/utils.ts")],
    ["a folder that says nothing", sample("src/http/helpers/a.ts")],
    ["a file in camel case", sample("src/core/entityState.ts")],
  ];
  test.each(bad)("%s", (_, file) => {
    const findings = tidy(file);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain(file.path);
  });

  test("the line", () => {
    const file = sample("src/core/a.ts", "", "import {", "  x,", '} from "../http/b.ts";');
    expect(tidy(file)).toEqual([
      'src/core/a.ts:3: imports "src/http/b.ts", which its folder may not',
    ]);
  });

  test("files that are gone in comments", () => {
    const text =
      " * As b.ts says (core/c.ts), and not *.d.ts.\n// src/core/e.ts\nconst x = 'f.ts';";
    const found = checkMentions({ path: "src/core/a.ts", text }, [
      "src/core/c.ts",
      "src/http/b.ts",
    ]);
    expect(found).toEqual(['src/core/a.ts:2: names "src/core/e.ts", which is not there']);
  });

  test("links that lead nowhere", () => {
    const text = "[a](b.md) [c](#d) [e](f.md#g-h) [i](https://j.k) [l](f.md#m) [n](#o)\n\n## O";
    const found = checkLinks({ path: "x/README.md", text }, (path) =>
      path === "x/f.md" ? "# G, `h`\n" : undefined,
    );
    expect(found).toEqual([
      'x/README.md: leads to "b.md", which is not there',
      'x/README.md: leads to "x/README.md#d", which is no heading',
      'x/README.md: leads to "x/f.md#m", which is no heading',
    ]);
  });

  test("long lines and replaced words in pages", () => {
    const long = `${"a ".repeat(50)}b`;
    const text = [long, "As `told` says.", "```", "It tells.", long, "```", "Read it anew."].join(
      "\n",
    );
    expect(checkProse({ path: "x/a.md", text })).toEqual([
      "x/a.md:1: has 101 columns of at most 100",
      'x/a.md:7: "anew": use a word of docs/glossary.md',
    ]);
    expect(checkProse({ path: "x/a.md", text: `| ${long} |` })).toEqual([]);
  });

  test("an export that only tests import", () => {
    const files = [
      sample("src/a.ts", "export const used = 1;", "export const tested = 2;"),
      sample("src/b.ts", 'import { used } from "./a.ts";'),
      sample("test/a.test.ts", 'import { tested } from "../src/a.ts";'),
      sample("src/c.ts", "export function late() {}", "export const others = 3;"),
      sample("src/d.ts", 'const { late } = await import("./c.ts");'),
      sample("src/e.ts", "export function runs() {}"),
      sample("src/f.ts", 'new Worker(new URL("./e.ts", import.meta.url));'),
    ];
    expect(checkExports(files)).toEqual([
      'src/a.ts: exports "tested", which no other source imports',
      'src/c.ts: exports "others", which no other source imports',
    ]);
  });

  test("strangers at the top", () => {
    expect(checkTopLevel(["src", ".nvmrc", "scripts"])).toEqual([
      "scripts: does not belong at the top",
    ]);
  });

  test("versions that are not pinned, and a release that the changelog lacks", () => {
    const given = { version: "1.2.0", dependencies: { a: "1.0.0", b: "^1.0.0" } };
    expect(checkPackage(given, "## [1.1.0]")).toEqual([
      'package.json: "b" is "^1.0.0": pin one version',
      'CHANGELOG.md: has no section "## [1.2.0]"',
    ]);
    expect(checkPackage({ version: "1.2.0" }, "## [1.2.0] - 2026-01-01")).toEqual([]);
  });
});

describe("the tidier lets pass", () => {
  const good: readonly (readonly [string, SourceFile])[] = [
    ["a room's own files", sample("src/http/a.ts", 'import { x } from "./routes/b.ts";')],
    [
      "a projection that knows a port's types",
      sample("projections/a.ts", 'import type { X } from "../src/projector/sink.ts";'),
    ],
    [
      "an adapter that knows its port and its technology",
      sample(
        "src/log/sqlite/a.ts",
        'import { DatabaseSync } from "node:sqlite";',
        'import type { X } from "../change-log.ts";',
        'import { y } from "../../projector/sqlite/b.ts";',
      ),
    ],
    [
      "a composition root that opens adapters",
      sample("src/app/stores.ts", 'import { x } from "./log/sqlite/b.ts";'),
    ],
    [
      "a skipped test with a reason",
      sample("test/a.test.ts", "// There is no such server on npm.", 'test.skip("x", () => {});'),
    ],
    [
      "what a harness declares",
      sample("test/a.test.ts", "const x = 1;", "test.runIf(!supports.y)(z);"),
    ],
    ["a stored name with a replaced word", sample("src/graph/a.ts", 'const type = "_tells_";')],
    [
      "a comment whose second line begins with Whether",
      sample("src/log/a.ts", "// The caller asks", "// whether it is open."),
    ],
    ["a replaced word in a folder that is not listed", sample("test/http/a.ts", "const told = 1;")],
    ["a long test", sample("test/a.test.ts", ...Array.from({ length: 600 }, () => "x();"))],
  ];
  test.each(good)("%s", (_, file) => {
    expect(tidy(file)).toEqual([]);
  });
});

test("a cycle of imports is found once, with its files; import() makes none", () => {
  const file = (path: string, ...imports: readonly string[]) => ({
    path,
    text: imports.join("\n"),
  });
  const files = [
    file("src/a.ts", 'import { b } from "./b.ts";'),
    file("src/b.ts", 'import type { C } from "./c.ts";'),
    file("src/c.ts", 'import "./a.ts";', 'import { d } from "./d.ts";'),
    file("src/d.ts", 'const late = () => import("./c.ts");'),
  ];
  expect(checkCycles(files)).toEqual([
    "src/a.ts → src/b.ts → src/c.ts → src/a.ts: move what they share into one of them",
  ]);
  expect(checkCycles(files.slice(1))).toEqual([]);
});
