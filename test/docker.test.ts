/**
 * The compose files: their schema, pinned images, health checks, limits, and the settings that they
 * name. e2e/containers.test.ts runs what needs a container engine.
 */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { settingKeys, settings, variableOf } from "../src/config/settings.ts";
import { parseAddress } from "../src/log/eventstoredb/connection-string.ts";
import { start } from "./cli/run-program.ts";
import { images } from "./support/servers/images.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

interface Service {
  readonly image: string;
  readonly build?: { readonly dockerfile: string };
  readonly restart: string;
  readonly healthcheck: { readonly test?: readonly unknown[]; readonly disable?: boolean };
  readonly command?: readonly unknown[];
  readonly entrypoint?: readonly unknown[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly deploy: {
    readonly replicas?: number;
    readonly resources: { readonly limits: { readonly memory: string; readonly cpus: string } };
  };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const root = new URL("../", import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), "utf8");
const read = (file: string): Compose => parse(textOf(file), { merge: true });
const { version } = JSON.parse(textOf("package.json")) as { version: string };

const files = ["compose.yaml", "docker/cluster.yaml"];
const services = files.flatMap((file) =>
  Object.entries(read(file).services).map(([name, service]) => ({ file, name, service })),
);
const cluster = read("docker/cluster.yaml");

/** Fills in `${NAME:-value}`, `${NAME:?why}` and `$$` as compose does. */
const filledIn = (text: string): string =>
  text
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1")
    .replaceAll(/\$\{\w+:\?[^}]*\}/g, "given-from-outside")
    .replaceAll("$$", "$");

test.each(files)("%s follows the Compose Specification", (file) => {
  const validate = new Ajv({ strict: false }).compile(
    JSON.parse(textOf("test/data/compose-spec.json")),
  );
  expect(validate(read(file)), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...read(file), servces: {} })).toBe(false);
});

test("the folder has no other compose file", () => {
  const found = readdirSync(new URL("docker/", root)).filter((name) => name.endsWith(".yaml"));
  expect(found).toEqual(["cluster.yaml"]);
});

describe("the embedded profile", () => {
  const { annals } = read("compose.yaml").services;

  test("starts without any variable", () => {
    expect(textOf("compose.yaml").replaceAll("$$", "")).not.toContain("$");
  });

  test("prints the command that shows the first token, then runs the command", async () => {
    const [shell = "", ...args] = [...(annals?.entrypoint ?? []), ...(annals?.command ?? [])].map(
      (word) => filledIn(String(word)),
    );
    const folder = temporaryDirectory();
    const file = join(folder.path, "annals");
    writeFileSync(file, '#!/bin/sh\necho ran "$@"\n', { mode: 0o755 });
    const PATH = `${folder.path}:${process.env.PATH}`;
    const { code, stdout, stderr } = await start(shell, args, { PATH }).ended;
    folder[Symbol.dispose]();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ran serve\n" });
    expect(stderr).toContain("docker compose exec annals cat /data/operator.token\n");
    expect(annals?.volumes).toEqual(["data:/data"]);
  });
});

test("the error for a missing variable names the file to set it in", () => {
  const hints = [...textOf("docker/cluster.yaml").matchAll(/\$\{\w+:\?([^}]*)\}/g)];
  expect(hints.length).toBeGreaterThan(0);
  for (const [, hint] of hints) expect(hint).toContain("docker/.env");
});

test("the README names the command of each profile in its section on the start", () => {
  const [start = ""] = textOf("README.md").split("\n## A five-minute tour");
  for (const command of ["docker compose up", "docker compose -f docker/cluster.yaml up"]) {
    expect(start).toContain(command);
  }
});

test("the example names every variable of the cluster profile", () => {
  const used = textOf("docker/cluster.yaml").matchAll(/(?<!\$)\$\{(\w+)/g);
  const named = textOf("docker/.env.example").matchAll(/^(\w+)=/gm);
  const names = (found: Iterable<RegExpMatchArray>) => [
    ...new Set([...found].map(([, name]) => name)),
  ];
  expect(names(named)).toEqual(names(used));
});

describe("the image", () => {
  const dockerfile = textOf("docker/Dockerfile");

  test("has files that the build context includes", () => {
    const admitted = [...textOf(".dockerignore").matchAll(/^!(.*)$/gm)].map(([, path]) => path);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)]
      .flatMap(([, paths = ""]) => paths.split(" "))
      .filter((path) => path !== "");
    expect([...new Set(copied)].sort()).toEqual(admitted.sort());
    for (const path of copied) expect(existsSync(new URL(path, root)), path).toBe(true);
  });

  test("runs the built package, and has no compiler", () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
    expect(last).toContain("NODE_OPTIONS=--expose-gc");
    expect(last).toContain('ENTRYPOINT ["node", "dist/src/annals.mjs"]');
    expect(last).not.toMatch(/^RUN npm/m);
    expect(last).toContain("COPY --from=build /annals/dist ./dist");
  });
});

describe.each(services)("$name in $file", ({ file, service }) => {
  test("has an image of one version", () => {
    expect(service.image).toMatch(/:\d+\.\d+\.\d+|:\d+\.\d+$/);
    if (service.build !== undefined) expect(service.image).toBe(`annals:${version}`);
  });

  test("has a health check while it runs", () => {
    const runsOnce = service.restart === "no";
    if (runsOnce) expect(service.healthcheck).toEqual({ disable: true });
    else expect(service.healthcheck.test?.[0]).toMatch(/^CMD(-SHELL)?$/);
  });

  test("has commands of strings", () => {
    const { healthcheck, command = [], entrypoint = [] } = service;
    for (const word of [...(healthcheck.test ?? []), ...command, ...entrypoint]) {
      expect(word).toBeTypeOf("string");
    }
  });

  test("has resource limits", () => {
    expect(service.deploy.resources.limits).toEqual({
      memory: expect.stringMatching(/^\d+[mg]$/),
      // Docker starts no container with a limit above the cores of the machine.
      ...(file === "docker/cluster.yaml" && { cpus: expect.stringMatching(/^[12]$/) }),
    });
  });

  test("publishes ports only on this machine", () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test("has its named volumes declared", () => {
    const named = (service.volumes ?? []).map((volume) => volume.split(":")[0] ?? "");
    expect(Object.keys(read(file).volumes)).toEqual(expect.arrayContaining(named));
    // The answering nodes share only the keys. Every other service with data has a volume.
    expect(named.length).toBeGreaterThan(0);
  });

  test("sets only variables that are settings", () => {
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      if (!variable.startsWith("ANNALS_")) continue;
      const key = settingKeys.find((each) => variableOf(each) === variable);
      expect(key, variable).toBeDefined();
      if (key === undefined) continue;
      expect(settings[key].kind.parse(filledIn(value)), `${variable}=${value}`).toBeDefined();
    }
  });
});

test("the health check of a node succeeds only with status 200", async () => {
  const asked: (string | undefined)[] = [];
  let status = 200;
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(status).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const checks = services.flatMap(({ service }) =>
    service.healthcheck.test?.[1] === "node" ? [service.healthcheck.test.slice(2)] : [],
  );
  expect(checks).toHaveLength(3);
  const codes = async () => {
    const args = checks.map((words) =>
      words.map((word) => String(word).replace("8080", `${port}`)),
    );
    const ended = args.map((words) => start(process.execPath, words).ended);
    return (await Promise.all(ended)).map(({ code }) => code);
  };
  expect(await codes()).toEqual([0, 0, 0]);
  status = 503;
  expect(await codes()).toEqual([1, 1, 1]);
  await new Promise((resolve) => server.close(resolve));
  expect(await codes()).toEqual([1, 1, 1]);
  expect(new Set(asked)).toEqual(new Set(["/health", "/health/live"]));
});

test("no password is written in the compose files", () => {
  let given = 0;
  for (const { service } of services) {
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      const secret = /PASSWORD|AUTH$/.test(variable) ? value : /:\/\/\w+:(.*)@/.exec(value)?.[1];
      if (secret === undefined) continue;
      expect(secret, variable).toMatch(/^(?:\w+\/)?\$\{STORES_PASSWORD:\?[^}]+\}$/);
      given++;
    }
  }
  expect(given).toBeGreaterThan(6);
});

describe("the cluster profile", () => {
  test("runs the servers that the tests run", () => {
    const used = Object.values(cluster.services)
      .map((service) => service.image)
      .filter((image) => !image.startsWith("annals:"));
    const { opensearch: _, ...expected } = images;
    expect(used.sort()).toEqual(Object.values(expected).sort());
  });

  test("sends the log's server at most the size that it accepts", () => {
    const { api, worker, eventstoredb } = cluster.services;
    const taken = Number(eventstoredb?.environment?.EVENTSTORE_MAX_APPEND_SIZE);
    for (const node of [api, worker]) {
      const { appendBytesMax } = parseAddress(node?.environment?.ANNALS_LOG ?? "");
      expect(appendBytesMax).toBe(taken);
    }
  });

  test("has two nodes that answer requests, and one that feeds views and Kafka", () => {
    const nodes = Object.values(cluster.services).filter(
      ({ environment }) => environment?.ANNALS_ROLES !== undefined,
    );
    const roles = nodes.map((node) => [node.environment?.ANNALS_ROLES, node.deploy.replicas ?? 1]);
    expect(roles).toEqual([
      ["api", 2],
      ["projector,feed", 1],
    ]);
  });

  test("runs every store of the nodes as a server that they wait for", () => {
    const node = cluster.services.worker;
    for (const key of ["log", "aspects", "timeseries", "search", "graph"] as const) {
      const host = new URL(filledIn(node?.environment?.[variableOf(key)] ?? "")).hostname;
      expect(Object.keys(node?.depends_on ?? {})).toContain(host);
    }
  });

  test("generates keys that a node accepts", async () => {
    const { entrypoint } = cluster.services.keys as unknown as { entrypoint: readonly string[] };
    const [, flag, script = ""] = entrypoint;
    expect(flag).toBe("-e");
    const written = new Map<string, string>();
    const modules: Readonly<Record<string, object>> = {
      "node:fs": {
        existsSync: () => false,
        writeFileSync: (file: string, text: string) => written.set(file, text),
      },
      "node:crypto": await import("node:crypto"),
    };
    new Function("require", filledIn(script))((name: string) => modules[name]);
    const keys = ["/data/signing.key", "/data/secret.key", "/data/operator.token"];
    expect([...written.keys()]).toEqual([...keys, "/data/system.client"]);
    for (const key of keys) expect(written.get(key)).toMatch(/^[\w-]{43}\n$/);
    expect(written.get("/data/system.client")).toMatch(/^__datahub_system:[\w-]{43}\n$/);
  });
});
