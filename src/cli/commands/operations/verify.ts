/**
 * `annals verify`: compares views with the log, and repairs them: in a data directory on which no
 * service runs, or in a running service, as a job.
 */
import type { Config } from "../../../config/config.ts";
import { position } from "../../../core/position.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import type { OperatorClient } from "../../client/operator-client.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import type { ProcessOperations, VerifiedStore, VerifiedStores } from "../../operations.ts";
import type { CommandOutput } from "../../terminal/output.ts";
import { followJob, type JobOperation, jobText } from "./jobs.ts";

/** Differences of one view in the table. */
const printedMax = 20;
/** Differences of all views that are requested from a service. */
const requestedMax = 1_000;

interface VerifyQuery {
  readonly views: readonly string[];
  readonly repair: boolean;
}

export async function verify(
  config: Config,
  { views, repair }: VerifyQuery,
  {
    operations,
    terminal,
    print,
    logger,
  }: CommandOutput & { readonly operations: ProcessOperations; readonly logger: Logger },
): Promise<ExitCode> {
  const start = performance.now();
  const bar = terminal.startBar("verifying {bar} {percentage}% | record {value} of {total}");
  let verified: VerifiedStores;
  try {
    verified = await operations.verify(config, {
      views,
      repair,
      logger,
      onProgress: (done, total) => bar.update(done, total),
    });
  } finally {
    bar.stop();
  }
  const seconds = (performance.now() - start) / 1_000;
  const { before, after, unknown, records, restored, rebuilt } = verified;
  const remaining = repair ? after.filter(({ count }) => count > 0) : [];
  const lines = [
    ...before.flatMap(linesOf),
    ...unknown.map(({ view, reason }) => `${view}: unknown: ${reason}`),
    ...(restored > 0 ? [`${restored} entities were restored`] : []),
    ...rebuilt.map((view) => `${view}: rebuilt from the log`),
    ...remaining.map(({ view, count }) => `${view}: ${count} differences are left`),
  ];
  await print({
    value: { views: before, left: after, unknown, records, restored, rebuilt, seconds },
    urns: urnsOf(before),
    table: lines.join("\n"),
  });
  terminal.note(`${records} records in ${seconds.toFixed(1)} s`);
  const equal = after.every(({ count }) => count === 0);
  return equal && unknown.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** The same in a running service; prints the differences that its job has left. */
export async function verifyRunning(
  { views, repair }: VerifyQuery,
  operation: JobOperation,
): Promise<ExitCode> {
  const { client, print } = operation;
  const id = await client.act("verify", { views, repair });
  const job = await followJob(id, operation);
  const listed = await client.act("listDifferences", { count: requestedMax });
  const left: VerifiedStore[] = [];
  const unknown: { readonly view: string; readonly reason: string }[] = [];
  for (const view of views.length > 0 ? views : await viewsOf(client)) {
    // Results of earlier verifications do not count, also if the job has waited for them.
    const found = listed.views.find((one) => one.view === view && one.time >= job.started);
    if (found === undefined || job.counts.batches === 0) {
      unknown.push({ view, reason: "this verification did not reach it" });
      continue;
    }
    const { differences: count, rows } = found;
    const differences = listed.differences.filter((one) => one.view === view);
    left.push({ view, position: position(found.position), rows, count, differences });
  }
  const lines = [
    jobText(job),
    ...left.flatMap(linesOf),
    ...unknown.map(({ view, reason }) => `${view}: unknown: ${reason}`),
  ];
  await print({
    value: { job, views: left, unknown },
    urns: urnsOf(left),
    table: lines.join("\n"),
  });
  const equal = left.every(({ count }) => count === 0);
  return job.state === "done" && equal && unknown.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** Entities that differ, of those that are listed. */
const urnsOf = (stores: readonly VerifiedStore[]): readonly string[] => {
  const urns = stores.flatMap(({ differences }) => differences.map(({ urn }) => urn));
  return [...new Set(urns)].filter((urn) => urn !== "");
};

const viewsOf = async (client: OperatorClient): Promise<readonly string[]> => {
  const { views } = await client.act("getStatus");
  return Object.keys(views).filter((view) => verifiedViews.has(view));
};

/** Views with rows to compare: all but the feed to Kafka. */
const verifiedViews = new Set(["aspects", "timeseries", "graph", "search"]);

function linesOf(store: VerifiedStore): readonly string[] {
  const { view, position, rows, count, differences } = store;
  const summary = count === 0 ? `${rows} rows, as the log says` : `${count} differences`;
  const printed = differences.slice(0, printedMax);
  const lines = printed.map(({ urn, aspect, kind, there, should }) => {
    const subject = [urn, aspect].filter((part) => part !== "").join(" ");
    const details = [there && `there: ${there}`, should && `should be: ${should}`];
    const shown = details.filter((part) => part !== undefined).join("; ");
    return `  ${kind} ${subject === "" ? shown : `${subject} (${shown})`}`;
  });
  const more = count - printed.length;
  return [
    `${view}: ${summary}, up to position ${position}`,
    ...lines,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
