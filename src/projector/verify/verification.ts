/**
 * Verification compares views with the log. For each entity, folds the log up to the position of
 * the view's rows, and compares the result with these rows. Also counts the rows of the view: if
 * there are more than the log implies, searches the view for entities that the log does not have.
 * The stores check their own files and indexes (ViewRows.faults).
 *
 * With `since`, only entities with a later record are compared, and rows are not counted.
 *
 * Positions are pinned before the first read: the result holds up to these positions. Memory is
 * bounded by one batch, the largest entity and the stored differences.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Position } from "../../core/position.ts";
import { parseStream } from "../../core/stream.ts";
import { appendAll } from "../../lib/lists.ts";
import { countRecords } from "../../log/change-log.ts";
import { changedSince } from "./entities/changed-entities.ts";
import { entitiesOf } from "./entities/log-entities.ts";
import { findOrphans, recheckDifferences } from "./entities/orphan-entities.ts";
import { pendingRefolds } from "./entities/pending-refolds.ts";
import { batchesOf, runBatches, type VerificationParts } from "./entities/run-batches.ts";
import { batchMax } from "./entities/verify-entities.ts";
import { createFindings } from "./findings.ts";
import { orphanRows } from "./orphan-rows.ts";
import type { Verified } from "./verified-state.ts";
import type { VerifiedView } from "./view-rows.ts";

export interface VerificationResult {
  readonly views: readonly Verified[];
  /** Records of the log that were folded. */
  readonly records: number;
}

const PAGE_MAX = 2_000;
/** Maximum records after a folded view's position that are searched for a change of an entity. */
const LATER_RECORDS_MAX = 20_000;
/** Maximum number of entities with records after `since`; above it, all entities are compared. */
const CHANGED_ENTITIES_MAX = 200_000;

interface Start {
  readonly view: VerifiedView;
  /** The position up to which it is verified. */
  readonly position: Position;
  /** Rows that it had there; undefined if the store cannot count them. */
  readonly rows: number | undefined;
}

export async function verifyViews(
  parts: VerificationParts,
  options: { readonly since?: Position | undefined } = {},
): Promise<VerificationResult> {
  const { log, now, views, signal } = parts;
  const starts = await Promise.all(views.map((view) => startOf(log, view)));
  const names = views.map(({ name }) => name);
  const positions = Object.fromEntries(starts.map(({ view, position }) => [view.name, position]));
  const findings = createFindings(names, await pendingRefolds(parts, starts));
  const later =
    options.since === undefined
      ? undefined
      : await changedSince(log, options.since, await log.head(), CHANGED_ENTITIES_MAX, signal);
  const some = later !== undefined && later.urns.size <= CHANGED_ENTITIES_MAX ? later : undefined;
  const total = some === undefined ? await countRecords(log) : some.records;
  const entities = some === undefined ? entitiesOf(log, batchMax) : batchesOf(some.urns);
  const run = await runBatches(parts, entities, { views: names, positions, findings, total });
  const rowsOf = (name: string) => run.rows.get(name) ?? 0;
  for (const { view, rows } of some === undefined ? starts : []) {
    const { missing } = findings.rowCounts(view.name);
    if (rows !== undefined && rows === rowsOf(view.name) - missing) continue;
    await findOrphans(parts, view, findings);
  }
  await recheckDifferences(parts, findings);
  const verified: Verified[] = [];
  for (const start of starts) {
    const { view, position, rows } = start;
    const { name } = view;
    const faults = [...(await view.rows.faults())];
    const { missing, unexpected } = findings.rowCounts(name);
    const unmoved = (await view.rows.position()) === position;
    const count = rows === undefined ? 0 : rows - (rowsOf(name) - missing + unexpected);
    if (unmoved && some === undefined) {
      appendAll(faults, await orphanRows(parts, view, { count, position }));
    }
    const { upTo, faults: headFaults } = await clampToHead(parts, position);
    findings.addFaults(name, [...faults, ...headFaults]);
    const time = now();
    const comparedAt = some === undefined ? { position: upTo, time } : undefined;
    verified.push({
      ...{
        view: name,
        position: upTo,
        rows: some === undefined ? rowsOf(name) : (rows ?? 0),
        time,
      },
      ...{ full: comparedAt, whole: comparedAt },
      ...findings.result(name),
    });
  }
  return { views: verified, records: run.records };
}

/**
 * Rows of a folded view may reflect later records, so they count only if no later record exists.
 */
async function startOf(log: VerificationParts["log"], view: VerifiedView): Promise<Start> {
  const { position, rows } = await view.rows.count();
  if (rows === undefined || view.foldedFrom === undefined) return { view, position, rows };
  for (let [at, records] = [position, 0]; ; ) {
    const page = await log.readAll(at, { limit: PAGE_MAX });
    const last = page.at(-1)?.position;
    if (last === undefined) return { view, position, rows };
    at = last;
    records += page.length;
    const later = page.some(({ stream }) => parseStream(stream) !== undefined);
    if (later || records > LATER_RECORDS_MAX) return { view, position, rows: undefined };
  }
}

/** On a log server, the projector may read the end of the log shortly before this process does. */
const HEAD_RETRY = { times: 4, afterMs: 250 };

/**
 * Clamps the position of a view to the end of the log. A view after the end is a fault: it would
 * skip the next records, and a service does not start with it. The position is read before the end
 * of the log, so a healthy view is never after it.
 */
async function clampToHead(
  { log, signal }: Pick<VerificationParts, "log" | "signal">,
  position: Position,
): Promise<{ readonly upTo: Position; readonly faults: readonly string[] }> {
  let head = await log.head();
  for (let n = 0; n < HEAD_RETRY.times && head < position; n++) {
    signal?.throwIfAborted();
    await pause(HEAD_RETRY.afterMs);
    head = await log.head();
  }
  return head >= position
    ? { upTo: position, faults: [] }
    : { upTo: head, faults: [`the view is at position ${position}, but the log ends at ${head}`] };
}
