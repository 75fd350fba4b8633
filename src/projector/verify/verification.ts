/**
 * Verification: that each view is what the log says, up to a position.
 *
 *   full          every entity of the log is folded and compared with what each view has of it; then
 *                 entities are looked for in the views that the log never told of
 *   incremental   the same for the entities that records since the last verified position are of, and
 *                 for those that differed; and each view must have as many rows in all as the log
 *                 says, which is carried on from position to position by the folds of what changed
 *
 * A view that the incremental one cannot answer for is verified in full: one that never was, or not
 * of this log and model; one of whose records since then bear on many entities (bearings.ts); one
 * that has another number of rows.
 *
 * Positions are pinned before anything is read: what is said holds up to there. Memory is bounded by
 * the batches under way, the largest entity, and the differences that are kept.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Position } from "../../core/position.ts";
import { entityStream, parseStream, timeseriesStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { type HistoryLog, timeseriesAspects } from "../history.ts";
import { bearsOnMany } from "./bearings.ts";
import { createFindings, type Findings } from "./findings.ts";
import type { Hands } from "./hands.ts";
import { entitiesOf } from "./log-entities.ts";
import type { VerifiedView as Told, Verified } from "./verified-state.ts";
import type { Entity } from "./verify-entities.ts";
import type { VerifiedView } from "./view-rows.ts";

export interface VerificationParts {
  readonly log: HistoryLog & Pick<ChangeLog, "readAll" | "head">;
  readonly views: readonly VerifiedView[];
  /** What was verified before, by view. */
  readonly before: Readonly<Record<string, Told>>;
  readonly hands: Hands;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface VerificationResult {
  readonly views: readonly Verified[];
  /** Of the log, that were folded. */
  readonly records: number;
}

/** Entities of one batch. */
const BATCH_MAX = 200;
/** Entities that an incremental verification remembers; more are verified in full. */
const TOUCHED_MAX = 200_000;
const PAGE_MAX = 2_000;
/** Records behind a folded view that are looked through for one that concerns it. */
const LATER_MAX = 20_000;
/** Entities that differ are looked at once more in the end, after so long, when they are so few. */
const AGAIN = { entitiesMax: 1_000, afterMs: 250 };

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
    readonly full: boolean;
    /** Entities to look at in any case. */
    readonly urns?: readonly string[] | undefined;
  },
): Promise<VerificationResult> {
  const starts: Start[] = [];
  for (const view of parts.views) starts.push(await startOf(parts.log, view));
  let wholly = starts;
  const verified: Verified[] = [];
  let records = 0;
  if (!options.full) {
    const touched = await touchedSince(parts, starts, options.urns ?? []);
    wholly = starts.filter(({ view }) => !touched.views.has(view.name));
    const some = starts.filter(({ view }) => touched.views.has(view.name));
    if (some.length > 0) {
      const done = await verifyTouched(parts, some, touched.entities);
      records += done.records;
      verified.push(...done.views.filter(({ view }) => !done.miscounted.has(view)));
      wholly.push(...some.filter(({ view }) => done.miscounted.has(view.name)));
    }
  }
  if (wholly.length > 0) {
    const done = await verifyWholly(parts, wholly);
    records += done.records;
    verified.push(...done.views);
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
  for (let at = position; ; ) {
    const page = await log.readAll(at, { limit: PAGE_MAX });
    const last = page.at(-1)?.position;
    if (last === undefined) return { view, position, rows };
    at = last;
    const later = page.some(({ stream }) => parseStream(stream)?.kind === "entity");
    if (later || at - position > LATER_MAX) return { view, position, rows: undefined };
  }
}

/** Views that can be verified by what changed since, and what that is. */
async function touchedSince(
  { log, before, signal }: VerificationParts,
  starts: readonly Start[],
  urns: readonly string[],
): Promise<{ readonly views: ReadonlySet<string>; readonly entities: ReadonlySet<string> }> {
  const views = new Set<string>();
  const entities = new Set<string>(urns);
  let from = Number.POSITIVE_INFINITY;
  for (const { view, position } of starts) {
    const told = before[view.name];
    if (told === undefined || !told.complete || told.position > position) continue;
    views.add(view.name);
    for (const urn of told.urns) if (urn !== "") entities.add(urn);
    from = Math.min(from, told.position);
  }
  const head = Math.max(0, ...starts.map(({ position }) => position));
  for (let at = from; at < head && views.size > 0; ) {
    signal?.throwIfAborted();
    const page = await log.readAll(at as Position, { limit: PAGE_MAX });
    if (page.length === 0) break;
    for (const { stream } of page) {
      for (const view of bearsOnMany(stream)) views.delete(view);
      const urn = parseStream(stream)?.urn;
      if (urn !== undefined) entities.add(urn);
    }
    at = Number(page.at(-1)?.position);
    if (entities.size > TOUCHED_MAX) return { views: new Set(), entities: new Set() };
  }
  return { views, entities };
}

async function verifyTouched(
  parts: VerificationParts,
  starts: readonly Start[],
  entities: ReadonlySet<string>,
): Promise<VerificationResult & { readonly miscounted: ReadonlySet<string> }> {
  const { before, now } = parts;
  const sizesAt = Object.fromEntries(
    starts.map(({ view, position }) => [
      view.name,
      [before[view.name]?.position ?? position, position],
    ]),
  );
  const list = async function* () {
    for (const urn of entities) yield { urn };
  };
  const run = await verifyAll(parts, starts, list(), sizesAt, entities.size);
  await lookAgain(parts, run.findings);
  const views: Verified[] = [];
  const miscounted = new Set<string>();
  for (const { view, position, rows } of starts) {
    const { name } = view;
    const told = before[name];
    const [then = 0, here = 0] = run.sizes[name] ?? [];
    const should = (told?.rows ?? 0) + here - then;
    const found = run.findings.of(name);
    // Rows that are missing or too many are known; any other number has to be looked into.
    if (rows !== undefined && rows !== should + found.unexpected - found.missing) {
      miscounted.add(name);
    }
    run.findings.addFaults(name, await view.rows.faults());
    views.push({
      ...{ view: name, position, rows: should, time: now(), full: told?.full },
      ...run.findings.result(name),
    });
  }
  return { views, miscounted, records: run.records };
}

async function verifyWholly(
  parts: VerificationParts,
  starts: readonly Start[],
): Promise<VerificationResult> {
  const { log, now } = parts;
  const sizesAt = Object.fromEntries(starts.map(({ view, position }) => [view.name, [position]]));
  const total = await log.head();
  const run = await verifyAll(parts, starts, entitiesOf(log), sizesAt, total);
  for (const start of starts) {
    const [should = 0] = run.sizes[start.view.name] ?? [];
    const { missing } = run.findings.of(start.view.name);
    if (start.rows !== undefined && start.rows === should - missing) continue;
    await findUnknown(parts, start, run);
  }
  await lookAgain(parts, run.findings);
  const views: Verified[] = [];
  for (const { view, position, rows } of starts) {
    const { name } = view;
    const [should = 0] = run.sizes[name] ?? [];
    const { missing, unexpected } = run.findings.of(name);
    const faults = [...(await view.rows.faults())];
    const stood = (await view.rows.position()) === position;
    const stray = rows === undefined ? 0 : rows - (should - missing + unexpected);
    if (stood && stray !== 0) faults.push(strayRows(stray));
    run.findings.addFaults(name, faults);
    const time = now();
    views.push({
      ...{ view: name, position, rows: should, time, full: { position, time } },
      ...run.findings.result(name),
    });
  }
  return { views, records: run.records };
}

const strayRows = (count: number): string =>
  count > 0 ? `${count} rows belong to no entity` : `the rows are ${-count} fewer than they seem`;

interface Run {
  readonly findings: Findings;
  readonly sizes: Record<string, number[]>;
  records: number;
}

async function verifyAll(
  { hands, onProgress, signal }: VerificationParts,
  starts: readonly Start[],
  entities: AsyncIterable<Entity>,
  sizesAt: Readonly<Record<string, readonly Position[]>>,
  total: number,
): Promise<Run> {
  const views = starts.map(({ view }) => view.name);
  const run: Run = { findings: createFindings(views), sizes: {}, records: 0 };
  async function take(batch: readonly Entity[]): Promise<void> {
    const done = await hands.verify({ views, entities: batch, sizesAt });
    run.records += done.records;
    for (const one of done.differences) run.findings.add(one);
    for (const [view, sizes] of Object.entries(done.sizes)) {
      const sum = run.sizes[view];
      run.sizes[view] = sizes.map((size, n) => size + (sum?.[n] ?? 0));
    }
    onProgress?.(Math.min(run.records, total), total);
  }
  const under = new Set<Promise<void>>();
  let batch: Entity[] = [];
  const hand = async () => {
    signal?.throwIfAborted();
    const taken = take(batch);
    batch = [];
    under.add(taken);
    taken.then(
      () => under.delete(taken),
      () => {},
    );
    // Each hand has one batch in work and one in waiting.
    if (under.size >= 2 * hands.count) await Promise.race(under);
  };
  try {
    for await (const entity of entities) {
      batch.push(entity);
      if (batch.length === BATCH_MAX) await hand();
    }
    if (batch.length > 0) await hand();
  } finally {
    await Promise.allSettled(under);
  }
  await Promise.all(under);
  return run;
}

/** Entities in a view that the log never told of. */
async function findUnknown(parts: VerificationParts, { view }: Start, run: Run): Promise<void> {
  const { log, hands, signal } = parts;
  const aspects = await timeseriesAspects(log);
  const seen = new Set<string>();
  for await (const page of view.rows.urns()) {
    signal?.throwIfAborted();
    const unknown: Entity[] = [];
    for (const urn of page) {
      if (seen.has(urn) || (await isTold(log, urn, aspects))) continue;
      if (seen.size < TOUCHED_MAX) seen.add(urn);
      unknown.push({ urn });
    }
    if (unknown.length === 0) continue;
    const done = await hands.verify({ views: [view.name], entities: unknown, sizesAt: {} });
    for (const one of done.differences) run.findings.add(one);
  }
}

/** Others have at least one stream, and are compared with it. */
async function isTold(log: HistoryLog, urn: string, aspects: readonly string[]): Promise<boolean> {
  const name = entityStream(urn);
  const [first] = await log.listStreams(name, { limit: 1 });
  if (first === name) return true;
  for (const aspect of aspects) {
    const series = timeseriesStream(urn, aspect);
    const [found] = await log.listStreams(series, { limit: 1 });
    if (found === series) return true;
  }
  return false;
}

/** What only seemed to differ, since something was read before something else, is left out. */
async function lookAgain({ hands }: VerificationParts, findings: Findings): Promise<void> {
  const again = findings.urns();
  if (again === undefined || again.size === 0 || again.size > AGAIN.entitiesMax) return;
  await pause(AGAIN.afterMs);
  for (const [urn, views] of again) {
    const done = await hands.verify({ views: [...views], entities: [{ urn }], sizesAt: {} });
    findings.replace(urn, done.differences);
  }
}
