import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { runProgram, startProgram } from "./run-program.ts";

const ready = "annals is ready at http://127.0.0.1:8080\n";

describe("annals serve", () => {
  test("prints its address in one line on stdout, logs JSON on stderr, and ends with 0", async () => {
    const { child, said, ended } = startProgram(["serve"], { closeMs: 100 });
    await said(ready);
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: ready });
    const messages = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(messages.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
      "info: ready",
      "info: stopping; requests in flight finish",
      "info: stopped",
    ]);
  });

  test("prints addresses and commands for a person, and readable log lines, in the text format", async () => {
    const { child, said, ended } = startProgram(["serve", "--log-format", "text"], { closeMs: 0 });
    await said("Ctrl-C");
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      ready.trim(),
      "  Catalog          http://127.0.0.1:8080",
      "  Documentation    http://127.0.0.1:8080/restli/docs",
      "  Status           http://127.0.0.1:8080/status",
      "  Load the sample  npm run -s annals -- ingest test/data/sample/catalog.json",
      "  Stop             Ctrl-C (the catalog stays in data; --data names another directory)",
      "",
    ]);
    expect(stderr.trim().split("\n")).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d info {2}ready address=http:\S+ data=\S+$/),
      expect.stringMatching(/info {2}stopping; requests in flight finish signal=SIGTERM$/),
      expect.stringMatching(/info {2}stopped$/),
    ]);
  });

  test("shows how to send a token where requests need one", async () => {
    const args = ["serve", "--log-format", "text", "--auth", "on", "--port", "8081"];
    const { child, said, ended } = startProgram(args, { closeMs: 0 });
    await said("Ctrl-C");
    child.kill("SIGTERM");
    const { stdout } = await ended;
    const flags = "--server http://127.0.0.1:8081 --token-file data/operator.token";
    expect(stdout).toContain("  First token      in the file data/operator.token\n");
    expect(stdout).toContain(`-- ingest ${flags} test/data/sample/catalog.json\n`);
  });

  test("logs that it opens a catalog that takes long", async () => {
    const { child, said, ended } = startProgram(["serve"], { openMs: 4_500, closeMs: 0 });
    await said(ready);
    child.kill("SIGTERM");
    const [first = "{}"] = (await ended).stderr.split("\n");
    expect(JSON.parse(first)).toMatchObject({ level: "info", msg: "opening the catalog" });
  });

  test("takes two signals in quick succession for one", async () => {
    const { child, said, logged, ended } = startProgram(["serve"], { closeMs: 400 });
    await said(ready);
    child.kill("SIGINT");
    await logged("stopping");
    child.kill("SIGINT");
    expect((await ended).code).toBe(0);
  });

  test("stops by force after a second signal", async () => {
    const { child, said, logged, ended } = startProgram(["serve"]);
    await said(ready);
    child.kill("SIGTERM");
    await logged("stopping");
    await sleep(600);
    child.kill("SIGTERM");
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain("stopped by force");
  });

  test("stops by force after the shutdown timeout", async () => {
    const { child, said, ended } = startProgram(["serve", "--shutdown-timeout-seconds", "1"]);
    await said(ready);
    const start = performance.now();
    child.kill("SIGTERM");
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(performance.now() - start).toBeGreaterThan(950);
    expect(stderr).toContain('"reason":"timeout"');
  });

  test("prints why it could not start", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => {
        const address = other.address();
        resolve(address !== null && typeof address === "object" ? address.port : 0);
      });
    });
    const { code, stdout, stderr } = await runProgram(["serve"], { listen: port });
    other.close();
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: `annals: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
    });
  });

  test("logs an uncaught error, and ends with 1", async () => {
    const { code, stderr } = await runProgram(["serve"], { failLaterMs: 50 });
    expect(code).toBe(1);
    const last = JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({ level: "fatal", err: { message: "a fault of ours" } });
  });

  test("logs from the configured level", async () => {
    const { child, said, ended } = startProgram(["serve", "--log-level", "warn"], { closeMs: 0 });
    await said(ready);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, stdout: ready, stderr: "" });
  });
});
