/** Durable writes: single proposals, new and changed entities, and batches. */
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { shares, threadTimes } from "./cpu.ts";
import { startEcho } from "./echo.ts";
import type { Figures } from "./figures.ts";
import { type Load, load, type Measured, median } from "./load.ts";
import { batch, single } from "./sample.ts";

const connections = 64;
const seconds = 4;
const rounds = 3;
/** Entities that are changed repeatedly. */
const entities = 20_000;
const batchSize = 500;
/** A new dataset gets its key, two browse paths and its platform instance. */
const defaultAspects = 4;
const ingest = "/aspects?action=ingestProposal";
const ingestBatch = "/aspects?action=ingestProposalBatch";
const of = "the echo";

/** A kind of request, and the figures of its rounds. */
interface Kind {
  readonly name: string;
  /** Aspects proposed by one request. */
  readonly size: number;
  readonly goal?: number;
  load(round: number): Load;
  readonly measured: Measured[];
  /** CPU time of the service's threads for each aspect, in the last round. */
  spent?: string;
}

/** Ratios: aspects for each request of an echo that parses one proposal. */
export async function* benchIngest(): Figures {
  using directory = temporaryDirectory("annals-bench");
  using echo = await startEcho();
  await using service = await startService(directory.path, { asInstalled: true });
  const common = { method: "POST", connections, seconds, url: service.address } as const;
  let fresh = entities;
  const created = (count: number, body: (first: number) => string, each = 1) => {
    const first = fresh;
    fresh += count * each;
    return bodies(count, (n) => body(first + n * each));
  };
  const perBatch = batchSize / 2;
  const changedBatch = (n: number, round: number) => {
    const [first, turn] = [(n * perBatch) % entities, Math.floor((n * perBatch) / entities)];
    return batch(first, batchSize, 1_000 + round * 10 + turn);
  };
  const singles: readonly Kind[] = [
    {
      ...{ name: "bare echo of one proposal", size: 1, measured: [] },
      load: () => ({
        ...{ ...common, url: echo.url },
        requests: at(
          "/echo",
          bodies(entities, (n) => single(n, 0)),
        ),
      }),
    },
    {
      ...{ name: "proposals, existing entities", size: 1, goal: 0.35, measured: [] },
      load: (round) => ({
        ...common,
        requests: at(
          ingest,
          bodies(entities, (n) => single(n, round + 1)),
        ),
      }),
    },
    {
      ...{ name: "proposals, new entities (5 aspects)", size: 1, goal: 0.18, measured: [] },
      load: () => ({
        ...common,
        requests: at(
          ingest,
          created(80_000, (n) => single(n, 0)),
        ),
      }),
    },
  ];
  const batches: readonly Kind[] = [
    {
      ...{ name: `aspects in batches of ${batchSize}, existing entities`, size: batchSize },
      ...{ goal: 2, measured: [] },
      load: (round) => ({
        ...{ ...common, connections: 4 },
        requests: at(
          ingestBatch,
          bodies(400, (n) => changedBatch(n, round)),
        ),
      }),
    },
    {
      ...{ name: `aspects in batches of ${batchSize}, new entities`, size: batchSize },
      ...{ goal: 1, measured: [] },
      load: () => ({
        ...{ ...common, connections: 4 },
        requests: at(
          ingestBatch,
          created(400, (first) => batch(first, batchSize, 0), perBatch),
        ),
      }),
    },
  ];

  // Every entity exists before it is changed; the first load is also the warm-up.
  const first = at(
    ingest,
    bodies(entities, (n) => single(n, 0)),
  );
  await load({ ...common, requests: first, seconds: 6 });
  for (const kinds of [singles, batches]) {
    for (let round = 0; round < rounds; round++) {
      for (const kind of kinds) await measure(kind, round, service.pid);
    }
  }
  const base = median(singles[0]?.measured.map(({ perSecond }) => perSecond) ?? []);
  for (const kind of [...singles, ...batches]) yield figureOf(kind, base);
  const [last] = batches.slice(-1);
  // Half as many entities as proposed aspects.
  const all = figureOf(last as Kind, base).value * (1 + defaultAspects / 2);
  yield { name: "the same with default aspects", value: all, unit: "/s" };
  await service.stop();
}

async function measure(kind: Kind, round: number, pid: number): Promise<void> {
  const asked = kind.load(round);
  const before = threadTimes(pid);
  const measured = await load(asked);
  const after = threadTimes(pid);
  kind.measured.push(measured);
  if (before === undefined || after === undefined) return;
  kind.spent = shares(before, after, measured.perSecond * seconds * kind.size);
}

function figureOf({ name, size, goal, measured, spent }: Kind, base: number) {
  const value = median(measured.map(({ perSecond }) => perSecond)) * size;
  const p99 = `p99 ${median(measured.map(({ p99Ms }) => p99Ms))} ms`;
  if (goal === undefined) return { name, value, unit: "/s" as const, note: p99 };
  const note = spent === undefined ? p99 : `${p99}; CPU ${spent}`;
  return { name, value, unit: "/s" as const, ratio: { value: value / base, of }, goal, note };
}

const at = (path: string, texts: readonly string[]): Load["requests"] =>
  texts.map((body) => ({ path, body }));

const bodies = (count: number, body: (n: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, n) => body(n));
