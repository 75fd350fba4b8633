/** `annals runs`: the runs of ingestion, what one wrote, and its rollback. */
import { AnnalsError, dataOf } from "../../../client/client.ts";
import type { PageArguments } from "../../arguments.ts";
import type { Session } from "../../client/session.ts";
import { timeOf } from "../../terminal/output.ts";
import { confirm } from "./write.ts";

export async function listRuns(session: Session, { start, count }: PageArguments): Promise<void> {
  const body = { pageOffset: start, pageSize: count, includeSoft: true };
  const { value: runs } = await dataOf(session.client.POST("/runs?action=list", { body }));
  await session.print({
    value: runs,
    table: {
      heads: ["RUN", "ASPECTS", "LAST WRITE"],
      rows: runs.map(({ runId, rows, timestamp }) => [runId, rows, timeOf(timestamp)]),
    },
    none: "there are no runs",
  });
}

export async function describeRun(
  session: Session,
  runId: string,
  { start, count }: PageArguments,
): Promise<void> {
  const read = async (page: PageArguments) => {
    const body = { runId, ...page, includeSoft: true, includeAspect: false };
    return (await dataOf(session.client.POST("/runs?action=describe", { body }))).value;
  };
  const rows = await read({ start, count });
  if (rows.length === 0 && (await read({ start: 0, count: 1 })).length === 0) throw noRun(runId);
  await session.print({
    value: rows,
    urns: [...new Set(rows.map(({ urn }) => urn))],
    table: {
      heads: ["URN", "ASPECT", "VERSION", "TIME"],
      rows: rows.map((row) => [row.urn, row.aspectName, row.version, timeOf(row.timestamp)]),
    },
    none: `the run "${runId}" wrote no more than ${start} aspects`,
  });
}

const noRun = (runId: string): AnnalsError =>
  new AnnalsError(
    `there is no run "${runId}", or none of its writes is left. annals runs list shows the runs`,
    404,
    "not_found",
  );

export interface RollbackFlags {
  readonly hard: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** Shows what the rollback reverts, and rolls back once that is confirmed. */
export async function rollbackRun(
  session: Session,
  runId: string,
  { hard, dryRun, yes }: RollbackFlags,
): Promise<void> {
  const roll = async (dry: boolean) => {
    const body = { runId, safe: !hard, dryRun: dry };
    return (await dataOf(session.client.POST("/runs?action=rollback", { body }))).value;
  };
  const preview = await roll(true);
  if (preview.aspectsReverted === 0 && preview.entitiesAffected === 0) {
    throw noRun(runId);
  }
  const text = textOf(preview, runId, hard);
  if (!dryRun) await confirm(session, text, { yes });
  const value = dryRun ? preview : await roll(false);
  await session.print({
    value: { dryRun, ...value },
    urns: [...new Set(value.aspectRowSummaries.map(({ urn }) => urn))],
    table: dryRun ? `would ${text}` : `done: ${textOf(value, runId, hard)}`,
  });
}

interface Rollback {
  readonly aspectsReverted: number;
  readonly entitiesDeleted?: number;
  readonly unsafeEntitiesCount: number;
}

function textOf(rollback: Rollback, runId: string, hard: boolean): string {
  const { aspectsReverted, entitiesDeleted = 0, unsafeEntitiesCount } = rollback;
  const removed = hard ? "delete" : "hide";
  return (
    `roll back run ${runId}: aspects to revert: ${aspectsReverted}, entities to ${removed}: ${entitiesDeleted}` +
    (unsafeEntitiesCount > 0 ? ` (${unsafeEntitiesCount} of them have aspects of other runs)` : "")
  );
}
