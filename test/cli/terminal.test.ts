/** Commands on a terminal: widths, colors, progress, questions and Ctrl-C. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { barLine } from "../../src/cli/terminal/terminal.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";
import { hasPseudoTerminals, onTerminal } from "./pseudo-terminal.ts";

const annals = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const fakes = fileURLToPath(new URL("program-with-fakes.ts", import.meta.url));
const rare = "urn:li:tag:rare-and-with-a-name-that-is-longer-than-a-line";

describe("the line of a progress bar", () => {
  const format = "reading {bar} {percentage}% | {value} of {total}";
  const values = { value: 500, total: 1_000 };

  test("has a bar of at most 40 columns", () => {
    expect(barLine(format, values, 0.5, 120)).toBe(
      `reading ${"=".repeat(20)}${"-".repeat(20)} 50% | 500 of 1000`,
    );
  });

  test("shortens the bar, then leaves it out, to fit the terminal", () => {
    const lines = [60, 40, 30].map((columns) => barLine(format, values, 0.5, columns));
    expect(lines.map((line) => line.length)).toEqual([59, 39, 25]);
    expect(lines[2]).toBe("reading 50% | 500 of 1000");
  });

  test("keeps a name that has no value", () => {
    expect(barLine("{bar} {records} {constructor}", {}, 1, 10)).toBe("{records} {constructor}");
  });
});

// Only python3 opens a pseudo-terminal here, and a machine may be without it.
describe.skipIf(!hasPseudoTerminals)("on a terminal", () => {
  let service: RunningService;
  let home: TemporaryDirectory;
  beforeAll(async () => {
    service = await runningService({ logLevel: "silent" });
    home = temporaryDirectory("annals-terminal");
    await service.client.upsert(rare, "tagProperties", { name: "rare" });
  });
  afterAll(async () => {
    home[Symbol.dispose]();
    await service[Symbol.asyncDispose]();
  });

  type Options = Partial<Parameters<typeof onTerminal>[1]>;
  const run = (args: readonly string[], { environment, ...options }: Options = {}) =>
    onTerminal([process.execPath, annals, ...args], {
      ...{ columns: 40, ...options },
      environment: {
        ...{ HOME: home.path, XDG_CONFIG_HOME: undefined, ANNALS_SERVER: service.address },
        ...{ ANNALS_TOKEN: undefined, COLUMNS: undefined, NO_COLOR: undefined, ...environment },
      },
    });

  test("tables fit 40 columns, with a bold head unless NO_COLOR is set", async () => {
    const { code, raw, lines } = await run(["list", "tag"]);
    expect(code).toBe(0);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines.slice(1).join("")).toBe(rare);
    expect(raw).toContain("\u001b[1mURN");
    const plain = await run(["list", "tag"], { environment: { NO_COLOR: "1" } });
    expect(plain.raw).not.toContain("\u001b");
  });

  test.each([
    ["Ctrl-C", "\u0003", 130, "annals: interrupted"],
    ["Ctrl-D", "\u0004", 2, "annals: not confirmed: nothing was changed"],
    ["no", "n\n", 2, "annals: not confirmed: nothing was changed"],
  ])("%s at a confirmation changes nothing", async (_, type, code, message) => {
    const args = ["delete", rare, "--hard"];
    const ended = await run(args, { keys: [{ after: "[y/N]", type }] });
    expect({ code: ended.code, last: ended.lines.at(-2) }).toEqual({ code, last: message });
    expect((await run(["list", "tag", "--output", "urns"])).raw).toBe(`${rare}\r\n`);
  });

  test("Ctrl-C ends a watch, and the message names the command that resumes it", async () => {
    const args = ["watch", "--after", "0", "--urn", rare];
    const { code, lines } = await run(args, { keys: [{ after: "tagKey", type: "\u0003" }] });
    expect(code).toBe(130);
    expect(lines.at(-2)).toMatch(/annals: interrupted\. Resume with: .* watch --after \d+ and/);
  });

  test("work of more than a second has a progress bar that fits the terminal", async () => {
    const work = (workMs: number, environment: Options["environment"] = {}) =>
      onTerminal([process.execPath, fakes, "rebuild", "aspects"], {
        columns: 60,
        environment: { ...environment, FAKE: JSON.stringify({ workMs }) },
      });
    const { code, raw } = await work(2_500);
    expect(code).toBe(0);
    expect(raw).toMatch(/rebuilding =+-+ 50% \| position 5 of 10/);
    const [frame = ""] = /rebuilding =+-+ 50% \| position 5 of 10/.exec(raw) ?? [];
    expect(frame.length).toBeLessThan(60);
    expect((await work(0)).raw).not.toContain("rebuilding");
  });
});
