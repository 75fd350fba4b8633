import { once } from "node:events";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { flagOf, settings } from "../../src/config/settings.ts";
import { settingsMarkdown } from "../../src/config/settings-table.ts";
import { freeAddress } from "./recording-catalog.ts";
import { runProgram, startProgram } from "./run-program.ts";

describe("the command line", () => {
  test("prints version and help to stdout", async () => {
    expect(await runProgram(["--version"])).toEqual({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: "",
    });
    const { code, stdout, stderr } = await runProgram(["serve", "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("--shutdown-timeout-seconds <seconds>");
    expect(stdout).toContain("ANNALS_PORT");
    expect(stdout).toContain("Exit codes:");
    const help = (await runProgram(["ingest", "--help"])).stdout.replace(/\s+/g, " ");
    expect(help).toContain(
      "the service of annals login, or http://127.0.0.1:8080; ANNALS_HOST and ANNALS_PORT)",
    );
  });

  test.each([
    [["serve", "--prot", "1"], "unknown option '--prot'", "--port"],
    [["serv"], "unknown command 'serv'", "serve"],
    [["ingest"], "missing required argument 'file'", ""],
    [["ingest", "a.json", "--batch", "0"], "It is a whole number from 1 to 10000", ""],
    [["ingest", "a.json", "--server", "localhost:8080"], "It is a URL like http://", ""],
    [["log", "--from", "end"], "It is a whole number", ""],
    [["serve", "--port", "http"], '--port cannot be "http"', "from 0 to 65,535"],
    [["rebuild", "--port", "1"], "unknown option '--port'", ""],
    [["serve", "extra"], "too many arguments", ""],
    [["serve", "18097"], "too many arguments", "npm start -- --port 18097"],
    [["check", "x"], "too many arguments", "npm run -s annals -- check --data x"],
  ])("%j ends with 2 and an error message", async (args, message, hint) => {
    const { code, stdout, stderr } = await runProgram(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).toMatch(/^annals: /);
  });

  test("a misspelled variable stops every command that reads settings", async () => {
    for (const args of [["serve"], ["log"], ["rebuild"], ["settings"], ["ingest", "x"]]) {
      const { code, stderr } = await runProgram(args, {}, { ANNALS_HOTS: "0.0.0.0" });
      expect(code, args[0]).toBe(2);
      expect(stderr).toContain('"ANNALS_HOTS", which is not a setting. Did you mean "ANNALS_HOST"');
    }
  });

  test("prints the settings, as a list with their sources or as the README's table", async () => {
    const list = await runProgram(["settings"], {}, { ANNALS_PORT: "9000" });
    expect(list.stdout).toMatch(/^port +9000 +environment$/m);
    expect(list.stdout).toMatch(/^host +127\.0\.0\.1 +default$/m);
    expect((await runProgram(["settings", "--markdown"])).stdout).toBe(`${settingsMarkdown()}\n`);
    const narrow = await runProgram(["settings"], {}, { COLUMNS: "40" });
    expect(narrow.stdout).toContain("\nSETTING: port\nVALUE: 8080\nSOURCE: default\n");
  });

  test("shows no default of a flag that is off unless given", async () => {
    expect((await runProgram(["settings", "-h"])).stdout).not.toContain("default: false");
  });

  test("shows no default of a count without a limit, and no option that is ignored", async () => {
    const watching = (await runProgram(["watch", "-h"])).stdout;
    expect(watching).toMatch(/--count <changes> +end after so many \(default: no end\)$/m);
    expect((await runProgram(["verify", "-h"])).stdout).not.toContain("--grade");
    expect((await runProgram(["verify", "--grade", "quick"])).stderr).not.toContain("--grade");
  });
});

test("the table of settings names each command that has a flag, and no other", async () => {
  const top = (await runProgram(["--help"])).stdout.matchAll(/^ {2}([a-z-]+) /gm);
  const commands = [...top].map(([, name = ""]) => name).filter((name) => name !== "help");
  expect(commands).toEqual(expect.arrayContaining(["serve", "status", "jobs", "scavenge"]));
  const below: Readonly<Record<string, string>> = { token: "create", jobs: "show", parked: "list" };
  const helps = await Promise.all(
    commands.map(async (name) => {
      const args = [name, below[name] ?? "", "--help"].filter((arg) => arg !== "");
      return [name, (await runProgram(args)).stdout] as const;
    }),
  );
  for (const key of ["data", "operatorTokenFile", "log", "port"] as const) {
    const has = helps.filter(([, help]) => help.includes(`  ${flagOf(key)} <`));
    expect([key, ...has.map(([name]) => name).sort()]).toEqual([
      key,
      ...[...settings[key].commands].sort(),
    ]);
  }
});

describe("annals log", () => {
  test("prints records as JSON lines, the value as an object", async () => {
    const args = ["log", "--from", "7", "--limit", "2", "--stream", "s", "--backward"];
    const { code, stdout } = await runProgram([...args, "--data", "/x/y"], { records: 5 });
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      position: 2,
      stream: "entity-urn:li:tag:rare",
      revision: 1,
      changeType: "UPSERT",
      value: { from: 7, limit: 2, stream: "s", backward: true, data: resolve("/x/y") },
    });
  });

  test("ends without an error when the reader closes its pipe", async () => {
    const { child, said, ended } = startProgram(["log"], { records: 1_000_000 });
    await said("\n");
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("annals rebuild", () => {
  test("prints each view that was rebuilt", async () => {
    const { code, stdout, stderr } = await runProgram(["rebuild", "aspects", "timeseries"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^aspects: rebuilt from 10 records in [\d.]+ s\ntimeseries: rebuilt/);
  });
});

describe("annals backup", () => {
  test("prints the number of copied records, and requires a target", async () => {
    const { code, stdout } = await runProgram(["backup", "--to", "/x/y"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^backed up 10 records \(2\.5 MB\) to "\/x\/y" in [\d.]+ s; the copy is verified\n$/,
    );
    expect((await runProgram(["backup"])).code).toBe(2);
  });
});

describe("annals copy-log", () => {
  test("prints the number of copied and of existing records", async () => {
    const { code, stdout } = await runProgram(["copy-log", "--to", "/x/y"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "10 records copied\n" });
    const again = await runProgram(["copy-log", "--to", "/x/y"], { records: 4 });
    expect(again.stdout).toBe("10 records copied; 4 were there\n");
    expect((await runProgram(["copy-log"])).code).toBe(2);
  });
});

describe("annals check", () => {
  test("prints each store with its findings, and ends with 1 if there are any", async () => {
    const { code, stdout } = await runProgram(["check"]);
    expect(code).toBe(1);
    expect(stdout).toBe(
      "log         esdb://here  9  ok\ngraph       bolt://there  to be repaired\n  - Mend it\n",
    );
    expect((await runProgram(["check"], { records: 0 })).code).toBe(0);
  });
});

describe("annals ingest", () => {
  test("ends with 2 for a file that does not exist, and with 130 after Ctrl-C", async () => {
    const absent = await runProgram(["ingest", "absent.json"]);
    expect(absent).toMatchObject({ code: 2, stdout: "" });
    expect(absent.stderr).toBe('annals: file "absent.json" does not exist. Check its path\n');
    const server = await freeAddress();
    const { child, ended } = startProgram(["ingest", "package.json", "--server", server]);
    await once(child.stderr ?? child, "data");
    child.kill("SIGINT");
    expect(await ended).toEqual({
      code: 130,
      stdout: "",
      stderr: `waiting for ${server} (ECONNREFUSED)\nannals: interrupted\n`,
    });
  });
});
