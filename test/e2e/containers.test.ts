/**
 * Tests that need a container engine: the compose files as the engine parses them, and the image.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const cwd = fileURLToPath(new URL("../..", import.meta.url));
const env = { ...process.env, STORES_PASSWORD: "only-for-this-test" };
const docker = (...args: readonly string[]) => promisify(execFile)("docker", args, { cwd, env });

const engine = await docker("info").then(
  () => undefined,
  () => "no container engine runs on this machine",
);
// Without an engine, all tests of this file are skipped.
beforeEach(({ skip }) => {
  if (engine !== undefined) skip(engine);
});

test.each(["compose.yaml", "docker/cluster.yaml"])(
  "the container engine accepts %s",
  async (file) => {
    await docker("compose", "-f", file, "config", "--quiet");
  },
);

test("the image runs the annals command", async () => {
  const image = `annals:${packageJson.version}`;
  await docker("build", "-f", "docker/Dockerfile", "-t", image, ".");
  const { stdout } = await docker("run", "--rm", image, "--version");
  expect(stdout).toBe(`${packageJson.version}\n`);
}, 900_000);
