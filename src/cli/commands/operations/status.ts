/** `annals status`: the log and the views of a running service. Ends with 1 when one does not work. */
import type { ResultOf } from "../../client/operator-client.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import { table } from "../../terminal/table.ts";
import type { JobOperation } from "./jobs.ts";

type Status = ResultOf<"getStatus">;
type ViewStatus = Status["views"][string];

export async function showStatus({ client, terminal, print }: JobOperation): Promise<ExitCode> {
  const status = await client.act("getStatus");
  await print({ value: status, table: text(status, terminal.width) });
  return status.ok ? exitCodes.done : exitCodes.failed;
}

function text(status: Status, width: number | undefined): string {
  const { ok, version, uptimeSeconds, log, views, jobsRunning } = status;
  const rows = Object.entries(views).map(([name, view]) => [
    ...[name, view.position, view.lagRecords, view.lagSeconds.toFixed(1)],
    ...[Math.round(view.recordsPerSecond), view.parked ?? 0, view.verifiedPosition ?? "unknown"],
    ...[view.generation ?? "-", megabytes(view.bytes), `${stateOf(view)}${rebuildOf(view)}`],
  ]);
  const heads = [
    ...["VIEW", "POSITION", "LAG", "SECONDS", "RATE/S", "PARKED", "VERIFIED", "GENERATION"],
    ...["MB", "STATE"],
  ];
  const lines = [
    `annals ${version} is ${ok ? "healthy" : "not healthy"}, up for ${Math.round(uptimeSeconds)} s, ${jobsRunning} jobs running`,
    `log at position ${log.position.toLocaleString("en")}, ${megabytes(log.bytes)} MB, ${Math.round(log.recordsPerSecond)} records/s`,
    ...(log.error === undefined ? [] : [`log: ${log.error}`]),
  ];
  return `${lines.join("\n")}\n\n${table(heads, rows, width)}`;
}

const megabytes = (bytes: number | undefined): string =>
  bytes === undefined ? "-" : (bytes / 1e6).toFixed(1);

function stateOf({ error, stalled, stale, differences = 0, lagRecords }: ViewStatus): string {
  if (error !== undefined) return error;
  if (stalled) return "stalled";
  if (stale === true) return "of another model";
  if (differences > 0) return `differs ${differences} times`;
  return lagRecords === 0 ? "up to date" : "follows";
}

function rebuildOf({ rebuild }: ViewStatus): string {
  if (rebuild === undefined) return "";
  const { position = 0, head = 0, recordsPerSecond = 0 } = rebuild;
  const [at, of, rate] = [position, head, Math.round(recordsPerSecond)].map((count) =>
    count.toLocaleString("en"),
  );
  return `; rebuilt up to ${at} of ${of}, ${rate}/s`;
}
