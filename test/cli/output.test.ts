/** Tables, output formats, the terminal, and the connection of commands, without a process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { treeOf } from "../../src/cli/commands/catalog/graph.ts";
import { watchJob } from "../../src/cli/commands/operations/jobs.ts";
import { describeFailure, exitCodeOf, Interrupted, UsageError } from "../../src/cli/failure.ts";
import { commandOutput } from "../../src/cli/terminal/output.ts";
import type { OutputFormat } from "../../src/cli/terminal/output-flags.ts";
import { table } from "../../src/cli/terminal/table.ts";
import { widthOf } from "../../src/cli/terminal/terminal.ts";
import { AnnalsError } from "../../src/client/client.ts";
import { loginFile, readLogin, writeLogin } from "../../src/config/login.ts";
import { columnsOf, isColorOff } from "../../src/config/terminal-environment.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { recordedOutput } from "./recorded-output.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,orders,PROD)";

describe("a table", () => {
  test("is as wide as its cells when the width is unknown", () => {
    expect(table(["URN", "N"], [[urn, 1]])).toBe(`URN${" ".repeat(urn.length - 3)}  N\n${urn}  1`);
  });

  test("wraps the cells of its widest columns to fit the terminal", () => {
    const text = table(["TYPE", "URN", "N"], [["dataset", urn, 12]], 40);
    const lines = text.split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines[0]).toMatch(/^TYPE +URN +N$/);
    expect(lines.map((line) => line.slice(9, 36).trim()).join("")).toBe(`URN${urn}`);
  });

  test("becomes a block for each row when its columns do not fit the terminal", () => {
    const heads = ["ONE", "TWO", "THREE", "FOUR"];
    const cells = ["a".repeat(30), "b".repeat(30), "", "c"];
    expect(table(heads, [cells, cells], 40).split("\n\n")[1]).toBe(
      `ONE: ${cells[0]}\nTWO: ${cells[1]}\nFOUR: c`,
    );
  });

  test("counts the columns of wide characters", () => {
    expect(table(["A", "B"], [["種子", "x"]])).toBe("A     B\n種子  x");
  });
});

describe("the output", () => {
  const printed = async (output: OutputFormat, none?: string) => {
    const { printed: lines, messages, print } = recordedOutput(output);
    const rows = none === undefined ? [["a", 1]] : [];
    const value = { total: 1, names: ["a"] };
    await print({ value, urns: [urn], table: { heads: ["NAME", "N"], rows }, none });
    return { lines, messages };
  };

  test("is a table, JSON on one line, YAML or urns", async () => {
    expect((await printed("table")).lines).toEqual(["NAME  N\na     1"]);
    expect((await printed("json")).lines).toEqual(['{"total":1,"names":["a"]}']);
    expect((await printed("yaml")).lines).toEqual(["total: 1\nnames:\n  - a"]);
    expect((await printed("urns")).lines).toEqual([urn]);
  });

  test("of a table without rows is a message on stderr", async () => {
    expect(await printed("table", "nothing")).toEqual({ lines: [], messages: ["nothing"] });
  });

  test("rejects urns of a result without any", async () => {
    const result = recordedOutput("urns").print({ value: 1, table: "1" });
    await expect(result).rejects.toBeInstanceOf(UsageError);
  });

  test("wraps a text to the width of the terminal, but not the input of another program", async () => {
    const { printed, print } = recordedOutput("table", { width: 40 });
    const text = `${"a".repeat(30)} ${"b".repeat(30)}`;
    await print({ value: text, table: text });
    await print({ value: text, table: text, verbatim: true });
    expect(printed).toEqual([text.replace(" ", "\n"), text]);
  });

  test("has no messages and no progress with --quiet", async () => {
    const { messages, terminal: whole } = recordedOutput();
    const flags = { output: "table", json: true, quiet: true } as const;
    const { terminal, output } = commandOutput(flags, whole);
    terminal.note("a message");
    expect({ output, messages }).toEqual({ output: "json", messages: [] });
  });
});

test("lineage is a tree of shortest paths", () => {
  const paths = [
    ["a", "b"],
    ["a", "b", "c"],
    ["a", "d"],
  ];
  expect(treeOf("a", paths)).toBe("a\n├── b\n│   └── c\n└── d");
});

test("the environment sets the width and the colors of the terminal", () => {
  expect([columnsOf({ COLUMNS: "40" }), columnsOf({ COLUMNS: "wide" }), columnsOf({})]).toEqual([
    40,
    undefined,
    undefined,
  ]);
  expect([widthOf(0), widthOf(20), widthOf(120), widthOf(undefined)]).toEqual([
    undefined,
    40,
    120,
    undefined,
  ]);
  expect([isColorOff({ NO_COLOR: "1" }), isColorOff({ NO_COLOR: "" })]).toEqual([true, false]);
});

test("a job that is watched continues after Ctrl-C, and the message names the command to follow it", async () => {
  const ending = new AbortController();
  const client = {
    async act<T>() {
      ending.abort();
      return { state: "running", counts: {} } as T;
    },
  };
  const watching = watchJob("node:7", { ...recordedOutput(), client }, ending.signal);
  await expect(watching).rejects.toThrow(/^interrupted\. The job continues\. .*jobs watch node:7$/);
});

test("each kind of failure has its exit code", () => {
  const codes = [
    new Interrupted("Resume with: x"),
    new UsageError("wrong"),
    new CatalogError("invalid", "wrong"),
    new AnnalsError("unknown type", 422, "invalid"),
    new AnnalsError("no entity", 404, "not_found"),
    new CatalogError("unavailable", "no answer"),
  ].map(exitCodeOf);
  expect(codes).toEqual([130, 2, 2, 2, 1, 1]);
  expect(describeFailure(new Interrupted("Resume with: x"))).toBe(
    "annals: interrupted. Resume with: x",
  );
  expect(describeFailure(new AnnalsError("no token", 401, "unauthenticated"))).toContain(
    "annals login",
  );
});

describe("the login file", () => {
  test("is in XDG_CONFIG_HOME, by default in ~/.config", () => {
    expect(loginFile({ XDG_CONFIG_HOME: "/x", HOME: "/h" })).toBe("/x/annals/config.json");
    expect(loginFile({ HOME: "/h" })).toBe("/h/.config/annals/config.json");
    expect(loginFile({ XDG_CONFIG_HOME: "relative", HOME: "/h" })).toBe(
      "/h/.config/annals/config.json",
    );
  });

  test("is written and read, and rejected in another form", () => {
    using directory = temporaryDirectory("annals-login");
    const file = join(directory.path, "annals", "config.json");
    expect(readLogin(file)).toBeUndefined();
    writeLogin({ server: "http://a", token: "t" }, file);
    writeLogin({ server: "http://b" }, file);
    expect(readLogin(file)).toEqual({ server: "http://b", token: undefined });
    writeFileSync(file, "{");
    expect(() => readLogin(file)).toThrow("is not {");
  });
});
