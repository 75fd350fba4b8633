/** The systemd unit: its settings, its timeouts and limits, and the command that it starts. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { exitCodes } from "../../src/cli/failure.ts";
import { settings, variableOf } from "../../src/config/settings.ts";
import { start } from "../cli/run-program.ts";
import { settingNamed } from "../support/setting-named.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const root = new URL("../../", import.meta.url);
const unit = readFileSync(new URL("deploy/annals.service", root), "utf8");
const annals = "/opt/annals/node_modules/.bin/annals";

/** Every value of a directive, in the order of the file. */
const allOf = (directive: string): readonly string[] =>
  [...unit.matchAll(new RegExp(`^${directive}=(.*)$`, "gm"))].map(([, value = ""]) => value);

const firstOf = (directive: string): string => allOf(directive).at(0) ?? "";

const variables = allOf("Environment").map((line) => line.split("=") as [string, string]);

test("the unit sets only variables that are settings, with values that they accept", () => {
  const own = variables.filter(([name]) => name.startsWith("ANNALS_"));
  expect(own.length).toBeGreaterThan(1);
  for (const [name, value] of own) {
    const key = settingNamed(name);
    expect(key, name).toBeDefined();
    if (key !== undefined) expect(settings[key].kind.parse(value)).toBeDefined();
  }
});

test("the command of the unit starts the service and stops it with the exit code that means success", async () => {
  using directory = temporaryDirectory("annals-systemd");
  const places = { "%S": join(directory.path, "state"), "%C": join(directory.path, "cache") };
  for (const place of Object.values(places)) mkdirSync(place);
  const environment = Object.fromEntries(
    variables.map(([name, value]) => [
      name,
      value.replace(/%[SC]/, (place) => places[place as keyof typeof places]),
    ]),
  );
  const [command, ...args] = firstOf("ExecStart").split(" ");
  expect(command).toBe(annals);
  const program = [fileURLToPath(new URL("src/annals.mjs", root)), ...args];
  const own = { ...environment, [variableOf("port")]: "0" };

  const { child, said, ended } = start(process.execPath, program, own);
  await said("annals is ready at http://127.0.0.1:");
  child.kill(firstOf("KillSignal") as NodeJS.Signals);
  expect((await ended).code).toBe(exitCodes.done);
  expect(readFileSync(join(places["%S"], "annals", "operator.token"), "utf8")).not.toBe("");

  const wrong = { ...own, [variableOf("port")]: "many" };
  const rejected = await start(process.execPath, program, wrong).ended;
  expect(rejected.code).toBe(Number(firstOf("RestartPreventExitStatus")));
});

test("systemd waits longer for the end than the service waits for its requests", () => {
  const seconds = Number(settings.shutdownTimeoutSeconds.fallback);
  expect(Number(firstOf("TimeoutStopSec"))).toBeGreaterThan(seconds);
});

test("the memory limit is the one of the compose file", () => {
  const compose = parse(readFileSync(new URL("compose.yaml", root), "utf8"));
  const { memory } = compose.services.annals.deploy.resources.limits;
  expect(firstOf("MemoryMax").toLowerCase()).toBe(memory);
});

test("systemd accepts the unit", ({ skip }) => {
  if (spawnSync("systemd-analyze", ["--version"]).status !== 0) {
    skip("systemd-analyze is not installed");
  }
  using directory = temporaryDirectory("annals-systemd");
  const file = join(directory.path, "annals.service");
  // systemd checks that the program exists.
  const verify = (text: string) => {
    writeFileSync(file, text.replace(annals, process.execPath));
    return spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" }).stderr;
  };
  expect(verify(unit)).toBe("");
  expect(verify(unit.replace("NoNewPrivileges", "NoMorePrivileges"))).toContain("NoMorePriv");
});
