/**
 * Verifying some entities: their streams are folded and compared with what the views hold of them.
 *
 * The views move meanwhile. Each read tells at which position it is true, and the fold is stopped
 * there; a view that is folded from another may show any later state, so all of them will do. What
 * bears on many entities may have been read too early: an entity that seems to differ is looked at
 * again with all of that read anew after the rows were. So nothing that is only late is called wrong.
 */
import type { PlacedChange } from "../../core/change.ts";
import type { Position } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Decode } from "../batch.ts";
import type { HistoryLog } from "../history.ts";
import { type Bearings, readBearings } from "./bearings.ts";
import { areEqual, type Difference, differencesOf, inOrder } from "./differences.ts";
import { readBeginnings, readHistory } from "./entity-history.ts";
import type { FoldedRows, HeldRows, Row, VerifiedView } from "./view-rows.ts";

export interface Entity {
  readonly urn: string;
  /** Its streams; where they are not known, all that there may be are looked for. */
  readonly streams?: readonly StreamName[] | undefined;
}

export interface VerifiedEntities {
  readonly records: number;
  readonly differences: readonly Difference[];
  /** By view: rows that the log says there are of these entities, at each of the asked positions. */
  readonly sizes: Readonly<Record<string, readonly number[]>>;
}

export interface Verifier {
  /** `sizesAt`: by view, the positions at which rows are counted, ascending. */
  verify(
    entities: readonly Entity[],
    sizesAt: Readonly<Record<string, readonly Position[]>>,
  ): Promise<VerifiedEntities>;
}

export function createVerifier(parts: {
  readonly log: HistoryLog;
  readonly decode: Decode;
  readonly views: readonly VerifiedView[];
}): Verifier {
  const { log, decode, views } = parts;
  const names = views.map(({ name }) => name);
  let bearings: Bearings | undefined;

  async function verifySome(
    entities: readonly Entity[],
    sizes: Sizes,
    fresh: boolean,
  ): Promise<{ readonly done: number; readonly records: number; found: readonly Found[] }> {
    const urns = entities.map(({ urn }) => urn);
    const held = await Promise.all(views.map(({ rows }) => rows.read(urns)));
    if (fresh || bearings === undefined) bearings = await readBearings(log, decode, names);
    const bearingsNow = bearings;
    const done = Math.min(...held.map(({ rows }) => rows.length));
    const some = entities.slice(0, done);
    const streams = some.map((one) => one.streams ?? bearingsNow.streamsOf(one.urn));
    const beginnings = await readBeginnings(log, streams.flat());
    const history = { log, decode, views, bearings: bearingsNow };
    let records = 0;
    const found: Found[] = [];
    for (const [n, entity] of some.entries()) {
      const { urn } = entity;
      const folds = views.map((view, v) =>
        startFold(view, urn, held[v] as HeldRows, n, bearingsNow),
      );
      const changes = await readHistory(urn, streams[n] ?? [], beginnings, history);
      if (Symbol.iterator in changes) {
        for (const change of changes) {
          records++;
          for (const fold of folds) take(fold, change, sizes);
        }
      } else {
        for await (const change of changes) {
          records++;
          for (const fold of folds) take(fold, change, sizes);
        }
      }
      const differences = folds.flatMap((fold) => end(fold, urn, sizes));
      if (differences.length > 0) found.push({ entity, differences });
    }
    return { done, records, found };
  }

  return {
    async verify(entities, sizesAt) {
      const sizes = createSizes(sizesAt);
      const none = createSizes({});
      let records = 0;
      const differences: Difference[] = [];
      for (let from = 0; from < entities.length; ) {
        const slice = entities.slice(from);
        const some = await verifySome(slice, sizes, false);
        from += some.done;
        records += some.records;
        let again = some.found.map(({ entity: { urn } }) => ({ urn }));
        while (again.length > 0) {
          const looked = await verifySome(again, none, true);
          again = again.slice(looked.done);
          for (const found of looked.found) differences.push(...found.differences);
        }
      }
      return { records, differences, sizes: sizes.all };
    },
  };
}

interface Found {
  readonly entity: Entity;
  readonly differences: readonly Difference[];
}

interface Sizes {
  readonly at: Readonly<Record<string, readonly Position[]>>;
  readonly all: Record<string, number[]>;
}

const createSizes = (at: Sizes["at"]): Sizes => ({
  at,
  all: Object.fromEntries(Object.entries(at).map(([view, places]) => [view, places.map(() => 0)])),
});

/** The fold of one entity for one view. */
interface Fold {
  readonly view: VerifiedView;
  readonly folded: FoldedRows;
  readonly there: readonly Row[];
  /** The rows are true of a position from here on, and up to there. */
  readonly from: number;
  readonly to: number;
  readonly skips: ((change: PlacedChange) => boolean) | undefined;
  /** How many of the asked sizes are counted. */
  counted: number;
  /** Whether the rows have been compared since the last change, and were ever equal. */
  compared: boolean;
  matched: boolean;
  ended: boolean;
  error: unknown;
}

function startFold(
  view: VerifiedView,
  urn: string,
  held: HeldRows,
  n: number,
  bearings: Bearings,
): Fold {
  const own = bearings.parkingOf(view.name);
  // What the view that it is folded from passes over is in no state that it was given.
  const parking = view.foldedFrom === undefined ? own : bearings.parkingOf(view.foldedFrom);
  const parked = view.foldedFrom === undefined ? undefined : own?.find(urn)?.position;
  return {
    view,
    folded: view.fold(urn),
    there: inOrder(held.rows[n] as readonly Row[], view.shape),
    from: Math.min(held.from, (parked ?? Number.POSITIVE_INFINITY) - 1),
    to: held.to ?? Number.POSITIVE_INFINITY,
    skips: parking === undefined || parking.idle ? undefined : parking.skips,
    ...{ counted: 0, compared: false, matched: false, ended: false, error: undefined },
  };
}

function take(fold: Fold, change: PlacedChange, sizes: Sizes): void {
  if (fold.ended) return;
  countUpTo(fold, change.position, sizes);
  if (change.position > fold.from) compare(fold);
  if (change.position > fold.to) fold.ended = true;
  else if (fold.skips === undefined || !fold.skips(change)) {
    try {
      fold.folded.add(change);
    } catch (error) {
      fold.error ??= error;
    }
    fold.compared = false;
  }
}

function countUpTo(fold: Fold, before: number, sizes: Sizes): void {
  const places = sizes.at[fold.view.name];
  const counts = sizes.all[fold.view.name];
  if (places === undefined || counts === undefined) return;
  while (fold.counted < places.length && Number(places[fold.counted]) < before) {
    counts[fold.counted] = (counts[fold.counted] ?? 0) + fold.folded.size();
    fold.counted++;
  }
}

function compare(fold: Fold): void {
  if (fold.matched || fold.compared) return;
  fold.matched = areEqual(fold.there, fold.folded.rows());
  fold.compared = true;
}

function end(fold: Fold, urn: string, sizes: Sizes): readonly Difference[] {
  countUpTo(fold, Number.POSITIVE_INFINITY, sizes);
  compare(fold);
  if (fold.matched) return [];
  const { view, there, folded, error } = fold;
  if (error !== undefined) {
    const why = error instanceof Error ? error.message : String(error);
    const should = `a record is not parked that the view cannot take: ${why}`;
    return [{ view: view.name, urn, aspect: "", kind: "different", should }];
  }
  const of = { view: view.name, urn, shape: view.shape };
  return differencesOf(of, there, folded.rows());
}
