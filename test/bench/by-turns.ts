/**
 * Compares an adapter with the raw client for the same work in the same run: warm, in alternating
 * rounds, by medians. Next to the rate it reports the CPU time of this process; the time of the
 * server is only in the rate.
 */
import { median } from "./load.ts";
import { rate, report } from "./report.ts";

type Work = () => Promise<void>;

export interface Comparison {
  /** Title of the figures. */
  readonly raw: string;
  readonly ours: string;
  /** The baseline of `ours`. */
  readonly of: string;
  readonly target: number;
  readonly rounds: number;
  /** Items of a round. */
  readonly size: number;
  /** The work of a round; preparation is not measured. */
  sides(): { readonly raw: Work; readonly ours: Work };
}

interface Spent {
  readonly seconds: number;
  readonly cpuMicros: number;
}

/** The side that begins alternates; the first round warms up. */
export async function compareByTurns(comparison: Comparison): Promise<void> {
  const { rounds, size, sides } = comparison;
  const [ours, theirs]: [Spent[], Spent[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const { raw, ours: own } = sides();
    const turns = [[own, ours] as const, [raw, theirs] as const];
    for (const [work, spent] of round % 2 === 0 ? turns : turns.toReversed()) {
      const one = await spentBy(work);
      if (round > 0) spent.push(one);
    }
  }
  report(comparison.raw, figure(theirs, size));
  report(comparison.ours, figure(ours, size), {
    ratio: median(theirs.map(({ seconds }, n) => seconds / (ours[n]?.seconds ?? Infinity))),
    ...{ target: comparison.target, of: comparison.of },
  });
}

/** Runs the given number of calls, some concurrently. */
export async function called(
  { calls, callers }: { readonly calls: number; readonly callers: number },
  ask: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < calls) await ask(next++);
    }),
  );
}

async function spentBy(work: Work): Promise<Spent> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - begun) / 1_000, cpuMicros: user + system };
}

function figure(spent: readonly Spent[], size: number): string {
  const perSecond = size / median(spent.map(({ seconds }) => seconds));
  const micros = median(spent.map(({ cpuMicros }) => cpuMicros)) / size;
  return `${rate(perSecond)}, ${micros.toFixed(0)} us`;
}
