/**
 * Invalid settings and unusable files with the real command: exit codes as in `--help`, and hints.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { createClient } from "../support/client.ts";
import { type PlainUser, plainUser } from "../support/faults.ts";
import { operatorOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";
import { type Ended, start } from "./run-program.ts";

const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const annals = (...args: readonly string[]): Promise<Ended> =>
  start(process.execPath, [main, ...args], { ANNALS_LOG_LEVEL: "warn" }).ended;

let directory: TemporaryDirectory;
let data: string;
beforeAll(async () => {
  directory = temporaryDirectory();
  data = join(directory.path, "data");
  await using service = await startService(data);
  const client = createClient(service.address);
  const reply = await client.upsert("urn:li:tag:cold", "tagProperties", { name: "cold" });
  expect(reply.status).toBe(200);
  await caughtUp({ client, directory: data });
  expect(await service.stop()).toBe(0);
});
afterAll(() => directory[Symbol.dispose]());

const serve = (...args: readonly string[]) => annals("serve", "--port", "0", ...args);

describe("an invalid setting ends with 2:", () => {
  test("a missing model directory", async () => {
    const model = join(directory.path, "no-model");
    const { code, stderr } = await serve("--data", data, "--model", model);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`model directory "${model}" cannot be read`),
    });
  });

  test("a missing file of certificates, also where no store uses it", async () => {
    const file = join(directory.path, "no-certificates");
    for (const command of ["serve", "check"]) {
      const args = [command, "--data", data, "--store-certificates-file", file];
      const { code, stderr } = await annals(...args);
      expect({ command, code, stderr }).toEqual({
        ...{ command, code: 2 },
        stderr: `annals: the file "${file}" cannot be read. Name a file with certificates in --store-certificates-file\n`,
      });
    }
  });

  test("a host of another machine", async () => {
    const { code, stderr } = await serve("--data", data, "--host", "203.0.113.7");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/cannot listen on 203\.0\.113\.7:0.*--host/s),
    });
  });

  test("a data directory that cannot be created", async () => {
    const file = join(directory.path, "file");
    writeFileSync(file, "");
    const { code, stderr } = await serve("--data", join(file, "data"));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/cannot create the data directory.*--data/s),
    });
  });

  test("another urn namespace than that of the data", async () => {
    for (const command of ["serve", "rebuild"]) {
      const { code, stderr } = await annals(command, "--data", data, "--urn-namespace", "acme");
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `annals: the urns in "${data}" have the namespace "li", not "acme". Start with --urn-namespace li (ANNALS_URN_NAMESPACE), or name another directory with --data\n`,
      });
    }
  });

  test.each(["rebuild", "log"])("%s without a log, which creates no directory", async (command) => {
    const absent = join(directory.path, "absent");
    const { code, stderr } = await annals(command, "--data", absent);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `annals: there is no log in "${absent}". Name the data directory of a service with --data\n`,
    });
    expect(existsSync(absent)).toBe(false);
  });

  test("an unknown view", async () => {
    const { code, stderr } = await annals("rebuild", "pictures", "--data", data);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'there is no view "pictures". The views are aspects, timeseries, graph, search',
    );
    const mistyped = await annals("rebuild", "serch", "--data", data);
    expect(mistyped.stderr).toContain('there is no view "serch". Did you mean "search"?');
  });
});

describe("a file without permissions ends with 2:", () => {
  const possible = plainUser(main);
  const user = possible as PlainUser;
  // The next test names the reason for a skip.
  const tried = "skipped" in possible ? test.skip : test;
  test("there is another user to run the command as", ({ skip }) => {
    if ("skipped" in possible) skip(possible.skipped);
  });

  /** A compile cache of that user, because another user's cannot be read. */
  const compiled = () => join(directory.path, "compiled");
  beforeAll(() => {
    chmodSync(directory.path, 0o711);
    mkdirSync(compiled());
    if (!("skipped" in possible)) user.give(compiled());
  });
  const asUser = (...args: readonly string[]): Promise<Ended> => {
    const own = { ANNALS_LOG_LEVEL: "warn", ANNALS_PORT: "0", NODE_COMPILE_CACHE: compiled() };
    return start(process.execPath, [main, ...args], own, user.identity).ended;
  };
  /** A directory of that user with a file of this mode, at an accessible path. */
  function directoryWith(name: string, mode: number): string {
    const own = join(directory.path, `${name}-${mode.toString(8)}`);
    cpSync(data, own, { recursive: true });
    user.give(own);
    chmodSync(join(own, name), mode);
    return own;
  }

  tried("a directory that may only be read, as a killed process has left it", async () => {
    const own = directoryWith("log.sqlite", 0o600);
    const killed = start(
      process.execPath,
      [main, "serve", "--data", own],
      { ANNALS_LOG_LEVEL: "warn", ANNALS_PORT: "0", NODE_COMPILE_CACHE: compiled() },
      user.identity,
    );
    await killed.said("http://");
    killed.child.kill("SIGKILL");
    await killed.ended;
    chmodSync(own, 0o555);
    try {
      for (const command of ["serve", "verify", "rebuild"]) {
        const { code, stderr } = await asUser(command, "--data", own);
        expect({ command, code, stderr }).toEqual({
          ...{ command, code: 2 },
          stderr: `annals: cannot use the data directory "${own}": it may not be read and written (EACCES). Give it to the user that the service runs as, with mode 700, or name another one with --data\n`,
        });
      }
    } finally {
      chmodSync(own, 0o700);
    }
  });

  tried("a log that may only be read", async () => {
    const own = directoryWith("log.sqlite", 0o444);
    const file = join(own, "log.sqlite");
    for (const command of ["serve", "verify", "rebuild"]) {
      const { code, stderr } = await asUser(command, "--data", own);
      expect({ command, code, stderr }).toEqual({
        ...{ command, code: 2 },
        stderr: `annals: cannot open log "${file}": "${file}" may not be written (EACCES). Give it to the user that the service runs as, with mode 600, or run this as its owner\n`,
      });
    }
    expect((await asUser("log", "--data", own)).code).toBe(0);
    const { code, stdout } = await asUser("check", "--data", own);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/to be repaired\n {2}- ".*log\.sqlite" may not be written/),
    });
  });

  tried("a log that may not even be read", async () => {
    const own = directoryWith("log.sqlite", 0);
    for (const command of ["serve", "verify", "rebuild"]) {
      const { code, stderr } = await asUser(command, "--data", own);
      expect({ command, code, stderr }).toEqual({
        ...{ command, code: 2 },
        stderr: expect.stringContaining('log.sqlite" may not be written (EACCES)'),
      });
    }
    const { code, stderr } = await asUser("log", "--data", own);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('log.sqlite" may not be read (EACCES)'),
    });
  });

  tried("a view, which is rebuilt all the same", async () => {
    for (const mode of [0o444, 0]) {
      const own = directoryWith("search.sqlite", mode);
      for (const command of ["serve", "verify"]) {
        const { code, stderr } = await asUser(command, "--data", own);
        expect({ command, code, stderr }).toEqual({
          ...{ command, code: 2 },
          stderr: expect.stringMatching(
            /the view "search" could not be opened: ".*search\.sqlite" may not be written \(EACCES\)\. Give it to .*or remove/,
          ),
        });
      }
      expect((await asUser("check", "--data", own)).stdout).toContain("search.sqlite");
      expect(await asUser("rebuild", "search", "--data", own)).toMatchObject({ code: 0 });
      expect(await asUser("verify", "--data", own)).toMatchObject({ code: 0 });
    }
  });

  tried("any other file of the directory, which serve and check name", async () => {
    const stores = /^(log|aspects|timeseries|graph|search)\.sqlite/;
    const others = readdirSync(data).filter((name) => !stores.test(name));
    expect(others).toEqual(
      expect.arrayContaining(["lock.pid", "lock.sqlite", "node.id", "operator.token"]),
    );
    for (const name of new Set([...others, "signing.key", "verify.sqlite"])) {
      // Some are made when they are first needed.
      const made = join(data, name);
      if (!existsSync(made)) writeFileSync(made, "");
      const own = directoryWith(name, 0);
      const served = await asUser("serve", "--data", own, "--auth", "on");
      expect({ name, ...served }).toMatchObject({
        ...{ name, code: 2 },
        stderr: expect.stringContaining(join(own, name)),
      });
      const checked = await asUser("check", "--data", own);
      expect({ name, ...checked }).toMatchObject({
        ...{ name, code: 1 },
        stdout: expect.stringContaining(`  - "${join(own, name)}" may not be `),
      });
    }
  });

  tried("a directory that others may not look into", async () => {
    const own = directoryWith(".", 0);
    for (const command of ["log", "verify", "rebuild"]) {
      const { code, stderr } = await asUser(command, "--data", own);
      expect({ command, code, stderr }).toEqual({
        ...{ command, code: 2 },
        stderr: expect.stringMatching(/log\.sqlite" may not be read \(EACCES\)\. .*belongs to/),
      });
    }
    chmodSync(own, 0o700);
  });
});

describe("check reports why a start would be rejected:", () => {
  /** A copy of the data without damage. */
  function copyOf(name: string): string {
    const own = join(directory.path, name);
    cpSync(data, own, { recursive: true });
    return own;
  }

  test("a log that ends before its views", async () => {
    const own = copyOf("log-lost");
    rmSync(join(own, "log.sqlite"));
    const rejection =
      /the view "\w+" is at position \d+, but the log ends at 0\. The log was lost or replaced/;
    const checked = await annals("check", "--data", own);
    expect(checked).toMatchObject({ code: 1, stdout: expect.stringMatching(rejection) });
    expect(checked.stdout).toContain(`run: npm run -s annals -- rebuild --data ${own}\n`);
    expect((await serve("--data", own)).stderr).toMatch(rejection);
    // The start has begun a new log.
    expect((await annals("check", "--data", own)).stdout).toMatch(rejection);
  });

  test("a damaged log", async () => {
    const own = copyOf("log-damaged");
    writeFileSync(join(own, "log.sqlite"), "no database at all\n".repeat(1_000));
    const rejection = /the log ".*log\.sqlite" is damaged: .*Restore the log from a backup/;
    expect(await annals("check", "--data", own)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(rejection),
    });
    expect(await serve("--data", own)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(rejection),
    });
  });

  test("nothing for valid data, also while a service runs", async () => {
    const own = copyOf("well");
    expect(await annals("check", "--data", own)).toMatchObject({ code: 0 });
    await using service = await startService(own);
    expect(await annals("check", "--data", own)).toMatchObject({ code: 0 });
    await service.stop();
  });
});

describe("a temporary condition ends with 1:", () => {
  test("a port in use, which the start reports before it creates the data directory", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const absent = join(directory.path, "not-created");
    const { code, stderr } = await annals("serve", "--data", absent, "--port", `${port}`);
    other.close();
    expect(existsSync(absent)).toBe(false);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/cannot listen on 127\.0\.0\.1:\d+.*--port/s),
    });
  });

  test("a data directory that another process uses", async () => {
    await using service = await startService(data);
    const { code, stderr } = await serve("--data", data);
    const verified = await annals("verify", "--data", data);
    await service.stop();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("in use by another process"),
    });
    expect(verified).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`verify --data ${data} --server <its address>`),
    });
  });
});

test("the limit of annals log counts printed records, without records of jobs", async () => {
  const own = join(directory.path, "own-log");
  await using service = await startService(own);
  const client = createClient(service.address);
  for (const name of ["one", "two"]) {
    const reply = await client.upsert(`urn:li:tag:${name}`, "tagProperties", { name });
    expect(reply.status).toBe(200);
  }
  const operator = operatorOf({ client, directory: own });
  for (let n = 0; n < 3; n++) {
    await operator.ended(await operator.value("verify"));
  }
  await service.stop();
  const printed = async (...args: readonly string[]) => {
    const { code, stdout } = await annals("log", "--data", own, ...args);
    expect(code).toBe(0);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  const all = await printed();
  const newest = all.toReversed();
  expect(await printed("--backward", "--limit", "1")).toEqual(newest.slice(0, 1));
  expect(await printed("--backward", "--limit", "3")).toEqual(newest.slice(0, 3));
  expect(await printed("--limit", `${all.length}`)).toEqual(all);
  expect(await printed("--limit", "2")).toEqual(all.slice(0, 2));
});

test("a service on all interfaces without authentication logs a warning with its real address", async () => {
  await using service = await startService(data, { args: ["--host", "0.0.0.0", "--auth", "off"] });
  // A browser opens this one, and keeps the cookie of a session there.
  expect(service.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await service.stop();
  const [line, ...others] = service.stderr().trim().split("\n");
  expect(others).toEqual([]);
  expect(JSON.parse(line ?? "")).toMatchObject({
    level: "warn",
    address: service.address.replace("127.0.0.1", "0.0.0.0"),
    msg: expect.stringContaining("everyone who reaches it may read and write"),
  });
  for (const args of [[], ["--host", "0.0.0.0"]]) {
    await using own = await startService(data, { args });
    await own.stop();
    expect(own.stderr()).toBe("");
  }
});

test("a service on all interfaces requires tokens by default", async () => {
  await using service = await startService(data, { args: ["--host", "0.0.0.0"] });
  const client = createClient(service.address);
  expect((await client.get("/health")).status).toBe(200);
  expect((await client.get("/entitiesV2/urn:li:tag:a")).status).toBe(401);
  await service.stop();
});

test("a service with a missing key file or contradictory authorization settings does not start", async () => {
  for (const args of [
    ["--signing-key-file", join(data, "none")],
    ["--auth", "maybe"],
    ["--auth", "off", "--write-authorization", "on"],
    ["--host", "0.0.0.0", "--auth", "off", "--read-authorization", "on"],
  ]) {
    await expect(startService(data, { args })).rejects.toThrow("ended with 2");
  }
});

test("entities of types that the model lacks are logged at the start", async () => {
  const extension = join(directory.path, "extension");
  mkdirSync(join(extension, "types"), { recursive: true });
  const entities = [{ name: "packet", keyAspect: "packetKey", aspects: ["status"] }];
  writeFileSync(join(extension, "entities.json"), JSON.stringify(entities));
  const key = {
    ...{ type: "record", name: "PacketKey", namespace: "org.example" },
    ...{ Aspect: { name: "packetKey" }, fields: [{ name: "id", type: "string" }] },
  };
  writeFileSync(join(extension, "types", "PacketKey.avsc"), JSON.stringify(key));
  const own = join(directory.path, "packets");
  await using extended = await startService(own, { args: ["--model-extension", extension] });
  const client = createClient(extended.address);
  await client.upsert("urn:li:packet:p1", "status", { removed: false });
  await extended.stop();
  expect(extended.stderr()).toMatch(/^\{.*first token is in this file"\}\n$/);
  for (let n = 0; n < 2; n++) {
    await using plain = await startService(own);
    await plain.stop();
    // The first start without the extension also logs the rebuild of the views.
    const lines = plain.stderr().trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: "warn",
        types: ["packet"],
        msg: expect.stringContaining("--model-extension"),
      }),
    );
  }
});
