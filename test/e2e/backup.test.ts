/** `annals backup`, and restoring from its copy as docs/backup.md describes. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { backUp } from "../../src/app/offline/offline-backup.ts";
import { readConfig } from "../../src/config/config.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { start } from "../cli/run-program.ts";
import { entry } from "../contract/change-log-driver.ts";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, encoded } from "../support/client.ts";
import { flipBitsIn } from "../support/flipped-bytes.ts";
import { killableService } from "../support/killable-service.ts";

const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const annals = (...args: readonly string[]) => start(process.execPath, [main, ...args]).ended;

const tagOf = (n: number): string => `urn:li:tag:written-${n}`;

/** Writes tags one after the other until it is stopped. `accepted` counts the answered writes. */
function startWriting(client: Client) {
  const state = { accepted: 0, stopped: false };
  const reached = new Map<number, () => void>();
  const run = async (): Promise<void> => {
    while (!state.stopped) {
      const name = `tag ${state.accepted}`;
      const { status } = await client.upsert(tagOf(state.accepted), "tagProperties", { name });
      expect(status).toBe(200);
      state.accepted++;
      reached.get(state.accepted)?.();
    }
  };
  const done = run();
  return {
    accepted: () => state.accepted,
    until: (count: number) =>
      state.accepted >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => reached.set(count, resolve)),
    async stop() {
      state.stopped = true;
      await done;
    },
  };
}

/** The tags below `count` that the service does not have. */
async function missingTags(client: Client, count: number): Promise<readonly string[]> {
  const urns = Array.from({ length: count }, (_, n) => tagOf(n));
  const replies = await Promise.all(
    urns.map((urn) => client.get(`/aspects/${encoded(urn)}?aspect=tagProperties&version=0`)),
  );
  return urns.filter(
    (_, n) => replies[n]?.body.aspect?.["com.linkedin.tag.TagProperties"]?.name !== `tag ${n}`,
  );
}

describe("the command annals backup", () => {
  const service = killableService("annals-backup");
  const target = (): string => `${service.directory}-copy`;
  const otherFiles = (): readonly string[] => {
    const parent = join(service.directory, "..");
    const own = service.directory.slice(parent.length + 1);
    return readdirSync(parent).filter((name) => name.startsWith(`${own}-`));
  };

  test("annals backup copies a running service under writes, and the copy has every write accepted before", async () => {
    const { client } = await service.start();
    const writes = startWriting(client);
    await writes.until(200);
    const before = writes.accepted();
    const { code, stdout, stderr } = await annals(
      "backup",
      "--data",
      service.directory,
      "--to",
      target(),
    );
    const after = writes.accepted();
    await writes.stop();
    await service.stop("SIGKILL");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const said =
      /^backed up (\d+) records \([\d.]+ MB\) to "(.*)" in [\d.]+ s; the copy is verified\n$/;
    const [, records, to] = said.exec(stdout) ?? [];
    expect(to).toBe(target());
    expect(Number(records)).toBeGreaterThanOrEqual(before);
    expect(after).toBeGreaterThan(before);
    expect(readdirSync(target()).sort()).toEqual([
      "log.sqlite",
      "node.id",
      "operator.token",
      "secret.key",
      "signing.key",
      "system.client",
    ]);
    expect(statSync(target()).mode & 0o777).toBe(0o700);

    // As docs/backup.md says: move the directory away, and put a copy of the backup in its place.
    rmSync(service.directory, { recursive: true });
    cpSync(target(), service.directory, { recursive: true });
    const restored = await service.start();
    expect(await missingTags(restored.client, before)).toEqual([]);
    // The admin token is the same, and the next write gets the next position.
    expect(await restored.value("getStatus")).toMatchObject({ ok: true });
    const next = await restored.client.upsert(tagOf(0), "tagProperties", { name: "later" });
    expect(next.position).toBe(Number(records) + 1);
    await caughtUp({ client: restored.client, directory: service.directory });
    await service.stop();
    const verified = await annals("verify", "--data", service.directory);
    expect(verified).toMatchObject({ code: 0 });
    rmSync(target(), { recursive: true });
  });

  test("annals backup leaves an existing target unchanged, and names the allowed targets", async () => {
    await service.start();
    mkdirSync(target());
    const taken = await annals("backup", "--data", service.directory, "--to", target());
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining("already exists") });
    expect(readdirSync(target())).toEqual([]);
    rmSync(target(), { recursive: true });

    const nowhere = join(target(), "missing", "copy");
    const lost = await annals("backup", "--data", service.directory, "--to", nowhere);
    expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining("missing") });
    const empty = await annals("backup", "--data", nowhere, "--to", target());
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no log") });
    const flags = ["--log", "esdb://localhost:2113?tls=false", "--to", target()];
    const remote = await annals("backup", "--data", service.directory, ...flags);
    expect(remote).toMatchObject({ code: 2, stderr: expect.stringContaining("embedded log") });
    expect(otherFiles()).toEqual([]);
  });

  test("annals backup fails for a damaged log, and leaves no copy", async () => {
    const { client } = await service.start();
    for (let n = 0; n < 20; n++)
      await client.upsert(tagOf(n), "tagProperties", { name: `tag ${n}` });
    await service.stop();
    flipBitsIn(join(service.directory, "log.sqlite"), "tag 7");
    const { code, stderr } = await annals("backup", "--data", service.directory, "--to", target());
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/damaged|checksum/),
    });
    expect(otherFiles()).toEqual([]);
  });

  test("annals backup leaves no copy when it is interrupted", async () => {
    // The log is larger than one step of the copy.
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    for (let n = 0; n < 20; n++) await log.append([entry("large", "any", "x".repeat(600_000))]);
    await log.close();
    const config = readConfig({ data: service.directory }, {});
    for (const when of ["copying", "verifying"]) {
      const interrupt = new AbortController();
      const backup = backUp(config, {
        to: target(),
        signal: interrupt.signal,
        onProgress: ({ step }) => {
          if (step === when) interrupt.abort(new Error(`interrupted while ${when}`));
        },
      });
      await expect(backup).rejects.toThrow(`interrupted while ${when}`);
      expect(otherFiles()).toEqual([]);
    }
    await backUp(config, { to: target(), onProgress: () => {} });
    expect(readdirSync(target())).toEqual(["log.sqlite"]);
    rmSync(target(), { recursive: true });
  });
});
