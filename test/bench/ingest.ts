/** Durable writes: single proposals, new and changed entities, and batches. */
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { shares, threadTimes } from "./cpu.ts";
import { startEcho } from "./echo.ts";
import { type Load, load, type Measured, median } from "./load.ts";
import { rate, report } from "./report.ts";
import { batch, single } from "./sample.ts";

const connections = 64;
const seconds = 4;
const rounds = 3;
/** Entities that are changed repeatedly. */
const entities = 20_000;
const batchSize = 500;

export async function benchIngest(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  using echo = await startEcho();
  const service = await startService(directory.path, { asInstalled: true });
  const ingest = "/aspects?action=ingestProposal";
  const common = { method: "POST", connections, seconds } as const;
  let generation = 0;
  let fresh = entities;

  const changed = (): Load["requests"] =>
    bodies(entities, (n) => single(n, generation)).map((body) => ({ path: ingest, body }));
  const created = (): Load["requests"] => {
    const first = fresh;
    fresh += 200_000;
    return bodies(200_000, (n) => single(first + n, 0)).map((body) => ({ path: ingest, body }));
  };
  const echoed = bodies(entities, (n) => single(n, 0)).map((body) => ({ path: "/echo", body }));

  // Every entity exists before it is changed; the first load is also the warm-up.
  await load({ ...common, url: service.address, requests: changed(), seconds: 6 });
  /** CPU time of the service's threads per proposal of a kind, in the last round. */
  const went = new Map<string, string>();
  const watched = async (kind: string, asked: Load): Promise<Measured> => {
    const before = threadTimes(service.pid);
    const measured = await load(asked);
    const after = threadTimes(service.pid);
    if (before !== undefined && after !== undefined) {
      went.set(kind, shares(before, after, measured.perSecond * seconds));
    }
    return measured;
  };
  const results = { echo: [] as Measured[], changed: [] as Measured[], created: [] as Measured[] };
  for (let round = 0; round < rounds; round++) {
    results.echo.push(await load({ ...common, url: echo.url, requests: echoed }));
    generation++;
    const asked = { ...common, url: service.address };
    results.changed.push(await watched("exist", { ...asked, requests: changed() }));
    results.created.push(await watched("are new", { ...asked, requests: created() }));
  }
  const base = median(results.echo.map((one) => one.perSecond));
  show("bare echo of one proposal", results.echo, undefined);
  show("single durable proposals, entities that exist", results.changed, base);
  show("single durable proposals, new entities (5 aspects)", results.created, base);

  for (const [kind, time] of went) report(`where it goes, entities that ${kind}`, time);

  const batchPath = "/aspects?action=ingestProposalBatch";
  const perBatch = batchSize / 2;
  const batches = async (body: (n: number, round: number) => string): Promise<number> => {
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round++) {
      const requests = bodies(400, (n) => body(n, round)).map((one) => ({
        path: batchPath,
        body: one,
      }));
      measured.push(await load({ ...common, connections: 4, url: service.address, requests }));
    }
    return median(measured.map((one) => one.perSecond)) * batchSize;
  };
  const perGeneration = entities / perBatch;
  const known = await batches((n, round) =>
    batch(
      (n % perGeneration) * perBatch,
      batchSize,
      1_000 + round * 10 + Math.floor(n / perGeneration),
    ),
  );
  report(`batches of ${batchSize}, entities that exist: aspects`, rate(known));
  const created500 = await batches((n, round) => {
    const first = fresh + (round * 400 + n) * perBatch;
    return batch(first, batchSize, 0);
  });
  report(`batches of ${batchSize}, new entities: proposed aspects`, rate(created500));
  // Half as many entities as proposals, each with its key and three default aspects.
  report("the same, with the aspects that new entities get", rate(created500 * 3));
  await service.stop();
}

const bodies = (count: number, body: (n: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, n) => body(n));

function show(name: string, rounds: readonly Measured[], base: number | undefined): void {
  const perSecond = median(rounds.map((one) => one.perSecond));
  const p99 = median(rounds.map((one) => one.p99Ms));
  const against = base === undefined ? undefined : { ratio: perSecond / base, target: 0.25 };
  report(name, `${rate(perSecond)}, p99 ${p99} ms`, against);
}
