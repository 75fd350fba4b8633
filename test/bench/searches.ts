/**
 * Searches over HTTP, against an echo that returns a response of the same size: words that 0.1 to
 * 80 % of the documents have, the default facets, 10 hits.
 */
import { caughtUp } from "../support/caught-up.ts";
import { createClient, proposal } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startEcho } from "./echo.ts";
import { load, type Measured, median } from "./load.ts";
import { rate, report } from "./report.ts";
import { ownershipOf, urnOf } from "./sample.ts";

const seconds = 5;
const rounds = 2;
const perRequest = 500;
const words = 200;
const [rarest, commonest] = [0.001, 0.8];

const frequencyOf = (word: number): number => rarest * (commonest / rarest) ** (word / (words - 1));

/** A number from 0 to 1 that depends on the document and the word alone. */
function chance(document: number, word: number): number {
  let hash = Math.imul(document + 1, 0x9e3779b1) ^ Math.imul(word + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

const numbers = Array.from({ length: words }, (_, word) => word);
/** One word of letters: digits would be words of their own. */
const nameOf = (word: number): string =>
  `mixed${String.fromCharCode(97 + Math.floor(word / 26), 97 + (word % 26))}`;

const descriptionOf = (document: number): string =>
  numbers
    .filter((word) => chance(document, word) < frequencyOf(word))
    .map(nameOf)
    .join(" ");

async function fill({ address }: ServiceProcess, entities: number): Promise<void> {
  const client = createClient(address);
  for (let first = 0; first < entities; first += perRequest) {
    const proposals = Array.from({ length: perRequest }, (_, n) => first + n).flatMap((n) => [
      proposal(urnOf(n), "datasetProperties", {
        ...{ name: `table_${n}`, description: descriptionOf(n), customProperties: {} },
      }),
      proposal(urnOf(n), "ownership", ownershipOf(n)),
    ]);
    const { status } = await client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals,
    });
    if (status !== 200) throw new Error(`the service rejects a batch with ${status}`);
  }
}

const bodyOf = (word: number): string =>
  JSON.stringify({ entity: "dataset", input: nameOf(word), start: 0, count: 10 });

const path = "/entities?action=search";

export async function benchSearches(entities: number, connections: number): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const service = await startService(directory.path, { asInstalled: true });
  const client = createClient(service.address);
  await fill(service, entities);
  await caughtUp({ client, directory: directory.path });
  const { body } = await client.call("POST", path, bodyOf(words / 2));
  using echo = await startEcho(JSON.stringify(body));
  // A stride that is prime to the number of words mixes their frequencies.
  const requests = numbers.map((n) => ({ path, body: bodyOf((n * 77) % words) }));
  const common = { method: "POST", connections, seconds, requests } as const;
  const echoes = {
    ...common,
    method: "GET",
    url: echo.url,
    requests: [{ path: "/text" }],
  } as const;
  const commonest = [{ path, body: bodyOf(words - 1) }];
  const echoed: Measured[] = [];
  const mixed: Measured[] = [];
  const alone: Measured[] = [];
  for (let round = 0; round <= rounds; round++) {
    const some = [
      await load(echoes),
      await load({ ...common, url: service.address }),
      await load({ ...common, url: service.address, requests: commonest, connections: 1 }),
    ] as const;
    // The first round warms up.
    if (round === 0) continue;
    for (const [n, list] of [echoed, mixed, alone].entries()) list.push(some[n] as Measured);
  }
  const base = median(echoed.map(({ perSecond }) => perSecond));
  const perSecond = median(mixed.map((one) => one.perSecond));
  report(`${entities.toLocaleString("en")} entities, ${connections} readers: echo`, rate(base));
  report("searches, mixed words", rate(perSecond), { ratio: perSecond / base, target: 0.25 });
  report("p50 and p99", latencies(mixed));
  report("a word in 80 %, one reader, p50 and p99", latencies(alone));
  await service.stop();
}

const latencies = (measured: readonly Measured[]): string =>
  [median(measured.map(({ p50Ms }) => p50Ms)), median(measured.map(({ p99Ms }) => p99Ms))]
    .map((ms) => `${ms.toFixed(0)} ms`)
    .join(", ");
