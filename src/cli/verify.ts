/**
 * `annals verify`: compares views with the log, and mends them: those of a data directory on which no
 * service runs, or those of a running service, as a job of it.
 */
import type { Config } from "../config/config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import { type ToldJob, watchJob } from "./jobs.ts";
import type { Operations, VerifiedStore, VerifiedStores, VerifyGrade } from "./operations.ts";
import type { OperatorClient } from "./operator-client.ts";
import type { Terminal } from "./terminal.ts";

/** Differences of one view that are printed. */
const printedMax = 20;
/** Differences of all views that are asked for of a service. */
const askedMax = 1_000;

export const verifyGrades: readonly VerifyGrade[] = ["full", "whole", "quick"];

export interface VerifyAsked {
  readonly views: readonly string[];
  readonly repair: boolean;
  readonly grade: VerifyGrade;
}

export async function verify(
  config: Config,
  { views, repair, grade }: VerifyAsked,
  { operations, terminal, logger }: { operations: Operations; terminal: Terminal; logger: Logger },
): Promise<ExitCode> {
  const start = performance.now();
  const bar = terminal.startBar("verifying {bar} {percentage}% | record {value} of {total}");
  let verified: VerifiedStores;
  try {
    verified = await operations.verify(config, {
      views,
      repair,
      grade,
      logger,
      onProgress: (done, total) => bar.update(done, total),
    });
  } finally {
    bar.stop();
  }
  const seconds = (performance.now() - start) / 1_000;
  const { found, left, unknown, records, mended, rebuilt } = verified;
  for (const one of found) await printStore(one, terminal);
  for (const { view, reason } of unknown) await terminal.print(`${view}: unknown: ${reason}`);
  if (mended > 0) await terminal.print(`${mended} entities were made anew`);
  for (const view of rebuilt) await terminal.print(`${view}: grown anew from the log`);
  for (const { view, count } of left) {
    if (repair && count > 0) await terminal.print(`${view}: ${count} differences are left`);
  }
  terminal.tell(`${records} records in ${seconds.toFixed(1)} s`);
  const equal = left.every(({ count }) => count === 0);
  return equal && unknown.length === 0 ? exitCodes.done : exitCodes.failed;
}

interface Listed {
  readonly views: readonly (Omit<VerifiedStore, "count" | "differences"> & {
    readonly differences: number;
    /** Time of the verification, in epoch milliseconds. */
    readonly time: number;
  })[];
  readonly differences: readonly (VerifiedStore["differences"][number] & {
    readonly view: string;
  })[];
}

/** The same of a running service; what is printed is what its job has left. */
export async function verifyRunning(
  { views, repair, grade }: VerifyAsked,
  { client, terminal }: { readonly client: OperatorClient; readonly terminal: Terminal },
): Promise<ExitCode> {
  const id = await client.act<string>("verify", {
    views,
    repair,
    full: grade === "full",
    quick: grade === "quick",
  });
  const exitCode = await watchJob(id, { client, terminal, json: false });
  const { started } = await client.act<ToldJob>("getJob", { id });
  const listed = await client.act<Listed>("listDifferences", { count: askedMax });
  let left = 0;
  let unknown = 0;
  for (const view of views.length > 0 ? views : await viewsOf(client)) {
    // A result of an earlier verification does not count.
    const found = listed.views.find((one) => one.view === view && one.time >= started);
    if (found === undefined) {
      await terminal.print(`${view}: unknown: this verification did not reach it`);
      unknown++;
      continue;
    }
    const { differences: count, ...counts } = found;
    const differences = listed.differences.filter((one) => one.view === view);
    await printStore({ ...counts, count, differences }, terminal);
    left += count;
  }
  return left + unknown === 0 ? exitCode : exitCodes.failed;
}

const viewsOf = async (client: OperatorClient): Promise<readonly string[]> => {
  const { views } = await client.act<{ views: Readonly<Record<string, unknown>> }>("getStatus");
  return Object.keys(views).filter((view) => verifiedViews.has(view));
};

/** Views with rows to compare: all but the feed to Kafka. */
const verifiedViews = new Set(["aspects", "timeseries", "graph", "search"]);

async function printStore(
  { view, position, rows, count, differences }: VerifiedStore,
  terminal: Terminal,
): Promise<void> {
  const what = count === 0 ? `${rows} rows, as the log says` : `${count} differences`;
  await terminal.print(`${view}: ${what}, up to position ${position}`);
  const printed = differences.slice(0, printedMax);
  for (const { urn, aspect, kind, there, should } of printed) {
    const place = [urn, aspect].filter((part) => part !== "").join(" ");
    const details = [there && `there: ${there}`, should && `should be: ${should}`];
    const shown = details.filter((part) => part !== undefined).join("; ");
    await terminal.print(`  ${kind} ${place === "" ? shown : `${place} (${shown})`}`);
  }
  if (count > printed.length) await terminal.print(`  and ${count - printed.length} more`);
}
