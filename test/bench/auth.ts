/**
 * The cost of authentication and of read authorization: requests with an access token to a service
 * that requires one, against the same requests without a token to a service that does not.
 * The services run in one process, so that compiled code and heap are the same. The turns of a
 * round are in a palindromic order, so that changes of the machine's speed affect all of them. The
 * compared figure is the CPU time of the thread that answers: it limits the rate, and does not
 * depend on the client.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { createClient, encoded } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import type { Opened } from "./auth-services.ts";
import { type Connections, openConnections, requestText } from "./connections.ts";
import { mainThreadTime } from "./cpu.ts";
import { median } from "./load.ts";
import { rate, report } from "./report.ts";
import { batch, single, urnOf } from "./sample.ts";

const connections = 64;
/** Requests of one turn, and rounds with two turns of each kind; the first rounds warm up. */
const amount = 500;
const rounds = 150;
const warmUps = 15;
const entities = 5_000;
/** Shares of the rate without tokens. */
const target = 0.9;
const OPENLY = "without tokens";
const JUDGED = "with tokens, reads by policy";
const READER = "urn:li:corpuser:reader";

const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [OPENLY]: {},
  "with tokens": { auth: "on" },
  [JUDGED]: { auth: "on", readAuthorization: "on" },
};

interface Side {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: Connections;
}

/** Thread microseconds per request of a kind, and requests per second. */
interface Spent {
  readonly us: number;
  readonly perSecond: number;
}

export async function benchAuth(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const flags = Object.fromEntries(
    Object.entries(kinds).map(([name, own]) => [name, { ...own, data: dataOf(name) }]),
  );
  function dataOf(name: string): string {
    return join(directory.path, name.replaceAll(/\W+/g, "-"));
  }
  const script = fileURLToPath(new URL("auth-services.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(flags)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const opened: Opened = JSON.parse(line);
  const sides: Side[] = [];
  for (const [name, url] of Object.entries(opened)) {
    sides.push(await fill(name, url, name === OPENLY ? undefined : tokenOf(dataOf(name))));
  }
  const pid = child.pid ?? 0;
  await compare("entity reads", pid, sides, (n, headers) =>
    requestText({ method: "GET", path: `/entitiesV2/${encoded(urnOf(n))}`, headers }),
  );
  // Existing entities, so that repeated writes cost the same.
  const path = "/aspects?action=ingestProposal";
  await compare("writes", pid, sides, (n, headers) =>
    requestText({ method: "POST", path, headers, body: single(n, 0) }),
  );
  for (const side of sides) side.connections.close();
  child.kill();
  await ended;
}

/** A policy that allows every read, by a criterion that is checked for each entity. */
const everyDataset = {
  ...{ displayName: "bench", description: "", type: "METADATA", state: "ACTIVE" },
  privileges: ["VIEW_ENTITY_PAGE"],
  actors: { allUsers: true },
  resources: { filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] } },
};

/** Writes the entities, and a user who may read them if the service authorizes reads. */
async function fill(
  name: string,
  url: string,
  operator: Record<string, string> | undefined,
): Promise<Side> {
  const client = createClient(url);
  async function post(action: string, body: string | object): Promise<void> {
    const reply = await client.call("POST", `/aspects?action=${action}`, body, operator);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  }
  for (let first = 0; first < entities; first += 250) {
    await post("ingestProposalBatch", batch(first, 500, 0));
  }
  const policies = { "view-entity-page-all": { ...everyDataset, state: "INACTIVE" } };
  for (const [id, value] of Object.entries({ ...policies, bench: everyDataset })) {
    if (name !== JUDGED) break;
    const aspect = { value: JSON.stringify(value), contentType: "application/json" };
    const proposal = {
      ...{ entityType: "dataHubPolicy", entityUrn: `urn:li:dataHubPolicy:${id}` },
      ...{ changeType: "UPSERT", aspectName: "dataHubPolicyInfo", aspect },
    };
    await post("ingestProposal", { proposal });
  }
  const headers =
    operator === undefined
      ? {}
      : asBearer((await makeToken(client, { actorUrn: READER }, operator)).token);
  return { name, headers, connections: await openConnections(url, connections) };
}

async function compare(
  what: string,
  pid: number,
  sides: readonly Side[],
  request: (n: number, headers: Side["headers"]) => Buffer,
): Promise<void> {
  const spent = new Map<Side, Spent[]>(sides.map((side) => [side, []]));
  const requests = new Map(
    sides.map((side) => [
      side,
      Array.from({ length: entities }, (_, n) => request(n, side.headers)),
    ]),
  );
  for (let round = 0; round < warmUps + rounds; round++) {
    // Each round begins with another kind.
    const order = sides.map((_, i) => sides[(i + round) % sides.length] as Side);
    const taken = new Map<Side, Spent[]>();
    for (const side of [...order, ...order.toReversed()]) {
      const all = requests.get(side) ?? [];
      const first = (round * amount) % entities;
      const turn = [...all.slice(first), ...all.slice(0, first)].slice(0, amount);
      taken.set(side, [...(taken.get(side) ?? []), await take(pid, side.connections, turn)]);
    }
    if (round < warmUps) continue;
    for (const [side, turns] of taken) spent.get(side)?.push(meanOf(turns));
  }
  const open = spent.get(sides[0] as Side) ?? [];
  for (const [{ name }, own] of spent) {
    const ratio = median(own.map(({ us }, i) => (open[i]?.us ?? Number.NaN) / us));
    const us = median(own.map((one) => one.us)).toFixed(1);
    const seen = rate(median(own.map(({ perSecond }) => perSecond)));
    const against = name === OPENLY ? undefined : { ratio, target, of: "those without" };
    report(`${what} ${name}`, `${us} us, ${seen}`, against);
  }
}

async function take(pid: number, to: Connections, requests: readonly Buffer[]): Promise<Spent> {
  const [begun, before] = [performance.now(), mainThreadTime(pid)];
  await to.send(requests);
  const seconds = (performance.now() - begun) / 1_000;
  const us = before === undefined ? seconds * 1e6 : (mainThreadTime(pid) ?? 0) - before;
  return { us: us / requests.length, perSecond: requests.length / seconds };
}

const meanOf = (turns: readonly Spent[]): Spent => ({
  us: turns.reduce((sum, { us }) => sum + us, 0) / turns.length,
  perSecond: turns.reduce((sum, { perSecond }) => sum + perSecond, 0) / turns.length,
});
