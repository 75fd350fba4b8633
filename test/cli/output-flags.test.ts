/** `-h`, `--json`, `--output` and `--quiet` of every command. */
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ProcessOperations } from "../../src/cli/operations.ts";
import { createProgram } from "../../src/cli/program.ts";
import { outputFormats } from "../../src/cli/terminal/output-flags.ts";
import { runProgram, startProgram } from "./run-program.ts";

type Command = Awaited<ReturnType<typeof createProgram>>;

/**
 * All commands without subcommands, each with its path. Only the completion scripts call
 * `complete`.
 */
function commandsBelow(parent: Command, path: readonly string[]): readonly [string, Command][] {
  return parent.commands.flatMap((command) => {
    const own = [...path, command.name()];
    if (command.commands.length > 0) return commandsBelow(command, own);
    return command.name() === "complete" ? [] : [[own.join(" "), command]];
  });
}

const commands = new Map(
  commandsBelow(await createProgram([], {} as ProcessOperations, () => {}), []),
);

test("every command accepts -h, --json, --output and --quiet", () => {
  expect(commands.size).toBeGreaterThan(40);
  for (const [path, command] of commands) {
    const flags = command.createHelp().visibleOptions(command);
    expect(
      flags.map(({ long }) => long),
      path,
    ).toEqual(expect.arrayContaining(["--help", "--json", "--output", "--quiet"]));
    expect(flags.find(({ long }) => long === "--help")?.short, path).toBe("-h");
    const formats = flags.find(({ long }) => long === "--output")?.argChoices ?? [];
    const all = path === "serve" ? ["table", "json"] : outputFormats;
    expect([...formats, "urns"], path).toEqual(expect.arrayContaining([...all]));
    expect(all, path).toEqual(expect.arrayContaining(formats));
  }
});

test("the commands whose result has no urns reject --output urns before they do anything", async () => {
  const without = [...commands].filter(([, command]) => {
    const output = command.options.find(({ long }) => long === "--output");
    return output?.argChoices?.includes("urns") === false;
  });
  expect(without.map(([path]) => path).sort()).toEqual([
    ...["backup", "check", "completion", "copy-log", "ingest", "jobs cancel", "jobs list"],
    ...["jobs show", "jobs watch", "login", "open", "rebuild", "restore", "runs list"],
    ...["scavenge", "serve", "settings", "status", "token create", "token revoke", "truncate"],
  ]);
  const { code, stderr } = await runProgram(["copy-log", "--to", "/x", "--output", "urns"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Allowed choices are table, json, yaml.");
});

describe("a command of the data directory", () => {
  const jsonOf = async (args: readonly string[], records = 2) => {
    const ended = await runProgram([...args, "--json", "--quiet"], { records });
    expect(ended.stderr).toBe("");
    return { code: ended.code, value: JSON.parse(ended.stdout) };
  };

  test("prints its result as one JSON document, with the exit code of the table", async () => {
    expect(await jsonOf(["check"])).toEqual({
      code: 1,
      value: {
        ok: false,
        stores: [
          { store: "log", place: "esdb://here", version: "9", findings: [] },
          { store: "graph", place: "bolt://there", version: "", findings: ["Mend it"] },
        ],
      },
    });
    expect(await jsonOf(["copy-log", "--to", "/x"])).toEqual({
      ...{ code: 0, value: { copied: 10, there: 2 } },
    });
    const seconds = expect.any(Number);
    expect(await jsonOf(["backup", "--to", "/x"])).toEqual({
      ...{ code: 0, value: { to: "/x", position: 10, bytes: 2_500_000, seconds } },
    });
    expect(await jsonOf(["rebuild", "aspects"])).toEqual({
      ...{ code: 0, value: { views: [{ view: "aspects", records: 10 }], seconds } },
    });
    const verified = await jsonOf(["verify", "graph"]);
    expect(verified).toMatchObject({ code: 1, value: { records: 10, views: [{ count: 1 }] } });
  });

  test("prints YAML, and the urns of its result", async () => {
    const check = await runProgram(["check", "--output", "yaml"], { records: 0 });
    expect(parse(check.stdout)).toMatchObject({ ok: true, stores: [{ store: "log" }, {}] });
    const verify = await runProgram(["verify", "graph", "--output", "urns", "--quiet"]);
    expect(verify).toEqual({ code: 1, stdout: "urn:li:tag:rare\n", stderr: "" });
    const log = await runProgram(["log", "--output", "urns"], { records: 2 });
    expect(log.stdout).toBe("urn:li:tag:rare\nurn:li:tag:rare\n");
    const yaml = await runProgram(["log", "--output", "yaml"], { records: 1 });
    expect(parse(yaml.stdout)).toMatchObject({ position: 1, value: { backward: false } });
    expect(yaml.stdout).toMatch(/^---\nposition: 1\n/);
  });

  test("prints the settings and a completion script as JSON", async () => {
    const { value } = await jsonOf(["settings"]);
    expect(value).toContainEqual({ setting: "port", value: "8080", source: "default" });
    const script = await jsonOf(["completion", "zsh"]);
    expect(script.value).toMatchObject({ shell: "zsh" });
    expect((await runProgram(["settings", "--markdown", "--json"])).code).toBe(2);
  });
});

describe("annals serve", () => {
  const ready = "annals is ready at http://127.0.0.1:8080\n";

  test("logs JSON lines with --json, and rejects another log format with it", async () => {
    const environment = { ANNALS_LOG_FORMAT: "text" };
    const { child, said, ended } = startProgram(["serve", "--json"], { closeMs: 0 }, environment);
    await said(ready);
    child.kill("SIGTERM");
    const { stdout, stderr } = await ended;
    expect(stdout).toBe(ready);
    expect(JSON.parse(stderr.split("\n")[0] ?? "")).toMatchObject({ level: "info", msg: "ready" });
    const both = await runProgram(["serve", "--output", "json", "--log-format", "text"]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("--log-format text") });
  });

  test("prints only its address with --quiet, and logs only warnings and errors", async () => {
    const args = ["serve", "--quiet", "--log-format", "text"];
    const { child, said, ended } = startProgram(args, { closeMs: 0 });
    await said(ready);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, stdout: ready, stderr: "" });
  });
});
