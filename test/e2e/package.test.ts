/**
 * The npm package as a user installs it: packed, installed from its tarball into an empty folder,
 * and started with `npx annals`. Downloads the packages that it depends on.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient, encoded, proposal } from "../support/client.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The size limit of the unpacked package without dependencies. */
const BYTES_MAX = 15_000_000;

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let directory: TemporaryDirectory;
let packed: Packed;

/**
 * The environment without the variables that the test run sets for Node and for scripts of this
 * project; options of npm remain.
 */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(package|lifecycle)_|npm_config_local_prefix$|NODE_(OPTIONS|COMPILE_CACHE|ENV)$)/.test(
        name,
      ),
  ),
);

/** Runs a command in the folder of the user. */
async function run(command: string, args: readonly string[], cwd = directory.path) {
  return promisify(execFile)(command, [...args], { cwd, env, maxBuffer: 64 * 2 ** 20 });
}

beforeAll(async () => {
  directory = temporaryDirectory("annals-package");
  const { stdout } = await run(
    "npm",
    ["pack", "--json", "--pack-destination", directory.path],
    root,
  );
  // Newer releases of npm print an object by name instead of a list.
  const [first] = Object.values<Packed>(JSON.parse(stdout));
  if (first === undefined) throw new Error(`npm packed nothing: ${stdout}`);
  packed = first;
  writeFileSync(join(directory.path, "package.json"), "{}");
  await run("npm", ["install", "--no-audit", "--no-fund", `./${packed.filename}`]);
}, 600_000);
afterAll(() => directory[Symbol.dispose]());

describe("the npm package", () => {
  test("the package contains the program, the model, the sample, the browser application and the documents", () => {
    const paths = packed.files.map(({ path }) => path);
    const declarations = /^dist\/src\/client\/\w+\.d\.ts$/;
    const sources = paths.filter((path) => /^dist\/test\/|\.test\.|\.ts$/.test(path));
    expect(sources.filter((path) => !declarations.test(path))).toEqual([]);
    const tops = new Set(paths.map((path) => path.replace(/^dist\/([^/]+).*$/, "dist/$1")));
    expect([...tops].sort()).toEqual([
      "LICENSE",
      "README.md",
      "dist/avro",
      "dist/package.json",
      "dist/projections",
      "dist/sample",
      "dist/src",
      "dist/web",
      "package.json",
    ]);
    expect(packed.unpackedSize).toBeLessThan(BYTES_MAX);
  });

  test("the package has no path to a source file that it lacks", () => {
    const installed = join(directory.path, "node_modules", "annals");
    for (const { path } of packed.files.filter((file) => file.path.endsWith(".js"))) {
      const code = readFileSync(join(installed, path), "utf8").replaceAll(
        /^\s*(\/\/|\/?\*).*$/gm,
        "",
      );
      expect(code.match(/["'`][^"'`\n]*\.ts["'`]/)?.[0], path).toBeUndefined();
    }
  });

  test("the package exports the client with its types", async () => {
    const service = await serve();
    writeFileSync(join(directory.path, "usage.mts"), clientUsage);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const flags = ["--strict", "--module", "nodenext", "--target", "esnext", "--lib", "esnext,dom"];
    await run(process.execPath, [tsc, ...flags, "--types", "", "usage.mts"]);
    const { stdout } = await run(process.execPath, ["usage.mjs", service.address]);
    expect(JSON.parse(stdout)).toEqual({ name: "Typed", position: expect.any(Number) });
    await service.stop();

    writeFileSync(join(directory.path, "wrong.mts"), clientUsage.replace("entityUrn", "entityUri"));
    const wrong = run(process.execPath, [tsc, ...flags, "--types", "", "wrong.mts"]);
    await expect(wrong).rejects.toMatchObject({ stdout: expect.stringContaining("entityUri") });
  });

  test("error messages name the commands of the package", async () => {
    const lost = run("npx", ["annals", "ingest", "--server", "http://127.0.0.1:1", sample()]);
    await expect(lost).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Start the service with `npx annals serve`"),
    });
  });

  test("the package runs the tour of the README, and rebuilds its views from the log", async () => {
    const service = await serve();
    const { stdout } = await run("npx", [
      "annals",
      "ingest",
      "--server",
      service.address,
      sample(),
    ]);
    expect(stdout).toMatch(/^ingested 37 records \(61 aspects\), 0 failed/);
    const answers = await tour(createClient(service.address));
    const page = await fetch(service.address);
    expect(page.status).toBe(200);
    const [, script = ""] = /src="(\/ui\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
    const headers = { "Accept-Encoding": "br" };
    const loaded = await fetch(service.address + script, { headers });
    expect(loaded.headers.get("content-encoding")).toBe("br");
    await service.stop();

    const { stdout: log } = await run("npx", ["annals", "log", "--backward", "--limit", "1"]);
    expect(JSON.parse(log)).toMatchObject({ aspect: "ownership", changeType: "UPSERT" });

    for (const view of ["aspects", "timeseries", "graph", "search"]) {
      rmSync(join(directory.path, "data", `${view}.sqlite`));
    }
    const again = await serve();
    expect(await reads(createClient(again.address))).toEqual(answers);
    await again.stop();
    // The promise is rejected for an exit code other than 0.
    await run("npx", ["annals", "verify"]);
  });
});

const clientUsage = `
import { createAnnalsClient, dataOf } from "annals/client";
declare const process: { argv: string[] };
const client = createAnnalsClient({ address: process.argv[2] ?? "" });
const urn = "urn:li:tag:Typed";
const value = JSON.stringify({ name: "Typed" });
await dataOf(client.POST("/aspects?action=ingestProposal", {
  body: { proposal: {
    entityType: "tag", entityUrn: urn, changeType: "UPSERT", aspectName: "tagProperties",
    aspect: { value, contentType: "application/json" },
  } },
}));
for await (const change of client.changes({ after: 0, aspects: ["tagProperties"] })) {
  const name: unknown = change.aspect?.value["name"];
  console.log(JSON.stringify({ name, position: change.position }));
  break;
}
`;

const sample = (): string => "node_modules/annals/dist/sample/catalog.json";

const forecast = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";
const accession = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";
const adaeze = "urn:li:corpuser:adaeze.obi";

/** Changes an owner with a patch, then reads as the README does. */
async function tour(client: Client) {
  const operation = {
    ...{ op: "add", path: `/owners/${adaeze}/DATAOWNER` },
    value: { owner: adaeze, type: "DATAOWNER" },
  };
  const patch = proposal(forecast, "ownership", [operation], {
    changeType: "PATCH",
    aspect: { contentType: "application/json-patch+json", value: JSON.stringify([operation]) },
  });
  const written = await client.call("POST", "/aspects?action=ingestProposal", { proposal: patch });
  expect(written.status).toBe(200);
  const answers = await reads(client);
  expect(answers.owners).toContainEqual(
    expect.objectContaining({ owner: adaeze, type: "DATAOWNER" }),
  );
  expect(answers.downstream).toHaveLength(4);
  expect(answers.personal).toHaveLength(3);
  expect(answers.usage).toContain('"totalSqlQueries":58');
  expect(answers.example.content["application/json"]).toHaveProperty("example.proposal");
  expect(answers.graphql.data).toEqual({ tag: { name: "PersonalData", exists: true } });
  return answers;
}

async function reads(client: Client) {
  const aspects = `/aspects/${encoded(forecast)}?aspect=ownership&version=0`;
  const { body: ownership } = await client.get(aspects);
  const { body: usage } = await client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
    ...{ urn: accession, entity: "dataset", aspect: "datasetUsageStatistics", limit: 1 },
  });
  const { body: lineage } = await client.call("POST", "/relationships?action=getLineage", {
    ...{ urn: accession, direction: "DOWNSTREAM", maxHops: 3 },
  });
  const search = async () => {
    const asked = { entity: "dataset", input: "tags:urn:li:tag:PersonalData", start: 0, count: 10 };
    return (await client.call("POST", "/entities?action=search", asked)).body.value.entities;
  };
  await expect.poll(async () => (await search()).length).toBe(3);
  // The GraphQL server reads its schema files from the package.
  const query = '{ tag(urn: "urn:li:tag:PersonalData") { name exists } }';
  const { body: openApi } = await client.get("/openapi.json");
  const { body: graphql } = await client.call("POST", "/api/graphql", { query });
  return {
    graphql,
    example: openApi.paths["/aspects?action=ingestProposal"].post.requestBody,
    owners: ownership.aspect["com.linkedin.common.Ownership"].owners,
    usage: usage.value.values[0].aspect.value,
    downstream: lineage.value.relationships.map((each: { entity: string }) => each.entity),
    personal: (await search()).map((found: string | { entity: string }) =>
      typeof found === "string" ? found : found.entity,
    ),
  };
}

/** `npx annals serve` in the folder of the user, on a free port and the default data directory. */
async function serve() {
  const args = ["annals", "serve", "--port", "0"];
  const child: ChildProcess = spawn("npx", args, {
    cwd: directory.path,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    // Ctrl-C on a terminal reaches every process of the group.
    detached: true,
  });
  if (child.stdout === null) throw new Error("the service has no stdout");
  const ended = once(child, "exit");
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    ended.then(([code]) => Promise.reject(new Error(`the service ended with ${code}`))),
  ]);
  const address = /http:\S+/.exec(line)?.[0] ?? "";
  return {
    address,
    /** Resolves when the service has closed its output, which it does at its end. */
    async stop() {
      const closed = once(child, "close");
      process.kill(-(child.pid ?? 0), "SIGTERM");
      await closed;
    },
  };
}
