/**
 * Verifies entities: folds their streams and compares the result with their rows in the views.
 *
 * The views move during the verification. Each read returns its position, and the fold stops there.
 * A folded view may have any later state of an entity, so each later state is accepted. Shared
 * streams may have been read too early: an entity that differs is compared again, with shared
 * streams that are read after its rows. A view that only lags behind is never reported.
 */
import type { PlacedChange } from "../../../core/change.ts";
import { messageOf } from "../../../core/errors.ts";
import type { Position } from "../../../core/position.ts";
import type { StreamName } from "../../../core/stream.ts";
import { appendAll, minOf } from "../../../lib/lists.ts";
import type { Decode } from "../../batch.ts";
import type { HistoryLog } from "../../history.ts";
import type { ReadParking } from "../../parking/parking.ts";
import { areEqual, type Difference, differencesOf, inOrder } from "../differences.ts";
import {
  type FoldedRows,
  type Row,
  type RowSnapshot,
  type VerifiedView,
  withSources,
} from "../view-rows.ts";
import { beginningsOf, readHistory } from "./entity-history.ts";
import { readSharedStreams, type SharedStreams } from "./shared-streams.ts";

/** Maximum number of entities that are read together. */
export const batchMax = 200;

export interface EntityStreams {
  readonly urn: string;
  /** Its streams; if absent, all possible ones are read. */
  readonly streams?: readonly StreamName[] | undefined;
}

/** By view: the position at which its rows are counted. */
export type ViewPositions = Readonly<Record<string, Position>>;

interface VerifiedEntities {
  readonly records: number;
  readonly differences: readonly Difference[];
  /** By view: rows that the log implies for the entities at the asked position. */
  readonly rows: Readonly<Record<string, number>>;
}

export interface Verifier {
  /** Folds the entities and compares them with their rows in some of the views. */
  verify(
    entities: readonly EntityStreams[],
    asked: { readonly views: readonly string[]; readonly positions: ViewPositions },
  ): Promise<VerifiedEntities>;
}

export function createVerifier(parts: {
  readonly log: HistoryLog;
  readonly decode: Decode;
  readonly views: readonly VerifiedView[];
}): Verifier {
  const { log, decode } = parts;
  const names = [...new Set(parts.views.flatMap(withSources))];
  let shared: SharedStreams | undefined;

  async function verifySome(
    views: readonly VerifiedView[],
    entities: readonly EntityStreams[],
    counts: Counts,
    fresh: boolean,
  ): Promise<{
    readonly done: number;
    readonly records: number;
    readonly found: readonly DifferingEntity[];
  }> {
    const urns = entities.map(({ urn }) => urn);
    const snapshots = await Promise.all(views.map(({ rows }) => rows.read(urns)));
    if (fresh || shared === undefined) shared = await readSharedStreams(log, decode, names);
    const sharedNow = shared;
    const done = minOf([entities.length, ...snapshots.map(({ rows }) => rows.length)]);
    const verified = entities.slice(0, done);
    const streams = verified.map((one) => one.streams ?? sharedNow.streamsOf(one.urn));
    const beginnings = await beginningsOf(log, streams.flat());
    const history = { log, decode, views, shared: sharedNow };
    let records = 0;
    const found: DifferingEntity[] = [];
    for (const [n, entity] of verified.entries()) {
      const { urn } = entity;
      const folds = views.map((view, v) =>
        startFold(view, urn, snapshots[v] as RowSnapshot, n, sharedNow),
      );
      const changes = await readHistory(urn, streams[n] ?? [], beginnings, history);
      if (Symbol.iterator in changes) {
        for (const change of changes) {
          records++;
          for (const fold of folds) applyChange(fold, change, counts);
        }
      } else {
        for await (const change of changes) {
          records++;
          for (const fold of folds) applyChange(fold, change, counts);
        }
      }
      const differences = folds.flatMap((fold) => end(fold, counts));
      if (differences.length > 0) found.push({ entity, differences });
    }
    return { done, records, found };
  }

  return {
    async verify(entities, { views: names, positions }) {
      const views = parts.views.filter(({ name }) => names.includes(name));
      const counts: Counts = {
        positions,
        rows: Object.fromEntries(Object.keys(positions).map((view) => [view, 0])),
      };
      const uncounted: Counts = { positions: {}, rows: {} };
      let records = 0;
      const differences: Difference[] = [];
      let size = batchMax;
      for (let from = 0; from < entities.length; ) {
        const some = await verifySome(views, entities.slice(from, from + size), counts, false);
        from += some.done;
        // A store returns the rows that fit into one response.
        size = Math.min(batchMax, 2 * some.done);
        records += some.records;
        let unverified = some.found.map(({ entity: { urn } }) => ({ urn }));
        while (unverified.length > 0) {
          const rechecked = await verifySome(views, unverified.slice(0, batchMax), uncounted, true);
          unverified = unverified.slice(rechecked.done);
          for (const found of rechecked.found) appendAll(differences, found.differences);
        }
      }
      return { records, differences, rows: counts.rows };
    },
  };
}

interface DifferingEntity {
  readonly entity: EntityStreams;
  readonly differences: readonly Difference[];
}

interface Counts {
  readonly positions: ViewPositions;
  readonly rows: Record<string, number>;
}

/** The fold of one entity for one view. */
interface Fold {
  readonly view: VerifiedView;
  readonly urn: string;
  readonly folded: FoldedRows;
  readonly there: readonly Row[];
  /** The rows are as of a position from `from` to `to`. */
  readonly from: number;
  readonly to: number;
  readonly skips: Skips | undefined;
  /** True when the rows at the asked position are counted. */
  counted: boolean;
  /** `compared`: since the last change. `matched`: at any position. */
  compared: boolean;
  matched: boolean;
  ended: boolean;
  error: unknown;
}

function startFold(
  view: VerifiedView,
  urn: string,
  held: RowSnapshot,
  n: number,
  shared: SharedStreams,
): Fold {
  const own = shared.parkingOf(view.name);
  const events = view.eventsFrom;
  // A document is built from the states of the view that it is folded from, which skips records.
  const parking = view.foldedFrom === undefined ? own : shared.parkingOf(view.foldedFrom);
  return {
    ...{ view, urn },
    folded: view.fold(urn, own),
    there: inOrder(held.rows[n] as readonly Row[], view.shape),
    from: held.from,
    to: lastOf(view, held),
    skips: skippedBy(parking, events === undefined ? undefined : shared.parkingOf(events)),
    ...{ counted: false, compared: false, matched: false, ended: false, error: undefined },
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

/** The last position that the rows may reflect: unlimited for a folded view. */
const lastOf = ({ foldedFrom }: VerifiedView, { to }: RowSnapshot): number =>
  foldedFrom === undefined && to !== undefined ? to : Number.POSITIVE_INFINITY;

function applyChange(fold: Fold, change: PlacedChange, counts: Counts): void {
  if (fold.ended) return;
  countBefore(fold, change.position, counts);
  if (change.position > fold.from) compare(fold);
  // The rows cannot have a later state.
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

/** Adds the number of rows at the asked position as soon as the next change is after it. */
function countBefore(fold: Fold, before: number, { positions, rows }: Counts): void {
  const { name } = fold.view;
  const position = positions[name];
  if (fold.counted || position === undefined || position >= before) return;
  fold.counted = true;
  try {
    rows[name] = (rows[name] ?? 0) + fold.folded.size();
  } catch (error) {
    fold.error ??= error;
  }
}

function compare(fold: Fold): void {
  const { there, folded } = fold;
  if (fold.matched || fold.compared) return;
  fold.compared = true;
  try {
    fold.matched = areEqual(there, folded.rows());
  } catch (error) {
    fold.error ??= error;
  }
}

function end(fold: Fold, counts: Counts): readonly Difference[] {
  countBefore(fold, Number.POSITIVE_INFINITY, counts);
  compare(fold);
  if (fold.matched) return [];
  const { view, urn, there, folded, error } = fold;
  if (error !== undefined) {
    const why = messageOf(error);
    const should = `the view cannot apply a record that is not parked: ${why}`;
    return [{ view: view.name, urn, aspect: "", kind: "different", should }];
  }
  const of = { view: view.name, urn, shape: view.shape };
  return differencesOf(of, there, folded.rows());
}
