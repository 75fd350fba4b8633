/**
 * Entity reads, against an echo that returns the same text without a lookup. Both get the same
 * different urns, because requests that differ cost the client more.
 */
import { createClient, encoded } from "../support/client.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startEcho } from "./echo.ts";
import type { Figures } from "./figures.ts";
import { load, type Measured, median } from "./load.ts";
import { batch, urnOf } from "./sample.ts";

const connections = 64;
const seconds = 4;
const rounds = 3;
const entities = 20_000;
const goal = 0.5;

export async function* benchReads(): Figures {
  using directory = temporaryDirectory("annals-bench");
  await using service = await startService(directory.path, { asInstalled: true });
  const client = createClient(service.address);
  for (let first = 0; first < entities; first += 250) {
    await client.call("POST", "/aspects?action=ingestProposalBatch", batch(first, 500, 0));
  }
  const { body } = await client.get(`/entitiesV2/${encoded(urnOf(0))}`);
  using echo = await startEcho(JSON.stringify(body));
  const paths: Readonly<Record<string, (urn: string) => string>> = {
    "bare echo of the text of an entity": (urn) => `/text?urn=${urn}`,
    "entity reads, all aspects": (urn) => `/entitiesV2/${urn}`,
    "aspect reads, latest version": (urn) => `/aspects/${urn}?aspect=ownership&version=0`,
    "neighbours of one entity": (urn) =>
      `/relationships?direction=OUTGOING&types=OwnedBy&urn=${urn}`,
  };
  const kinds = Object.entries(paths).map(([name, path], n) => ({
    name,
    url: n === 0 ? echo.url : service.address,
    requests: Array.from({ length: entities }, (_, n) => ({ path: path(encoded(urnOf(n))) })),
    measured: [] as Measured[],
  }));
  for (let round = 0; round < rounds; round++) {
    for (const { url, requests, measured } of kinds) {
      measured.push(await load({ method: "GET", connections, seconds, url, requests }));
    }
  }
  let base: number | undefined;
  for (const { name, measured } of kinds) {
    const value = median(measured.map((one) => one.perSecond));
    const note = `p99 ${median(measured.map((one) => one.p99Ms))} ms`;
    const against =
      base === undefined ? {} : { ratio: { value: value / base, of: "the echo" }, goal };
    base ??= value;
    yield { name, value, unit: "/s", note, ...against };
  }
  await service.stop();
}
