/**
 * The fuzzer: sends batches of hostile writes to a service, through every route that writes, and checks
 * after each batch that every view reaches the log's head, parks nothing and reports no error. From
 * time to time, and at the end, the views are verified against the log; at the end they are also
 * rebuilt and verified again. The same seed sends the same requests.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ingest } from "../../src/cli/commands/catalog/ingest.ts";
import { loadModel } from "../../src/model/load-model.ts";
import type { Client } from "../support/client.ts";
import { operatorOf, tokenOf } from "../support/operator.ts";
import type { RunningService } from "../support/running-service.ts";
import { createChance } from "./chance.ts";
import { createMutations, readSchema } from "./graphql-mutations.ts";
import { createToolCalls, readTools } from "./other-requests.ts";
import { createWriteRequests, proposals, type WriteRequest } from "./write-requests.ts";

export interface FuzzOptions {
  readonly service: RunningService;
  readonly seed: number;
  /** Epoch milliseconds after which no batch begins. */
  readonly until: number;
  /** Sends proposals through Kafka instead of HTTP. */
  readonly produce?: ((proposals: readonly object[]) => Promise<void>) | undefined;
  readonly onProgress?: ((report: Report) => void) | undefined;
}

export interface Report {
  readonly seed: number;
  batches: number;
  requests: number;
  /** Requests that succeeded, by route. */
  readonly accepted: Map<string, number>;
  /** Failures, each kind once, with the request that caused it. */
  readonly problems: string[];
}

const batchSize = 24;
const readsEvery = 5;
const commandEvery = 40;
const verifyEvery = 150;
const settledMsMax = 60_000;
const problemsMax = 50;

export async function fuzz(options: FuzzOptions): Promise<Report> {
  const { seed, until } = options;
  const service = { ...options.service, client: retrying(options.service.client) };
  const chance = createChance(seed);
  const model = loadModel();
  const next = createWriteRequests(chance, model);
  const mutation = createMutations(chance, model, await readSchema(service.client));
  const toolCall = createToolCalls(chance, model, await readTools(service.client));
  const request = () => (chance.yes(0.2) ? mutation() : chance.yes(0.05) ? toolCall() : next());
  const report: Report = { seed, batches: 0, requests: 0, accepted: new Map(), problems: [] };
  const checks = createChecks(service, report);
  while (Date.now() < until && report.problems.length < problemsMax) {
    const batch = Array.from({ length: batchSize }, request);
    await Promise.all(batch.map(checks.send));
    if (report.batches % commandEvery === 0) {
      await ingestFile(service, proposals(chance, model, batchSize));
      await options.produce?.(proposals(chance, model, batchSize));
    }
    report.batches++;
    if (!(await checks.areSettled(batch))) break;
    if (report.batches % readsEvery === 0) await checks.read(batch);
    if (report.batches % verifyEvery === 0) await checks.verified();
    options.onProgress?.(report);
  }
  await checks.verified();
  await checks.rebuilt();
  await checks.verified();
  return report;
}

/** Sends a request again whose kept-alive connection was closed before the response, once. */
function retrying(client: Client): Client {
  const call: Client["call"] = (...request) =>
    client.call(...request).catch((error: unknown) => {
      if (error instanceof TypeError) return client.call(...request);
      throw error;
    });
  return { ...client, call, get: (path) => call("GET", path) };
}

/** Sends with `annals ingest`, which reports rejected proposals and continues. */
async function ingestFile(service: RunningService, some: readonly object[]): Promise<void> {
  const file = join(service.directory, "fuzz.json");
  writeFileSync(file, JSON.stringify(some));
  const terminal = {
    print: async () => {},
    note: () => {},
    startBar: () => ({ update: () => {}, stop: () => {} }),
  };
  const options = { files: [file], server: service.address, batch: 5, concurrency: 2 };
  await ingest({ ...options, retryDelayMs: 1 }, { terminal, signal: new AbortController().signal });
  rmSync(file);
}

function createChecks(service: RunningService, report: Report) {
  const operator = operatorOf(service);
  const kinds = new Set<string>();

  function problem(kind: string, details: unknown): void {
    if (kinds.has(kind)) return;
    kinds.add(kind);
    report.problems.push(`${kind} (batch ${report.batches}): ${JSON.stringify(details)}`);
  }

  async function send(request: WriteRequest): Promise<void> {
    const { route, method, path, body } = request;
    report.requests++;
    const token = request.operator === true ? tokenOf(service.directory) : {};
    const headers = { ...request.headers, ...token };
    const reply = await service.client.call(method, path, body, headers);
    const { errors = [] } = typeof reply.body === "object" ? (reply.body ?? {}) : {};
    const failed = Array.isArray(errors) && errors.some((one) => one?.extensions?.code >= 500);
    if (reply.status >= 500 || failed) {
      problem(`${route}: status ${reply.status}`, { request, reply: reply.body });
    }
    if (reply.status < 300 && errors.length === 0) {
      report.accepted.set(route, (report.accepted.get(route) ?? 0) + 1);
    }
  }

  /** True if every view reaches the current head of the log; a view that does not ends the run. */
  async function areSettled(batch: readonly WriteRequest[]): Promise<boolean> {
    const end = Date.now() + settledMsMax;
    let { log, views } = await operator.value("getStatus");
    const head = log.position;
    const isBehind = ([, view]: [string, { position: number; error?: string }]): boolean =>
      view.position < head || view.error !== undefined;
    while (Object.entries<{ position: number; error?: string }>(views).some(isBehind)) {
      if (Date.now() > end) {
        problem("a view does not reach the log's head", { head, views, batch });
        return false;
      }
      await pause(20);
      views = (await operator.value("getStatus")).views;
    }
    for (const [name, { parked = 0 }] of Object.entries<{ parked?: number }>(views)) {
      if (parked === 0) continue;
      const { parked: some } = await operator.value("listParked", { view: name, count: 3 });
      problem(`the view ${name} parked records`, { some, batch });
    }
    return true;
  }

  /** Reads the written entities: searches, and one entity through each interface. */
  async function read(batch: readonly WriteRequest[]): Promise<void> {
    const texts = JSON.stringify(batch.map(({ body }) => body));
    const urns = new Set(texts.match(/urn:li:[^"\\]{1,100}/g)?.slice(0, 6));
    for (const urn of urns) {
      const path = encodeURIComponent(urn.toWellFormed());
      for (const url of [
        ...[`/entitiesV2/${path}`, `/openapi/v3/entity/generic/${path}`],
        ...[
          `/relationships?urn=${path}&direction=INCOMING`,
          `/aspects/${path}?aspect=status&version=0`,
        ],
      ]) {
        const { status, body } = await service.client.get(url);
        if (status >= 500) problem(`GET ${url.split("/")[1]}: status ${status}`, { url, body });
      }
      const query = "query($urn: String!) { entity(urn: $urn) { urn type } }";
      await send({
        ...{ route: "graphql entity", method: "POST", path: "/api/graphql" },
        body: { query, variables: { urn } },
      });
    }
    const search = { entities: [], input: [...urns][0]?.slice(-12) ?? "*", start: 0, count: 10 };
    await send({
      ...{ route: "search", method: "POST", path: "/entities?action=searchAcrossEntities" },
      body: search,
    });
  }

  async function verified(): Promise<void> {
    const task = await operator.value("verify", { full: true });
    const { state, error } = await ended(task);
    const { total, differences } = await operator.value("listDifferences", { count: 5 });
    if (total > 0 || state === "failed") {
      problem("verification finds differences", { state, error, total, differences });
    }
  }

  async function rebuilt(): Promise<void> {
    const job = await ended(await operator.value("rebuildViews"));
    if (job.state !== "done") problem("a rebuild fails", job);
  }

  async function ended(id: string) {
    for (;;) {
      const job = await operator.value("getJob", { id });
      if (job.state !== "running") return job;
      await pause(50);
    }
  }

  return { send, areSettled, read, verified, rebuilt };
}
