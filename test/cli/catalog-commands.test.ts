/** The commands that read and write the catalog, as processes, against a running service. */
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";
import { freeAddress } from "./recording-catalog.ts";
import { type Ended, start } from "./run-program.ts";

const annals = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const sample = fileURLToPath(new URL("../data/sample/catalog.json", import.meta.url));
const forecast = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";
const accession = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";
const adaeze = "urn:li:corpuser:adaeze.obi";
const tag = "urn:li:tag:Fresh";

let service: RunningService;
let home: TemporaryDirectory;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  home = temporaryDirectory("annals-home");
  expect((await run("import", sample)).code).toBe(0);
});
afterAll(async () => {
  home[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command in an empty home directory, without the variables of the caller. */
const begin = (args: readonly string[], more: Environment = {}) =>
  start(process.execPath, [annals, ...args], {
    ...{ HOME: home.path, XDG_CONFIG_HOME: undefined, ANNALS_SERVER: service.address },
    ...{ ANNALS_TOKEN: undefined, COLUMNS: undefined, NO_COLOR: undefined, ...more },
  });
const run = (...args: string[]): Promise<Ended> => begin(args).ended;
const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);

/** A proxy of the service that answers the first scrolls, and delays the next one. */
async function stallingAfter(scrolls: number) {
  let seen = 0;
  const { promise: stalled, resolve: stall } = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (request.url?.includes("/scroll") && ++seen > scrolls) return stall();
    const body = request.method === "POST" ? await buffer(request) : undefined;
    const answer = await fetch(`${service.address}${request.url}`, {
      ...{ method: request.method ?? "GET", headers: { "content-type": "application/json" } },
      ...(body !== undefined && { body }),
    });
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(await answer.text());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stalled,
    disconnect: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("search, get, patch, diff, history and a rollback work together", async () => {
  const found = await run("search", "forecast", "--type", "dataset", "--output", "urns");
  expect(found).toEqual({ code: 0, stdout: `${forecast}\n`, stderr: "" });

  const before = await run("get", forecast, "ownership");
  expect(before.stdout).toMatch(/^ownership \(version 1, \d{4}-\d\d-\d\d /m);
  expect(before.stdout).toContain("    - owner: urn:li:corpuser:tomasz.wren\n");

  const owner = JSON.stringify({ owner: adaeze, type: "DATAOWNER" });
  const operation = `/owners/${adaeze}/DATAOWNER=${owner}`;
  const written = await run("patch", forecast, "ownership", "--add", operation);
  expect(written).toMatchObject({ code: 0, stdout: expect.stringMatching(/^wrote ownership of /) });
  const [, runId = ""] = /undo: .*runs rollback (\S+)\n/.exec(written.stderr) ?? [];

  const changed = await run("diff", forecast, "ownership");
  expect(changed.stdout).toContain(`ownership/owners/-\n+ ${owner}\n`);
  const history = await run("history", forecast, "ownership");
  expect(history.stdout).toMatch(/^POSITION +TIME +BY +ASPECT +VERSION +RUN +CHANGE\n/);
  expect(history.stdout).toMatch(/ownership +2 +annals-\S+ +\+ \/owners\/- and 1 more\n$/);

  expect((await run("runs", "rollback", runId, "--yes")).code).toBe(0);
  const versions = [1, 0].map((version) =>
    json("get", forecast, "ownership", "--aspect-version", String(version)),
  );
  const [first, now] = await Promise.all(versions);
  expect(now.aspects.ownership.value).toEqual(first.aspects.ownership.value);
}, 120_000);

describe("the commands that read", () => {
  test("annals get shows an entity, and its state of the past", async () => {
    const { aspects } = await json("get", accession);
    expect(Object.keys(aspects)).toEqual(expect.arrayContaining(["datasetKey", "ownership"]));
    const [created] = await json("history", accession, "ownership");
    const past = await json("get", accession, "ownership", "--as-of", String(created.position));
    expect(past.aspects.ownership.systemMetadata.version).toBe("1");
    const early = await run("get", accession, "--as-of", "1");
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no entity") });
    const events = await json("get", accession, "datasetProfile", "--count", "1");
    expect(events).toEqual([expect.objectContaining({ timestampMillis: expect.any(Number) })]);
  });

  test("annals list pages through a type, in every format", async () => {
    const two = await run("list", "dataset", "--count", "2");
    expect(two.stdout.split("\n")).toEqual(["URN", expect.any(String), expect.any(String), ""]);
    expect(two.stderr).toBe("2 of 7; --all lists every one\n");
    expect((await run("list", "dataset", "--all", "--quiet")).stderr).toBe("");
    expect((await run("list", "tag", "--output", "yaml")).stdout).toMatch(/^start: 0\ncount: 3\n/);
    expect((await json("list", "tag")).entities).toHaveLength(3);
  });

  test("annals search filters, counts facets, and scrolls", async () => {
    const kafka = await json(
      "search",
      "--filter",
      "platform=urn:li:dataPlatform:kafka",
      "--scroll",
    );
    expect(kafka.entities).toContain(
      "urn:li:dataset:(urn:li:dataPlatform:kafka,packet-loans,PROD)",
    );
    const others = await json(
      "search",
      "--type",
      "dataset",
      "--filter",
      "platform!=urn:li:dataPlatform:kafka",
    );
    expect(others.entities).toHaveLength(5);
    const facets = await run("search", "--type", "dataset", "--facets");
    expect(facets.stdout).toMatch(/^platform +urn:li:dataPlatform:postgres +3$/m);
    const short = await run("get", accession, "owner");
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('mean "ownership"?') });
    const wrong = await run("search", "--filter", "platfrm=x");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('mean "platform"') });
  });

  test("annals search without hits suggests queries with hits, on stderr", async () => {
    const mistyped = ["search", "forcast"];
    expect(await run(...mistyped)).toMatchObject({
      ...{ code: 0, stdout: "" },
      stderr: 'nothing matches "forcast". Did you mean "forecast"?\n',
    });
    expect(await run(...mistyped, "--quiet")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(await run(...mistyped, "--output", "urns")).toMatchObject({ stdout: "", stderr: "" });
    const found = await run(...mistyped, "--json");
    expect(found.stderr).toBe("");
    expect(JSON.parse(found.stdout)).toMatchObject({
      ...{ total: 0, entities: [] },
      suggestions: [{ text: "forecast", frequency: expect.any(Number) }],
    });
    const nonsense = await run("search", "qqqqzzzz");
    expect(nonsense).toMatchObject({ stdout: "", stderr: 'nothing matches "qqqqzzzz"\n' });
  });

  test("annals lineage prints a tree, and annals relationships prints edges", async () => {
    const { stdout } = await run("lineage", accession);
    expect(stdout).toContain(
      `└── ${forecast}\n    └── urn:li:chart:(superset,viability-by-drawer)\n`,
    );
    const edges = await run("relationships", forecast, "--type", "OwnedBy");
    expect(edges.stdout).toMatch(/^OwnedBy +→ +urn:li:corpuser:tomasz\.wren$/m);
    const upstream = await json("lineage", forecast, "--direction", "upstream", "--hops", "1");
    expect(upstream.total).toBe(4);
  });

  test("tables fit a terminal of 40 columns, and hold every urn completely", async () => {
    for (const args of [
      ["search", "seed"],
      ["history", forecast],
      ["runs", "list"],
      ["get", forecast],
    ]) {
      const { stdout } = await begin(args, { COLUMNS: "40" }).ended;
      const widths = stdout.split("\n").map((line) => [...line].length);
      expect(Math.max(...widths), args[0]).toBeLessThanOrEqual(40);
    }
    const { stdout } = await begin(["list", "dataset"], { COLUMNS: "40" }).ended;
    expect(stdout.replaceAll(/\s/g, "")).toContain(forecast);
  });
});

describe("the commands that write", () => {
  test("annals put writes YAML from a file, checks a version, and previews", async () => {
    const file = join(home.path, "properties.yaml");
    writeFileSync(file, "name: Fresh\ndescription: just picked\n");
    expect(await run("put", tag, "tagProperties", file)).toMatchObject({ code: 0 });
    const dry = await run("put", tag, "tagProperties", "--value", '{"name":"Old"}', "--dry-run");
    expect(dry.stdout).toContain('tagProperties/name\n- "Fresh"\n+ "Old"\n');
    const late = await run(
      "put",
      tag,
      "tagProperties",
      "--value",
      '{"name":"Old"}',
      "--if-version",
      "7",
    );
    expect(late.code).toBe(2);
    expect((await json("get", tag, "tagProperties")).aspects.tagProperties.value).toEqual({
      ...{ name: "Fresh", description: "just picked" },
    });
    await run("put", tag, "tagProperties", "--value", '{"name":"Other"}');
    const restored = await run("restore-version", tag, "tagProperties", "1", "--json");
    expect(JSON.parse(restored.stdout)).toMatchObject({ urn: tag, aspect: "tagProperties" });
    expect((await run("diff", tag, "tagProperties", "1", "0")).stdout).toBe("no difference\n");
    const nothing = await run("put", tag, "tagProperties");
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("--value") });
  });

  test("annals delete asks first, hides, deletes aspects, and deletes for good", async () => {
    const unconfirmed = await run("delete", tag);
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect((await run("delete", tag, "--dry-run")).stdout).toContain(`would hide ${tag}`);
    expect((await run("delete", tag, "--yes")).code).toBe(0);
    expect((await json("get", tag, "status")).aspects.status.value).toEqual({ removed: true });
    expect((await run("delete", tag, "status", "--yes")).code).toBe(0);
    expect((await json("get", tag, "status")).aspects).toEqual({});
    const hard = await run("delete", tag, "--hard", "--yes");
    expect(hard.stdout).toMatch(/^done: delete urn:li:tag:Fresh for good: \d+ values and 0 events/);
    expect((await run("get", tag)).code).toBe(1);
  });

  test("annals runs lists and describes a run, and rolls it back after a preview", async () => {
    const { runId } = await json("put", tag, "tagProperties", "--value", '{"name":"Run"}');
    expect((await run("runs", "list", "--count", "1")).stdout).toContain(runId);
    expect((await run("runs", "describe", runId, "--output", "urns")).stdout).toBe(`${tag}\n`);
    expect((await run("runs", "rollback", runId, "--dry-run")).stdout).toContain("would roll back");
    const done = await run("runs", "rollback", runId, "--hard", "--yes");
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("done: roll back") });
    expect((await run("get", tag)).code).toBe(1);
    const described = await run("runs", "describe", runId);
    expect(described).toMatchObject({ code: 1, stdout: "" });
    expect(described.stderr).toContain(`there is no run "${runId}", or none of its writes is left`);
  });
});

describe("annals watch", () => {
  test("prints changes and runs a command for each", async () => {
    const args = ["watch", "--after", "0", "--urn", forecast, "--aspect", "ownership"];
    const command = 'echo "$2 at $3"; grep -o entityUrn';
    const { code, stdout } = await run(...args, "--count", "1", "--exec", command);
    expect(code).toBe(0);
    const [position] = stdout.split("  ");
    expect(stdout).toContain(`changed ownership of ${forecast}`);
    expect(stdout).toContain(`\nownership at ${position}\nentityUrn\n`);
    const failed = await run(...args, "--exec", "exit 3");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain(`watch --after ${Number(position) - 1}`);
  });

  test("ends with 130 after Ctrl-C, and names the command that resumes", async () => {
    const watching = begin(["watch", "--after", "0", "--json"]);
    await watching.said('"position":3');
    watching.child.kill("SIGINT");
    const { code, stderr } = await watching.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^annals: interrupted\. Resume with: .*watch --after \d+ and the same filters\n$/,
    );
  });
});

describe("annals export", () => {
  test("prints JSON lines that an empty catalog ingests", async () => {
    const file = join(home.path, "catalog.jsonl");
    const { code, stderr } = await run("export", "--file", file);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^exported \d+ aspects of \d+/),
    });
    expect(existsSync(`${file}.resume`)).toBe(false);
    expect((await run("export", "--file", file)).code).toBe(2);
    await using other = await runningService({ logLevel: "silent" });
    const copied = await begin(["ingest", file], { ANNALS_SERVER: other.address }).ended;
    expect(copied).toMatchObject({ code: 0, stdout: expect.stringContaining(" 0 failed") });
    const read = (address: string) =>
      begin(["get", forecast, "--json"], { ANNALS_SERVER: address }).ended;
    const [here, there] = await Promise.all([read(service.address), read(other.address)]);
    const valuesOf = ({ stdout }: Ended) =>
      Object.entries(JSON.parse(stdout).aspects).map(([name, aspect]) => [
        name,
        (aspect as { value: unknown }).value,
      ]);
    expect(new Map(valuesOf(there) as [string, unknown][])).toEqual(
      new Map(valuesOf(here) as [string, unknown][]),
    );
  });

  test("continues after its last complete page with --resume", async () => {
    const file = join(home.path, "part.jsonl");
    await using slow = await stallingAfter(3);
    const flags = ["export", "--type", "tag", "--type", "dataset", "--batch", "2", "--file", file];
    const exporting = begin(flags, { ANNALS_SERVER: slow.address });
    await slow.stalled;
    exporting.child.kill("SIGINT");
    const { code, stderr } = await exporting.ended;
    expect(code).toBe(130);
    expect(stderr).toContain(`export --file '${file}' --resume`);
    // A part of the next page is discarded.
    appendFileSync(file, '{"entityType":"da');
    const other = await run("export", "--type", "tag", "--file", file, "--resume");
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("other flags") });
    const resumed = await run(...flags, "--resume");
    expect(resumed.code).toBe(0);
    const whole = await run("export", "--type", "tag", "--type", "dataset");
    expect(readFileSync(file, "utf8")).toBe(whole.stdout);
    // The counts are those of the whole file.
    expect(resumed.stderr).toBe(whole.stderr);
    const urns = await run("export", "--type", "tag", "--output", "urns");
    expect(urns.stdout).toBe((await run("list", "tag", "--output", "urns")).stdout);
    const flagsOfFile = ["--file", join(home.path, "urns.jsonl"), "--output", "urns"];
    expect((await run("export", ...flagsOfFile)).code).toBe(2);
  });

  test("names the command that resumes when the connection is lost", async () => {
    const file = join(home.path, "lost.jsonl");
    await using slow = await stallingAfter(1);
    const flags = ["export", "--type", "dataset", "--batch", "2", "--file", file];
    const exporting = begin(flags, { ANNALS_SERVER: slow.address });
    await slow.stalled;
    slow.disconnect();
    const { code, stderr } = await exporting.ended;
    const [resume, lost] = stderr.trim().split("\n");
    expect({ code, resume }).toEqual({ code: 1, resume: expect.stringContaining("--resume") });
    expect(lost).toBe(`annals: ${slow.address} did not answer (UND_ERR_SOCKET)`);
  });

  test("removes the file of an export that ends before its first page", async () => {
    const file = join(home.path, "nothing.jsonl");
    await using slow = await stallingAfter(0);
    const exporting = begin(["export", "--file", file], { ANNALS_SERVER: slow.address });
    await slow.stalled;
    exporting.child.kill("SIGINT");
    expect(await exporting.ended).toMatchObject({ code: 130, stderr: "annals: interrupted\n" });
    expect(existsSync(file)).toBe(false);
  });

  test("an empty input is reported as empty", async () => {
    const file = join(home.path, "empty.json");
    writeFileSync(file, "");
    const { code, stdout, stderr } = await run("ingest", file, "--json");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "nothing to ingest: the input has no records\n",
    });
    expect(JSON.parse(stdout)).toMatchObject({ records: 0, aspects: 0, failed: 0 });
    expect((await run("ingest", file, "--quiet")).stderr).toBe("");
  });
});

describe("access", () => {
  const tokenFile = () => join(service.directory, "operator.token");

  test("annals login checks the token and stores it only for its service, with mode 0600", async () => {
    const folder = join(home.path, "xdg");
    mkdirSync(folder);
    const environment = { XDG_CONFIG_HOME: folder, ANNALS_SERVER: undefined };
    const login = ["login", service.address, "--token-file", tokenFile()];
    const done = await begin(login, environment).ended;
    expect(done).toMatchObject({
      code: 0,
      stdout: `${service.address}: logged in as urn:li:corpuser:datahub\n`,
    });
    const file = join(folder, "annals", "config.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      server: service.address,
      token: readFileSync(tokenFile(), "utf8").trim(),
    });
    const me = await begin(["whoami", "--json"], environment).ended;
    expect(JSON.parse(me.stdout)).toMatchObject({ urn: "urn:li:corpuser:datahub", hasToken: true });
    // Another service gets no token.
    await using other = await runningService({ logLevel: "silent" });
    const elsewhere = await begin(["whoami", "--json", "--server", other.address], environment)
      .ended;
    expect(JSON.parse(elsewhere.stdout)).toMatchObject({ hasToken: false });
    writeFileSync(join(folder, "wrong.token"), "not-a-token");
    const wrong = ["login", service.address, "--token-file", join(folder, "wrong.token")];
    expect((await begin(wrong, environment).ended).code).toBe(1);
  });

  test("tokens are created, listed and revoked; policies listed, read and written", async () => {
    const root = ["--token-file", tokenFile()];
    const created = await run("token", "create", "--name", "laptop", ...root);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+\n$/) });
    const [listed] = (await json("token", "list", ...root)).tokens;
    expect(listed).toMatchObject({ name: "laptop", actorUrn: "urn:li:corpuser:datahub" });
    expect((await run("token", "revoke", listed.id, "--yes", ...root)).code).toBe(0);
    expect((await json("token", "list", ...root)).tokens).toEqual([]);

    const file = join(home.path, "policy.yaml");
    const actors =
      "{users: [], groups: [], allUsers: true, allGroups: false, resourceOwners: false}";
    writeFileSync(
      file,
      `name: Readers\npolicyType: PLATFORM\nstate: INACTIVE\nprivileges: [GENERATE_PERSONAL_ACCESS_TOKENS]\nactors: ${actors}\n`,
    );
    const { urn } = await json("policy", "put", file, ...root);
    const shown = await run("policy", "get", urn, ...root);
    expect(shown.stdout).toContain("name: Readers\npolicyType: PLATFORM\nstate: INACTIVE\n");
    writeFileSync(file, shown.stdout.replace("INACTIVE", "ACTIVE"));
    expect((await run("policy", "put", file, urn, ...root)).code).toBe(0);
    expect((await run("policy", "list", "Readers", ...root)).stdout).toMatch(/ACTIVE$/m);
  });

  test("annals open prints the address where there is no terminal", async () => {
    expect((await run("open")).stdout).toBe(`${service.address}/\n`);
  });
});

describe("completion", () => {
  const candidates = async (...words: string[]) =>
    (await run("complete", "--", ...words)).stdout.split("\n").slice(0, -1);
  // On a busy machine the service may answer too late for one completion.
  const completes = (words: readonly string[], expected: readonly unknown[]) =>
    expect.poll(() => candidates(...words)).toEqual(expected);

  test("completes commands, options, urns, types, aspects, fields and runs", async () => {
    expect(await candidates("rest")).toEqual(["restore-version", "restore"]);
    expect(await candidates("runs", "roll")).toEqual(["rollback"]);
    expect(await candidates("get", "--as")).toEqual(["--aspect-version", "--as-of"]);
    expect(await candidates("list", "--output", "y")).toEqual(["yaml"]);
    expect(await candidates("verify", "--grad")).toEqual([]);
    expect(await candidates("list", "datas")).toEqual(["dataset"]);
    await completes(["get", "urn:li:datas"], ["urn:li:dataset:"]);
    await completes(["get", "'urn:li:dataset:(urn:li:dataPlatform:snow"], [forecast]);
    await completes(["get", forecast, "ownership", "owner"], ["ownership"]);
    await completes(["search", "--filter", "platf"], ["platform="]);
    await completes(
      ["runs", "describe", "annals-"],
      expect.arrayContaining([expect.stringMatching(/^annals-\d{4}/)]),
    );
    expect(await candidates("ingest", "")).toEqual([]);
  });

  test("bash inserts a urn with its parentheses escaped, or inside quotes", async () => {
    const { stdout: script } = await run("completion", "bash");
    const bash = async (line: string, current: string) => {
      const program = `${script}
annals() { "${process.execPath}" "${annals}" "$@"; }
COMP_LINE="$1" COMP_POINT="\${#1}" COMP_WORDS=(annals get "$2") COMP_CWORD=2
_annals 2> /dev/null
printf '%s\\n' "\${COMPREPLY[@]}"`;
      const environment = { HOME: home.path, ANNALS_SERVER: service.address };
      return (await start("bash", ["-c", program, "bash", line, current], environment).ended)
        .stdout;
    };
    // Outside quotes bash completes what follows the last colon.
    const escaped = forecast.replaceAll(/[(),]/g, "\\$&");
    await expect.poll(() => bash("annals get forec", "forec")).toContain(`${escaped}\n`);
    await expect.poll(() => bash("annals get urn:li:datas", "datas")).toBe("dataset:\n");
    const quoted = "'urn:li:dataset:(urn:li:dataPlatform:snow";
    await expect.poll(() => bash(`annals get ${quoted}`, quoted)).toBe(`${forecast}\n`);
  });

  test("there is a script for each shell", async () => {
    expect((await run("completion", "zsh")).stdout).toContain("compdef _annals annals");
    expect((await run("completion", "fish")).stdout).toContain("complete -c annals");
    expect((await run("completion", "tcsh")).code).toBe(2);
  });
});

describe("errors", () => {
  test.each([
    [["get", "urn:li:tag:Nowhere"], 1, 'there is no entity "urn:li:tag:Nowhere"'],
    [["lineage", "urn:li:tag:Nowhere"], 1, 'there is no entity "urn:li:tag:Nowhere"'],
    [["relationships", "urn:li:tag:Nowhere"], 1, 'there is no entity "urn:li:tag:Nowhere"'],
    [["history", "urn:li:tag:Nowhere", "status"], 1, 'there is no entity "urn:li:tag:Nowhere"'],
    [
      ["runs", "describe", "absent"],
      1,
      'annals: there is no run "absent", or none of its writes is left',
    ],
    [["runs", "describe", "absent", "--start", "5"], 1, 'annals: there is no run "absent"'],
    [["runs", "rollback", "absent", "--yes"], 1, 'annals: there is no run "absent"'],
    [["get", forecast, "--as-of", "1"], 1, `there is no entity "${forecast}" at position 1. `],
    [["diff", forecast, "--from", "2020-01-31"], 1, '" at 2020-01-31 00:00:00Z. See '],
    [["get", "nonsense"], 2, '"nonsense" is not a urn'],
    [["get", "urn:li:datset:x"], 2, 'unknown entity type "datset". Did you mean "dataset"?'],
    [["get", forecast, "ownershp"], 2, 'has no aspect "ownershp". Did you mean "ownership"?'],
    [["list", "datset"], 2, 'unknown entity type "datset". Did you mean "dataset"?'],
    [["watch", "--type", "datset"], 2, 'unknown entity type "datset". Did you mean "dataset"?'],
    [["put", tag, "status", "absent.json"], 2, 'file "absent.json" does not exist. Check its path'],
    [["list", "tag", "--token-file", "absent"], 2, 'absent". The file does not exist. Name '],
    [["export", "--file", "absent/x"], 2, 'file "absent/x" cannot be written (ENOENT). Name one'],
    [["serch", "x"], 2, "(Did you mean search?)"],
    [["get", forecast, "ownership", "--version", "1"], 2, "unknown option '--version'"],
    [["list", "tag", "--output", "xml"], 2, "Allowed choices are table, json, yaml, urns"],
  ])("%j ends with a message", async (args, code, message) => {
    const ended = await run(...args);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toContain(message);
  });

  test("a service that does not answer is reported with its address", async () => {
    const server = await freeAddress();
    const ended = await run("get", tag, "--server", server);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toContain(`annals: ${server} did not answer (ECONNREFUSED)`);
  });

  test("a missing or rejected token is reported with the command to log in", async () => {
    await using guarded = await runningService({ logLevel: "silent", auth: "on" });
    const environment = { ANNALS_SERVER: guarded.address };
    for (const args of [["list", "tag"], ["login"]]) {
      const ended = await begin(args, environment).ended;
      expect(ended.code, args[0]).not.toBe(0);
      expect(ended.stderr).toMatch(/annals login|--token-file/);
    }
  });

  test("colors are off where NO_COLOR is set or stdout is not a terminal", async () => {
    const plain = await run("diff", forecast, "ownership", "1", "2");
    expect(plain.stdout).not.toContain("\u001b[");
  });
});
