/**
 * One batch on its way from the log to a view: decoded once, projected for each view. Pure.
 *
 * What cannot be decoded or projected does not spoil the batch: it ends before that record, says
 * why, and which record it was.
 */
import type { PlacedChange } from "../core/change.ts";
import { CatalogError, saidBy } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import type { LogRecord } from "../log/change-log.ts";
import type { Projection } from "./sink.ts";

/** The change of a record; undefined for records that hold none. */
export type Decode = (record: LogRecord) => PlacedChange | undefined;

/** The record that a batch ends before, and the entity that it is of. */
export type Culprit = Pick<PlacedChange, "urn" | "position">;

export interface Batch<T> {
  readonly items: readonly T[];
  /** Everything up to here is in the batch. */
  readonly upTo: Position;
  /** Why it ends here and not later. */
  readonly failure?: Error | undefined;
  /** Absent where it is of no entity. */
  readonly culprit?: Culprit | undefined;
}

/** `after`: the position that the records follow on. */
export function decodeBatch(
  records: readonly LogRecord[],
  decode: Decode,
  after: Position,
): Batch<PlacedChange> {
  const items: PlacedChange[] = [];
  let upTo = after;
  for (const record of records) {
    try {
      const change = decode(record);
      if (change !== undefined) items.push(change);
    } catch (cause) {
      const { position, stream } = record;
      const urn = parseStream(stream)?.urn;
      return {
        items,
        upTo,
        failure: failureOf(cause, `record at position ${position} could not be decoded`),
        culprit: urn === undefined ? undefined : { urn, position },
      };
    }
    upTo = record.position;
  }
  return { items, upTo };
}

/** The writes of a view for a batch of changes that follow on position `after`. */
export function projectBatch<W>(
  changes: Batch<PlacedChange>,
  project: Projection<W>,
  after: Position,
): Batch<W> {
  const items: W[] = [];
  let done = after;
  for (const change of changes.items) {
    try {
      for (const write of project(change)) items.push(write);
    } catch (cause) {
      const what = `change at position ${change.position} of "${change.urn}" could not be projected`;
      const culprit = change.urn === "" ? undefined : change;
      return { items, upTo: done, failure: failureOf(cause, what), culprit };
    }
    done = change.position;
  }
  return { ...changes, items };
}

/** Errors that name their record themselves stay as they are. */
function failureOf(cause: unknown, what: string): Error {
  if (cause instanceof CatalogError) return cause;
  const reason = saidBy(cause);
  return new CatalogError("internal", `${what}: ${reason}`, { cause });
}
