/** The token of --metrics-token-file reads /metrics and nothing else. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openMetricsToken } from "../../src/auth/tokens/metrics-token.ts";
import { tokenOf } from "../support/operator.ts";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const token = "a-token-for-prometheus";
const logger = { warn: () => {} };
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: "invalid", message: expect.stringMatching(message) });

test("a token file that is missing, invalid, or writable by others is rejected", () => {
  using directory = temporaryDirectory("annals-metrics");
  const file = join(directory.path, "metrics.token");
  expect(openMetricsToken("", logger)).toBeUndefined();
  expect(() => openMetricsToken(file, logger)).toThrowError(
    expect.objectContaining({ code: "invalid", hint: expect.stringContaining("--metrics-token") }),
  );
  writeFileSync(file, "short", { mode: 0o600 });
  expect(() => openMetricsToken(file, logger)).toThrow(invalid(/holds no token/));
  writeFileSync(file, token);
  chmodSync(file, 0o666);
  expect(() => openMetricsToken(file, logger)).toThrow(invalid(/other users may write/));
});

test.each(["on", "off"])("with --auth %s the token reads only /metrics", async (auth) => {
  using directory = temporaryDirectory("annals-metrics");
  const file = join(directory.path, "metrics.token");
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  await using service = await runningService({ auth, metricsTokenFile: file });
  const statusOf = async (path: string, headers: Record<string, string>) =>
    (await service.client.call("GET", path, undefined, headers)).status;
  const shown = { Authorization: `Bearer ${token}` };
  expect(await statusOf("/metrics", shown)).toBe(200);
  expect(await statusOf("/metrics", { Authorization: `Bearer ${token}x` })).toBe(401);
  expect(await statusOf("/metrics", tokenOf(service.directory))).toBe(200);
  expect(await statusOf("/metrics", {})).toBe(auth === "on" ? 401 : 200);
  for (const path of [
    "/aspects/urn%3Ali%3Atag%3Aa?aspect=status&version=0",
    "/status",
    "/nowhere",
  ]) {
    expect(await statusOf(path, shown), path).toBe(401);
  }
});
