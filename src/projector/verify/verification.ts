/**
 * Verification: that each view is what the log says, up to a position.
 *
 *   full      all of the log is folded, and compared with all that each view has; where a view can be
 *             read in one go, by sums over its rows (verify-by-sums.ts), and else entity by entity
 *   whole     all that each view has, by sums, and of the log what was written since the last time
 *   touched   of both, what was written since and what differed; and each view must have as many rows
 *             in all as the log says, which is carried on from position to position
 *
 * A view that one of them cannot answer for is verified by the one before: one that never was, or not
 * of this log, model and release; one of whose records since then bear on many entities (bearings.ts);
 * one that has another number of rows.
 *
 * Positions are pinned before anything is read: what is said holds up to there. Memory is bounded by
 * the batches under way, the largest entity, the differences that are kept, and of a view that is
 * summed up by some bytes for each entity.
 */
import type { Position } from "../../core/position.ts";
import { parseStream } from "../../core/stream.ts";
import { countRecords } from "../../log/change-log.ts";
import { placeInLog } from "./beyond-log.ts";
import { createFindings } from "./findings.ts";
import { entitiesOf } from "./log-entities.ts";
import { addSums, noSums, subtractSums } from "./row-sums.ts";
import { batchesOf, batchMax, runOver, type VerificationParts } from "./running.ts";
import { startFaults } from "./start-faults.ts";
import { strayRows } from "./stray-rows.ts";
import { toldAgain } from "./told-again.ts";
import { touchedSince } from "./touched.ts";
import { findUnknown, lookAgain } from "./unknown.ts";
import type { Verified } from "./verified-state.ts";
import { verifyBySums } from "./verify-by-sums.ts";
import type { VerifiedView } from "./view-rows.ts";

export interface VerificationResult {
  readonly views: readonly Verified[];
  /** Of the log, that were folded. */
  readonly records: number;
}

export type Grade = "full" | "whole" | "touched";

type Views = readonly VerifiedView[];

interface Part extends VerificationResult {
  /** Views that this could not answer for. */
  readonly left: readonly VerifiedView[];
}

/** Entities that are looked at because they were written; for more all are. */
const TOUCHED_MAX = 200_000;
const PAGE_MAX = 2_000;
/** Records behind a folded view that are looked through for one that concerns it. */
const LATER_MAX = 20_000;

interface Start {
  readonly view: VerifiedView;
  /** Up to here it is verified. */
  readonly position: Position;
  /** Rows that it had there; undefined where that cannot be told. */
  readonly rows: number | undefined;
}

export async function verifyViews(
  parts: VerificationParts,
  options: {
    readonly grade: Grade;
    /** Entities to look at in any case. */
    readonly urns?: readonly string[] | undefined;
  },
): Promise<VerificationResult> {
  const { grade, urns = [] } = options;
  const bySums = (since: boolean) => (views: Views) => verifyBySums(parts, views, { since, urns });
  const steps: readonly ((views: Views) => Promise<Part>)[] = [
    ...(grade === "touched" ? [(views: Views) => verifyTouched(parts, views, urns)] : []),
    ...(grade === "full" ? [] : [bySums(true)]),
    bySums(false),
    (views) => verifyEach(parts, views),
  ];
  const verified: Verified[] = [];
  let records = 0;
  let left = parts.views;
  for (const step of steps) {
    if (left.length === 0) break;
    const done = await step(left);
    verified.push(...done.views);
    records += done.records;
    left = done.left;
  }
  const order = parts.views.map(({ name }) => name);
  verified.sort((a, b) => order.indexOf(a.view) - order.indexOf(b.view));
  return { views: verified, records };
}

/**
 * A folded view may show later records than its position tells: its rows are those of the position
 * where there are none.
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
    if (later || records > LATER_MAX) return { view, position, rows: undefined };
  }
}

/** By what was written since, what differed then, and how many rows there are. */
async function verifyTouched(
  parts: VerificationParts,
  views: readonly VerifiedView[],
  urns: readonly string[],
): Promise<Part> {
  const { before, log, now, signal } = parts;
  const starts = await Promise.all(views.map((view) => startOf(log, view)));
  const known = starts.filter(({ view: { name }, position }) => {
    const told = before[name];
    return told?.complete === true && told.position <= position;
  });
  const head = Math.max(0, ...known.map(({ position }) => position)) as Position;
  const from = Math.min(head, ...known.map(({ view }) => before[view.name]?.position ?? head));
  const since = await touchedSince(log, from as Position, head, TOUCHED_MAX, signal);
  const entities = new Set([...urns, ...since.urns]);
  const some = known.filter(({ view }) => !since.bearing.has(view.name));
  if (some.length === 0 || since.urns.size > TOUCHED_MAX) {
    return { views: [], records: 0, left: views };
  }
  for (const { view } of some) {
    for (const urn of before[view.name]?.urns ?? []) entities.add(urn);
  }
  const names = some.map(({ view }) => view.name);
  const places = Object.fromEntries(
    some.map(({ view: { name }, position }) => [
      name,
      [before[name]?.position ?? position, position],
    ]),
  );
  const findings = createFindings(names);
  const run = await runOver(parts, batchesOf(entities), {
    ...{ views: names, places, findings, total: entities.size },
  });
  await lookAgain(parts, findings);
  const verified: Verified[] = [];
  for (const { view, position, rows } of some) {
    const { name } = view;
    const told = before[name];
    const [then, here] = run.told[name] ?? [];
    const should = (told?.rows ?? 0) + (here?.rows ?? 0) - (then?.rows ?? 0);
    const found = findings.of(name);
    // Rows that are missing or too many are known; any other number has to be looked into.
    if (rows !== undefined && rows !== should + found.unexpected - found.missing) continue;
    const place = await placeInLog(parts, position);
    findings.addFaults(name, [...(await view.rows.faults(false)), ...place.faults]);
    const sums = told?.sums?.slice();
    if (sums !== undefined) subtractSums(sums, then?.sums ?? noSums());
    if (sums !== undefined) addSums(sums, here?.sums ?? noSums());
    verified.push({
      ...{ view: name, position: place.upTo, rows: should, time: now(), sums },
      ...{ full: told?.full, whole: told?.whole },
      ...findings.result(name),
    });
  }
  const answered = new Set(verified.map(({ view }) => view));
  const left = views.filter(({ name }) => !answered.has(name));
  return { views: verified, records: run.records, left };
}

/** Every entity of the log, and those in the views that it never told of. */
async function verifyEach(parts: VerificationParts, views: readonly VerifiedView[]): Promise<Part> {
  const { log, now } = parts;
  const starts = await Promise.all(views.map((view) => startOf(log, view)));
  const names = views.map(({ name }) => name);
  const places = Object.fromEntries(starts.map(({ view, position }) => [view.name, [position]]));
  const findings = createFindings(names, await toldAgain(parts, starts));
  const faultsOf = startFaults(
    parts,
    names.map((view) => ({ view, deep: true })),
  );
  const run = await runOver(parts, entitiesOf(log, batchMax.compared), {
    ...{ views: names, places, findings, total: await countRecords(log) },
  });
  const toldOf = (name: string) => run.told[name]?.[0] ?? { rows: 0, sums: noSums() };
  for (const { view, rows } of starts) {
    const { missing } = findings.of(view.name);
    if (rows !== undefined && rows === toldOf(view.name).rows - missing) continue;
    await findUnknown(parts, view, findings, () => true);
  }
  await lookAgain(parts, findings);
  const verified: Verified[] = [];
  for (const { view, position, rows } of starts) {
    const { name } = view;
    const should = toldOf(name);
    const { missing, unexpected } = findings.of(name);
    const faults = [...(await faultsOf(name))];
    const stood = (await view.rows.position()) === position;
    const count = rows === undefined ? 0 : rows - (should.rows - missing + unexpected);
    if (stood) faults.push(...(await strayRows(parts, view, { count, position })));
    const { upTo, faults: beyond } = await placeInLog(parts, position);
    findings.addFaults(name, [...faults, ...beyond]);
    const time = now();
    const look = { position: upTo, time };
    verified.push({
      ...{ view: name, position: upTo, rows: should.rows, sums: should.sums, time },
      ...{ full: look, whole: look },
      ...findings.result(name),
    });
  }
  return { views: verified, records: run.records, left: [] };
}
