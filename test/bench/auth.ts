/**
 * What it costs to say who asks: the same requests with an access token, to a service that asks for
 * one, against those without, to one that does not; and where policies decide who reads what.
 */
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { createClient, encoded } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { threadTimes } from "./cpu.ts";
import { load, type Measured, median } from "./load.ts";
import { rate, report } from "./report.ts";
import { batch, single, urnOf } from "./sample.ts";

const connections = 64;
const seconds = 3;
const rounds = 3;
const entities = 5_000;
/** Of the rate without tokens. */
const target = 0.9;
const READER = "urn:li:corpuser:reader";

interface Side {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly pid: number;
  readonly stop: () => Promise<unknown>;
}

/** A service with the entities, and headers of a user who may read them. */
async function open(path: string, args: readonly string[]): Promise<Side> {
  const service = await startService(path, { args: [...args] });
  const client = createClient(service.address);
  const operator = args.includes("on") ? tokenOf(path) : {};
  for (let first = 0; first < entities; first += 250) {
    const body = batch(first, 500, 0);
    await client.call("POST", "/aspects?action=ingestProposalBatch", body, operator);
  }
  const token = args.includes("on")
    ? (await makeToken(client, { actorUrn: READER }, operator)).token
    : undefined;
  const headers = token === undefined ? {} : asBearer(token);
  return { url: service.address, headers, pid: service.pid, stop: () => service.stop() };
}

/** Everything may be read, said by a criterion that each entity is asked. */
const everyDataset = {
  ...{ displayName: "bench", description: "", type: "METADATA", state: "ACTIVE" },
  privileges: ["VIEW_ENTITY_PAGE"],
  actors: { allUsers: true },
  resources: { filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] } },
};

/** CPU microseconds of its main thread; 0 where the system does not tell. */
const mainTimeOf = (pid: number): number => {
  const [first] = threadTimes(pid)?.values() ?? [];
  return first ?? 0;
};

export async function benchAuth(): Promise<void> {
  using openly = temporaryDirectory("annals-bench");
  using guarded = temporaryDirectory("annals-bench");
  using judged = temporaryDirectory("annals-bench");
  const sides = {
    "without tokens": await open(openly.path, []),
    "with tokens": await open(guarded.path, ["--auth", "on"]),
    "with tokens, reads by policy": await open(judged.path, [
      ...["--auth", "on", "--read-authorization", "on"],
    ]),
  };
  const client = createClient(sides["with tokens, reads by policy"].url);
  for (const [id, value] of [
    ["view-entity-page-all", { ...everyDataset, state: "INACTIVE" }],
    ["bench", everyDataset],
  ] as const) {
    const aspect = { value: JSON.stringify(value), contentType: "application/json" };
    const proposal = {
      ...{ entityType: "dataHubPolicy", entityUrn: `urn:li:dataHubPolicy:${id}` },
      ...{ changeType: "UPSERT", aspectName: "dataHubPolicyInfo", aspect },
    };
    const path = "/aspects?action=ingestProposal";
    await client.call("POST", path, { proposal }, tokenOf(judged.path));
  }

  const reads = Array.from({ length: entities }, (_, n) => ({
    path: `/entitiesV2/${encoded(urnOf(n))}`,
  }));
  const writes = Array.from({ length: entities }, (_, n) => ({
    path: "/aspects?action=ingestProposal",
    // What is there already, so that each costs the same however often it is told.
    body: single(n, 0),
  }));
  for (const [what, method, requests] of [
    ["entity reads", "GET", reads],
    ["writes", "POST", writes],
  ] as const) {
    const measured = new Map<string, Measured[]>();
    const spent = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      // Each comes first once: others use the machine, too.
      const turns = Object.entries(sides);
      turns.push(...turns.splice(0, round % turns.length));
      for (const [name, { url, headers, pid }] of turns) {
        const before = mainTimeOf(pid);
        const one = await load({ url, method, requests, headers, connections, seconds });
        measured.set(name, [...(measured.get(name) ?? []), one]);
        const each = (mainTimeOf(pid) - before) / (one.perSecond * seconds);
        spent.set(name, [...(spent.get(name) ?? []), each]);
      }
    }
    const rateOf = (name: string): number =>
      median((measured.get(name) ?? []).map((one) => one.perSecond));
    const base = rateOf("without tokens");
    for (const name of measured.keys()) {
      const against =
        name === "without tokens"
          ? undefined
          : { ratio: rateOf(name) / base, target, of: "those without" };
      report(`${what} ${name}`, rate(rateOf(name)), against);
      // Says the same where others use the machine, too.
      const us = median(spent.get(name) ?? []);
      if (us > 0) report("  of its main thread, for each request", `${us.toFixed(0)} us`);
    }
  }
  for (const { stop } of Object.values(sides)) await stop();
}
