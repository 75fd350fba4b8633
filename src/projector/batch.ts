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
import { nameOf } from "../log/record-name.ts";
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
  /** The name of the record at a position; undefined if the batch does not contain it. */
  readonly nameAt?: ((at: Position) => string | undefined) | undefined;
}

/** `after`: the position that the records follow on. */
export function decodeBatch(
  records: readonly LogRecord[],
  decode: Decode,
  after: Position,
): Batch<PlacedChange> {
  const items: PlacedChange[] = [];
  const nameAt = namesIn(records);
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
        nameAt,
      };
    }
    upTo = record.position;
  }
  return { items, upTo, nameAt };
}

/** Computes names lazily: most checkpoints are at the end of a batch. */
function namesIn(records: readonly LogRecord[]): Batch<unknown>["nameAt"] {
  let last: { readonly at: Position; readonly name: string } | undefined;
  return (at) => {
    if (last?.at === at) return last.name;
    const record = records.findLast(({ position }) => position <= at);
    if (record?.position !== at) return undefined;
    last = { at, name: nameOf(record) };
    return last.name;
  };
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
      const { nameAt } = changes;
      return { items, upTo: done, failure: failureOf(cause, what), culprit, nameAt };
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
