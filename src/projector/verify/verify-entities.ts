/**
 * Verifying some entities: their streams are folded and compared with what the views hold of them.
 *
 * The views move meanwhile. Each read tells at which position it is true, and the fold is stopped
 * there; a view that is folded from another may show any later state, so all of them will do. What
 * bears on many entities may have been read too early: an entity that seems to differ is looked at
 * again with all of that read anew after the rows were. So nothing that is only late is called wrong.
 */
import type { PlacedChange } from "../../core/change.ts";
import { assert, saidBy } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Decode } from "../batch.ts";
import type { HistoryLog } from "../history.ts";
import type { ReadParking } from "../parking.ts";
import { type Bearings, readBearings } from "./bearings.ts";
import { areEqual, type Difference, differencesOf, inOrder } from "./differences.ts";
import { beginningsOf, readHistory } from "./entity-history.ts";
import { addRows, createRowHash, noSums, type RowHash } from "./row-sums.ts";
import type { RowSums } from "./view-rows.ts";
import { type FoldedRows, type FoldedView, type HeldRows, madeOf, type Row } from "./view-rows.ts";

export interface Entity {
  readonly urn: string;
  /** Its streams; where they are not known, all that there may be are looked for. */
  readonly streams?: readonly StreamName[] | undefined;
}

/** What the log says there is of some entities in a view. */
export interface Told {
  readonly rows: number;
  readonly sums: RowSums;
}

/** Positions in ascending order, by view. */
export type Places = Readonly<Record<string, readonly Position[]>>;

export interface VerifiedEntities {
  readonly records: number;
  readonly differences: readonly Difference[];
  /** At each of the asked positions of a view. */
  readonly told: Readonly<Record<string, readonly Told[]>>;
  /** What could not be folded, and has to be compared: names of views with urns. */
  readonly unfolded: readonly (readonly [view: string, urn: string])[];
}

export interface Verifier {
  /** Without `compare` nothing is read of the views: what the log says is summed up. */
  verify(
    entities: readonly Entity[],
    places: Places,
    options: { readonly compare: boolean },
  ): Promise<VerifiedEntities>;
}

export function createVerifier(parts: {
  readonly log: HistoryLog;
  readonly decode: Decode;
  readonly views: readonly FoldedView[];
}): Verifier {
  const { log, decode, views } = parts;
  const names = [...new Set(views.flatMap(madeOf))];
  let bearings: Bearings | undefined;

  async function rowsOf(entities: readonly Entity[]): Promise<readonly HeldRows[]> {
    const urns = entities.map(({ urn }) => urn);
    return Promise.all(
      views.map(({ name, rows }) => {
        assert(rows !== undefined, `there are rows of the view "${name}"`);
        return rows.read(urns);
      }),
    );
  }

  async function verifySome(
    entities: readonly Entity[],
    held: readonly HeldRows[] | undefined,
    sums: Sums,
    fresh: boolean,
  ): Promise<{
    readonly done: number;
    readonly records: number;
    readonly found: readonly Found[];
  }> {
    if (fresh || bearings === undefined) bearings = await readBearings(log, decode, names);
    const bearingsNow = bearings;
    const done = Math.min(entities.length, ...(held ?? []).map(({ rows }) => rows.length));
    const some = entities.slice(0, done);
    const streams = some.map((one) => one.streams ?? bearingsNow.streamsOf(one.urn));
    const beginnings = await beginningsOf(log, streams.flat());
    const history = { log, decode, views, bearings: bearingsNow };
    let records = 0;
    const found: Found[] = [];
    for (const [n, entity] of some.entries()) {
      const { urn } = entity;
      const folds = views.map((view, v) => startFold(view, urn, held?.[v], n, bearingsNow, sums));
      const changes = await readHistory(urn, streams[n] ?? [], beginnings, history);
      if (Symbol.iterator in changes) {
        for (const change of changes) {
          records++;
          for (const fold of folds) take(fold, change, sums);
        }
      } else {
        for await (const change of changes) {
          records++;
          for (const fold of folds) take(fold, change, sums);
        }
      }
      const differences = folds.flatMap((fold) => end(fold, sums));
      if (differences.length > 0) found.push({ entity, differences });
    }
    return { done, records, found };
  }

  return {
    async verify(entities, places, { compare }) {
      const sums = createSums(places);
      const none = createSums({});
      let records = 0;
      const differences: Difference[] = [];
      for (let from = 0; from < entities.length; ) {
        const slice = entities.slice(from);
        const some = await verifySome(
          slice,
          compare ? await rowsOf(slice) : undefined,
          sums,
          false,
        );
        from += some.done;
        records += some.records;
        let again = some.found.map(({ entity: { urn } }) => ({ urn }));
        while (again.length > 0) {
          const looked = await verifySome(again, await rowsOf(again), none, true);
          again = again.slice(looked.done);
          for (const found of looked.found) differences.push(...found.differences);
        }
      }
      return { records, differences, told: sums.told, unfolded: sums.unfolded };
    },
  };
}

interface Found {
  readonly entity: Entity;
  readonly differences: readonly Difference[];
}

interface Sums {
  readonly at: Places;
  readonly told: Readonly<Record<string, readonly { rows: number; readonly sums: RowSums }[]>>;
  readonly hash: RowHash;
  readonly unfolded: (readonly [view: string, urn: string])[];
}

const createSums = (at: Places): Sums => ({
  at,
  told: Object.fromEntries(
    Object.entries(at).map(([view, places]) => [
      view,
      places.map(() => ({ rows: 0, sums: noSums() })),
    ]),
  ),
  hash: createRowHash(),
  unfolded: [],
});

/** The fold of one entity for one view. */
interface Fold {
  readonly view: FoldedView;
  readonly urn: string;
  readonly folded: FoldedRows;
  /** Undefined: nothing is compared. */
  readonly there: readonly Row[] | undefined;
  /** The rows are true of a position from here on, and up to there. */
  readonly from: number;
  readonly to: number;
  readonly skips: Skips | undefined;
  /** How many of the asked places have their sums. */
  summed: number;
  /** Whether the rows have been compared since the last change, and were ever equal. */
  compared: boolean;
  matched: boolean;
  ended: boolean;
  error: unknown;
}

function startFold(
  view: FoldedView,
  urn: string,
  held: HeldRows | undefined,
  n: number,
  bearings: Bearings,
  { at }: Sums,
): Fold {
  const own = bearings.parkingOf(view.name);
  const events = view.eventsFrom;
  // A document is built from the states of the view that it is folded from, which skips records.
  const parking = view.foldedFrom === undefined ? own : bearings.parkingOf(view.foldedFrom);
  return {
    ...{ view, urn },
    folded: view.fold(urn, own),
    there: held && inOrder(held.rows[n] as readonly Row[], view.shape),
    from: held?.from ?? 0,
    to: held === undefined ? (at[view.name]?.at(-1) ?? 0) : lastOf(view, held),
    skips: skippedBy(parking, events === undefined ? undefined : bearings.parkingOf(events)),
    ...{ summed: 0, compared: false, matched: false, ended: false, error: undefined },
  };
}

/** Parts of a change that are in no row: all of it, or its effect on states, or on events. */
type Skips = (change: PlacedChange) => { readonly states: boolean; readonly events: boolean };

/** `ofEvents`: the parking of timeseries, if another view has those. */
function skippedBy(
  parking: ReadParking | undefined,
  ofEvents: ReadParking | undefined,
): Skips | undefined {
  if ((parking?.idle ?? true) && (ofEvents?.idle ?? true)) return undefined;
  return (change) => {
    const states = parking?.skips(change) === true;
    return { states, events: ofEvents === undefined ? states : ofEvents.skips(change) };
  };
}

/** What is folded from another view may show any later state than its own position tells. */
const lastOf = ({ foldedFrom }: FoldedView, { to }: HeldRows): number =>
  foldedFrom === undefined && to !== undefined ? to : Number.POSITIVE_INFINITY;

function take(fold: Fold, change: PlacedChange, sums: Sums): void {
  if (fold.ended) return;
  sumUpTo(fold, change.position, sums);
  if (change.position > fold.from) compare(fold);
  // A view that was not as far when it was read may show any later state.
  if (change.position > fold.to) fold.ended = true;
  else add(fold, change);
}

function add(fold: Fold, change: PlacedChange): void {
  const skipped = fold.skips?.(change);
  if (skipped?.states && skipped.events && fold.view.foldedFrom === undefined) return;
  try {
    fold.folded.add(change, skipped);
  } catch (error) {
    fold.error ??= error;
  }
  fold.compared = false;
}

/** Adds what there is at the asked places before a position. */
function sumUpTo(fold: Fold, before: number, { at, told, hash, unfolded }: Sums): void {
  const { view, urn, folded } = fold;
  const places = at[view.name];
  if (places === undefined) return;
  while (fold.summed < places.length && Number(places[fold.summed]) < before) {
    const sum = told[view.name]?.[fold.summed++];
    if (sum === undefined) return;
    try {
      const rows = folded.rows();
      sum.rows += rows.length;
      addRows(hash, urn, rows, sum.sums);
    } catch (error) {
      fold.error ??= error;
    }
    if (fold.error !== undefined) unfolded.push([view.name, urn]);
  }
}

function compare(fold: Fold): void {
  const { there, folded } = fold;
  if (there === undefined || fold.matched || fold.compared) return;
  fold.compared = true;
  try {
    fold.matched = areEqual(there, folded.rows());
  } catch (error) {
    fold.error ??= error;
  }
}

function end(fold: Fold, sums: Sums): readonly Difference[] {
  sumUpTo(fold, Number.POSITIVE_INFINITY, sums);
  compare(fold);
  if (fold.matched || fold.there === undefined) return [];
  const { view, urn, there, folded, error } = fold;
  if (error !== undefined) {
    const why = saidBy(error);
    const should = `a record is not parked that the view cannot take: ${why}`;
    return [{ view: view.name, urn, aspect: "", kind: "different", should }];
  }
  const of = { view: view.name, urn, shape: view.shape };
  return differencesOf(of, there, folded.rows());
}
