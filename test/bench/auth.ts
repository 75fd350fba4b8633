/**
 * What it costs to say who asks: the same requests with an access token, to a service that asks for
 * one, against those without, to one that does not; and where policies decide who reads what.
 *
 * The kinds take turns of some hundred milliseconds, so that whatever else the machine does falls on
 * all alike. What is compared is the CPU time of the thread that answers: it is what bounds the rate,
 * and does not depend on what is left for it by the client that asks.
 */
import autocannon from "autocannon";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { createClient, encoded } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { mainThreadTime } from "./cpu.ts";
import { median } from "./load.ts";
import { rate, report } from "./report.ts";
import { batch, single, urnOf } from "./sample.ts";

const connections = 64;
/** Of one turn, and turns of each kind; the first ones warm up. */
const amount = 2_000;
const rounds = 15;
const warmUps = 6;
const entities = 5_000;
/** Of the rate without tokens. */
const target = 0.9;
const OPENLY = "without tokens";
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

export async function benchAuth(): Promise<void> {
  using openly = temporaryDirectory("annals-bench");
  using guarded = temporaryDirectory("annals-bench");
  using judged = temporaryDirectory("annals-bench");
  const sides = {
    [OPENLY]: await open(openly.path, []),
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
    const seen = new Map<string, number[]>();
    const spent = new Map<string, number[]>();
    for (let round = 0; round < rounds + warmUps; round++) {
      const turns = Object.entries(sides);
      turns.push(...turns.splice(0, round % turns.length));
      for (const [name, { url, headers, pid }] of turns) {
        const before = mainThreadTime(pid);
        const perSecond = await take({ url, method, requests, headers });
        const after = mainThreadTime(pid);
        if (round < warmUps) continue;
        seen.set(name, [...(seen.get(name) ?? []), perSecond]);
        const us = before === undefined ? 1e6 / perSecond : ((after ?? 0) - before) / amount;
        spent.set(name, [...(spent.get(name) ?? []), us]);
      }
    }
    for (const [name, all] of seen) {
      const us = (of: string): number => median(spent.get(of) ?? []);
      const ratio = us(OPENLY) / us(name);
      const against = name === OPENLY ? undefined : { ratio, target, of: "those without" };
      report(`${what} ${name}`, `${us(name).toFixed(1)} us each`, against);
      report("  as the client saw it", rate(median(all)));
    }
  }
  for (const { stop } of Object.values(sides)) await stop();
}

interface Turn {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly requests: readonly { readonly path: string; readonly body?: string }[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends `amount` requests; gives how many were answered a second. */
async function take({ url, method, requests, headers }: Turn): Promise<number> {
  const all = requests.map(({ path, body }) => ({
    ...{ method, path, body },
    headers: { "content-type": "application/json", ...headers },
  }));
  const size = Math.floor(all.length / connections);
  let next = 0;
  const result = await autocannon({
    ...{ url, connections, amount },
    setupClient: (client) => client.setRequests(all.slice(size * next, size * ++next)),
  });
  const { non2xx, errors, duration } = result;
  if (non2xx + errors > 0) throw new Error(`${non2xx} no success, ${errors} errors, at ${url}`);
  return result["2xx"] / duration;
}
