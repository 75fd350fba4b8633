/** docs/command-line.md against the help of the program. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/cli/failure.ts";
import { runProgram } from "./run-program.ts";

const page = readFileSync(new URL("../../docs/command-line.md", import.meta.url), "utf8");

test("the page has a section for every command of the help, and for no other", async () => {
  const { stdout } = await runProgram(["--help"]);
  const listed = [...stdout.matchAll(/^ {2}([a-z][a-z-]*)[| ]/gm)].map(([, name]) => name);
  const commands = listed.filter((name) => name !== "help");
  const sections = [...page.matchAll(/^## annals ([a-z-]+)$/gm)].map(([, name]) => name);
  expect(sections.toSorted()).toEqual(commands.toSorted());
});

test("the page names every command below a command", async () => {
  for (const name of ["runs", "token", "policy", "jobs", "parked"]) {
    const { stdout } = await runProgram([name, "--help"]);
    const below = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)].map(([, sub = ""]) => sub);
    const section = page.split(`## annals ${name}\n`)[1]?.split("\n## ")[0] ?? "";
    expect(below.length).toBeGreaterThan(2);
    for (const sub of below.filter((each) => each !== "help")) expect(section).toContain(`${sub}`);
  }
});

test("the page names every exit code", () => {
  const codes = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(exitCodes));
});
