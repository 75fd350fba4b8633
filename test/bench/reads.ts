/**
 * Entity reads, against an echo that returns the same text without a lookup. Both get the same
 * different urns, because requests that differ cost the client more.
 */
import { createClient, encoded } from "../support/client.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startEcho } from "./echo.ts";
import { load, type Measured, median } from "./load.ts";
import { rate, report } from "./report.ts";
import { batch, urnOf } from "./sample.ts";

const connections = 64;
const seconds = 4;
const rounds = 3;
const entities = 20_000;

export async function benchReads(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const service = await startService(directory.path, { asInstalled: true });
  const client = createClient(service.address);
  for (let first = 0; first < entities; first += 250) {
    await client.call("POST", "/aspects?action=ingestProposalBatch", batch(first, 500, 0));
  }
  const { body } = await client.get(`/entitiesV2/${encoded(urnOf(0))}`);
  using echo = await startEcho(JSON.stringify(body));
  const common = { method: "GET", connections, seconds } as const;
  const paths = Array.from({ length: entities }, (_, n) => ({
    path: `/entitiesV2/${encoded(urnOf(n))}`,
  }));
  const aspects = Array.from({ length: entities }, (_, n) => ({
    path: `/aspects/${encoded(urnOf(n))}?aspect=ownership&version=0`,
  }));
  const owners = Array.from({ length: entities }, (_, n) => ({
    path: `/relationships?direction=OUTGOING&types=OwnedBy&urn=${encoded(urnOf(n))}`,
  }));
  const echoed = Array.from({ length: entities }, (_, n) => ({
    path: `/text?urn=${encoded(urnOf(n))}`,
  }));
  const results = {
    echo: [] as Measured[],
    entity: [] as Measured[],
    aspect: [] as Measured[],
    owners: [] as Measured[],
  };
  for (let round = 0; round < rounds; round++) {
    results.echo.push(await load({ ...common, url: echo.url, requests: echoed }));
    results.entity.push(await load({ ...common, url: service.address, requests: paths }));
    results.aspect.push(await load({ ...common, url: service.address, requests: aspects }));
    results.owners.push(await load({ ...common, url: service.address, requests: owners }));
  }
  const base = median(results.echo.map((one) => one.perSecond));
  for (const [name, measured] of Object.entries({
    "bare echo of an entity's text": results.echo,
    "entity reads, all aspects": results.entity,
    "aspect reads, latest version": results.aspect,
    "neighbours of one entity": results.owners,
  })) {
    const perSecond = median(measured.map((one) => one.perSecond));
    const against =
      measured === results.echo ? undefined : { ratio: perSecond / base, target: 0.5 };
    report(name, rate(perSecond), against);
  }
  await service.stop();
}
