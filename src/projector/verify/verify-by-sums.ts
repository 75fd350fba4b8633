/**
 * Verifying views by sums over their rows (row-sums.ts): each view is read once, from its beginning to
 * its end and at one position, and what the log says there is there is summed up as well. Where the
 * sums of a bucket differ its entities are compared row by row, which alone says that something is
 * wrong: a difference that only seems to be one costs time and is no alarm.
 *
 * What the log says is folded, wholly, or follows from the sums of an earlier position and from the
 * entities that were written since. Those are compared in any case, and are in no sum of the view:
 * while it is being read others write.
 */
import { assert } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { countRecords } from "../../log/change-log.ts";
import { placeInLog } from "./beyond-log.ts";
import { createFindings, type Findings } from "./findings.ts";
import type { Summed } from "./hands.ts";
import { entitiesOf } from "./log-entities.ts";
import { addSums, bucketOf, noSums, subtractSums, unlikeBuckets } from "./row-sums.ts";
import {
  batchesOf,
  batchMax,
  type Entities,
  type Run,
  runOver,
  type VerificationParts,
} from "./running.ts";
import { startFaults } from "./start-faults.ts";
import { strayRows } from "./stray-rows.ts";
import { toldAgain } from "./told-again.ts";
import { type Touched, touchedSince } from "./touched.ts";
import { findUnknown, lookAgain } from "./unknown.ts";
import type { Verified } from "./verified-state.ts";
import type { Told } from "./verify-entities.ts";
import type { RowSums, VerifiedView } from "./view-rows.ts";

/** Entities written since that are compared one by one; more are folded with all others. */
const TOUCHED_MAX = 200_000;

export interface VerifiedBySums {
  readonly views: readonly Verified[];
  readonly records: number;
  /** Views that have to be verified otherwise. */
  readonly left: readonly VerifiedView[];
}

/** A view that has been summed up. */
interface Held {
  readonly view: VerifiedView;
  readonly summed: Summed;
  /** Where it was verified before, and what the log said there. */
  readonly then: (Told & { readonly position: Position }) | undefined;
}

/** `since`: from what was verified before; otherwise everything is folded. */
export async function verifyBySums(
  parts: VerificationParts,
  views: readonly VerifiedView[],
  { since, urns }: { readonly since: boolean; readonly urns: readonly string[] },
): Promise<VerifiedBySums> {
  const fit = views.filter(
    ({ name, rows }) => rows.sums !== undefined && (!since || thenOf(parts, name) !== undefined),
  );
  const common = since ? await touchedBefore(parts, fit) : undefined;
  const asked = fit.filter(({ name }) => !common?.bearing.has(name));
  const few = common === undefined || common.urns.size <= TOUCHED_MAX;
  // Files are looked through by who has no view to sum up, and while the log is folded.
  const summing = few ? sumUp(parts, asked, common) : [];
  const faults = startFaults(
    parts,
    few ? asked.map(({ name }) => ({ view: name, deep: common === undefined })) : [],
  );
  const held = await summing;
  const left = views.filter((view) => !held.some((one) => one.view === view));
  if (held.length === 0) return { views: [], records: 0, left };
  const always = new Set([...(common?.urns ?? []), ...(since ? urns : [])]);
  const checked = await check(parts, held, common?.urns ?? new Set(), always, faults);
  return { ...checked, left };
}

function thenOf({ before }: VerificationParts, view: string): Held["then"] {
  const told = before[view];
  return told?.sums && { rows: told.rows, sums: told.sums, position: told.position };
}

async function touchedBefore(
  parts: VerificationParts,
  views: readonly VerifiedView[],
): Promise<Touched> {
  const { log, signal } = parts;
  const head = await log.head();
  const from = views.map(({ name }) => thenOf(parts, name)?.position ?? head);
  return touchedSince(log, Math.min(head, ...from) as Position, head, TOUCHED_MAX, signal);
}

/** Without the views for which that cannot be done. */
async function sumUp(
  parts: VerificationParts,
  views: readonly VerifiedView[],
  common: Touched | undefined,
): Promise<readonly Held[]> {
  const leftOut = [...(common?.urns ?? [])];
  const held = views.map(async (view): Promise<Held | undefined> => {
    const asked = { view: view.name, leftOut, since: common?.upTo };
    const summed = await parts.hands.sum(asked);
    const then = common && thenOf(parts, view.name);
    if (summed === undefined) return undefined;
    const unfit = then !== undefined && (summed.bearing || then.position > summed.position);
    return unfit ? undefined : { view, summed, then };
  });
  return (await Promise.all(held)).filter((one) => one !== undefined);
}

/** `common`: entities that are in no view's sums; `always`: compared in any case. */
async function check(
  parts: VerificationParts,
  held: readonly Held[],
  common: ReadonlySet<string>,
  always: ReadonlySet<string>,
  faults: ReturnType<typeof startFaults>,
): Promise<Omit<VerifiedBySums, "left">> {
  const { log } = parts;
  const names = held.map(({ view }) => view.name);
  const looked = held.map(({ view, summed: { position } }) => ({ view, position }));
  const findings = createFindings(names, await toldAgain(parts, looked));
  const placesOf = ({ then, summed: { position } }: Held): readonly Position[] =>
    then === undefined ? [position] : [then.position, position];
  const places = Object.fromEntries(held.map((one) => [one.view.name, placesOf(one)]));
  let records = 0;
  async function run(
    entities: Entities,
    asked: Omit<Parameters<typeof runOver>[2], "views"> & { readonly views?: readonly string[] },
  ): Promise<Run> {
    const done = await runOver(parts, entities, { views: names, ...asked });
    records += done.records;
    return done;
  }

  const whole = held.some(({ then }) => then === undefined)
    ? await run(entitiesOf(log, batchMax.folded), {
        ...{ places, findings: undefined, total: await countRecords(log) },
      })
    : undefined;
  const ofCommon = await run(batchesOf(common), { places, findings, total: common.size });
  const others = [...always].filter((urn) => !common.has(urn));
  await run(batchesOf(others), { places: {}, findings, total: 0 });
  const should = new Map<string, Told>();
  for (const one of held) {
    const { view, summed } = one;
    const { name } = view;
    const more = new Set(summed.more.filter((urn) => !common.has(urn)));
    const ofMore = await run(batchesOf(more), {
      ...{ views: [name], places: { [name]: placesOf(one) } },
      ...{ findings: without(findings, always), total: 0 },
    });
    const changed = [ofCommon.told[name] ?? [], ofMore.told[name] ?? []];
    const { told, inSums } = tellOf(one, whole?.told[name]?.at(-1), changed);
    should.set(name, told);
    const suspect = unlikeBuckets(summed.sums, inSums);
    for (const [of, urn] of whole?.unfolded ?? []) if (of === name) suspect.add(bucketOf(urn));
    if (suspect.size === 0) continue;
    const isSuspect = (urn: string) =>
      suspect.has(bucketOf(urn.toWellFormed())) && !always.has(urn) && !more.has(urn);
    const some = filtered(entitiesOf(log, batchMax.compared), isSuspect);
    await run(some, { views: [name], places: {}, findings, total: 0 });
    const { missing } = findings.of(name);
    if (summed.rows !== told.rows - missing) await findUnknown(parts, view, findings, isSuspect);
  }
  await lookAgain(parts, findings);
  const verified: Verified[] = [];
  for (const one of held) {
    const told = should.get(one.view.name);
    assert(told !== undefined, "every view was looked at");
    verified.push(await endOf(parts, one, told, findings, await faults(one.view.name)));
  }
  return { views: verified, records };
}

/** What the log says there is, and how much of that is in the view's sums. */
function tellOf(
  { then }: Held,
  whole: Told | undefined,
  changed: readonly (readonly Told[])[],
): { readonly told: Told; readonly inSums: RowSums } {
  const inSums = noSums();
  addSums(inSums, (then ?? whole)?.sums ?? inSums);
  let rows = (then ?? whole)?.rows ?? 0;
  const sums = inSums.slice();
  for (const told of changed) {
    const first = told[0];
    const last = told.at(-1);
    if (first === undefined || last === undefined) continue;
    subtractSums(inSums, first.sums);
    // Where there is but one place nothing changes: all of it was folded.
    subtractSums(sums, first.sums);
    addSums(sums, last.sums);
    rows += last.rows - first.rows;
  }
  return { told: { rows, sums }, inSums };
}

/** The same, without entities that others look for. */
const without = (findings: Findings, urns: ReadonlySet<string>): Findings =>
  urns.size === 0
    ? findings
    : {
        ...findings,
        add(difference) {
          if (!urns.has(difference.urn)) findings.add(difference);
        },
      };

async function* filtered(entities: Entities, test: (urn: string) => boolean): Entities {
  for await (const batch of entities) {
    const some = batch.filter(({ urn }) => test(urn));
    if (some.length > 0) yield some;
  }
}

async function endOf(
  parts: VerificationParts,
  { view, summed, then }: Held,
  { rows, sums }: Told,
  findings: Findings,
  faults: readonly string[],
): Promise<Verified> {
  const { now, before } = parts;
  const { name } = view;
  const { position } = summed;
  const { missing, unexpected } = findings.of(name);
  const count = summed.rows - (rows - missing + unexpected);
  const stood = (await view.rows.position()) === position;
  const stray = stood ? await strayRows(parts, view, { count, position }) : [];
  const { upTo, faults: beyond } = await placeInLog(parts, position);
  findings.addFaults(name, [...faults, ...stray, ...beyond]);
  const time = now();
  const look = { position: upTo, time };
  return {
    ...{ view: name, position: upTo, rows, time, sums, whole: look },
    full: then === undefined ? look : before[name]?.full,
    ...findings.result(name),
  };
}
