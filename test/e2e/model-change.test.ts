/**
 * Views that were built with another model: they answer with a marker while they are rebuilt, or
 * reject requests with an error that names the fix.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient, proposal } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const extension = fileURLToPath(new URL("../data/model/extension", import.meta.url));
const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,table${n},PROD)`;
const entities = 4_500;

let directory: TemporaryDirectory;
let service: ServiceProcess | undefined;
beforeEach(async () => {
  directory = temporaryDirectory("annals-model");
  const { client } = await start();
  for (let from = 0; from < entities; from += 500) {
    const reply = await client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: Array.from({ length: 500 }, (_, n) =>
        proposal(dataset(from + n), "datasetProperties", { description: "ordinary" }),
      ),
    });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  }
  while ((await found(client)).body.value?.numEntities !== entities);
  await service?.stop();
});
afterEach(async () => {
  await service?.stop("SIGKILL");
  directory[Symbol.dispose]();
});

type Client = ReturnType<typeof createClient>;

async function start(...args: readonly string[]) {
  service = await startService(directory.path, { args });
  const client = createClient(service.address);
  const act = async (action: string, body: object) => {
    const token = readFileSync(join(directory.path, "operator.token"), "utf8").trim();
    return client.call("POST", `/operations?action=${action}`, body, {
      Authorization: `Bearer ${token}`,
    });
  };
  return { client, act };
}

const found = (client: Client) =>
  client.call("POST", "/entities?action=search", {
    ...{ entity: "dataset", input: "ordinary", start: 0, count: 1 },
  });

async function figure(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${service?.address}/metrics`)).text();
  return text.split("\n").find((line) => line.startsWith(name));
}

const stale = async () => figure('annals_view_stale{view="search"}');

async function ends({ act }: Awaited<ReturnType<typeof start>>, id: string): Promise<object> {
  for (;;) {
    const { body } = await act("getJob", { id });
    expect(body.value, JSON.stringify(body)).toBeDefined();
    if (body.value.state !== "running") return body.value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("stale views answer with a marker until the rebuild that the start begins has finished", async () => {
  const started = await start("--model-extension", extension);
  // From the first request on, and with all entities.
  const first = await found(started.client);
  expect(first.body.value.numEntities).toBe(entities);
  const [job] = (await started.act("listJobs", {})).body.value.jobs;
  expect(job).toMatchObject({
    kind: "rebuild",
    request: { views: expect.arrayContaining(["search"]) },
  });
  if (job.state === "running") {
    expect(await stale()).toBe('annals_view_stale{view="search"} 1');
    expect(first.headers.get("x-annals-stale")).toMatch(/^search; mend=".*rebuild search"$/);
  }
  const entity = await started.client.get(`/entitiesV2/${encodeURIComponent(dataset(1))}`);
  expect(entity.headers.get("x-annals-stale")).toBeNull();
  expect(await ends(started, job.id)).toMatchObject({ state: "done" });
  expect(await stale()).toBe('annals_view_stale{view="search"} 0');
  expect((await found(started.client)).headers.get("x-annals-stale")).toBeNull();
  expect(await figure('annals_view_generation{view="search"}')).toBe(
    'annals_view_generation{view="search"} 2',
  );
  expect((await found(started.client)).body.value.numEntities).toBe(entities);
  await service?.stop();
  const again = await start("--model-extension", extension);
  expect(await stale()).toBe('annals_view_stale{view="search"} 0');
  expect((await again.act("listJobs", {})).body.value.total).toBe(1);
});

test("stale views reject requests with --on-model-change refuse, and the error names the fix", async () => {
  const started = await start("--model-extension", extension, "--on-model-change", "refuse");
  const rejected = await found(started.client);
  expect(rejected.status).toBe(503);
  expect(rejected.body.message).toContain('the view "search" was built with another model');
  expect(rejected.body.message).toContain("rebuildViews");
  // The annotations do not affect this view.
  const read = await started.client.call("GET", `/entitiesV2/${encodeURIComponent(dataset(1))}`);
  expect(read.status).toBe(200);
  const { body } = await started.act("rebuildViews", {});
  expect(body.value, JSON.stringify(body)).toBeDefined();
  expect(await ends(started, body.value)).toMatchObject({ state: "done" });
  expect((await found(started.client)).body.value.numEntities).toBe(entities);
});
