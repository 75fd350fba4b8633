/**
 * A batch of the log: decoded once, projected for each view. Pure. A batch ends before a poison
 * record, one that cannot be decoded or projected, and has that record and its error.
 */
import type { PlacedChange } from "../core/change.ts";
import { CatalogError, messageOf } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import type { LogRecord } from "../log/change-log.ts";
import { nameOf } from "../log/record-name.ts";
import type { Projection } from "./sink.ts";

/** Decodes a record; undefined for a record without a change. */
export type Decode = (record: LogRecord) => PlacedChange | undefined;

export type PoisonRecord = Pick<PlacedChange, "urn" | "position">;

export interface Batch<T> {
  readonly items: readonly T[];
  /** The batch covers the log up to here. */
  readonly upTo: Position;
  /** The error of the record after `upTo`. */
  readonly failure?: Error | undefined;
  /** Absent if the record belongs to no entity. */
  readonly poison?: PoisonRecord | undefined;
  /** The name of the record at a position; undefined if the batch does not contain it. */
  readonly nameAt?: ((at: Position) => string | undefined) | undefined;
}

/** `after`: the position before the first record. */
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
        poison: urn === undefined ? undefined : { urn, position },
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

/** The writes of a view for a batch of changes. `after`: the position before the first change. */
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
      const poison = change.urn === "" ? undefined : change;
      const { nameAt } = changes;
      return { items, upTo: done, failure: failureOf(cause, what), poison, nameAt };
    }
    done = change.position;
  }
  return { ...changes, items };
}

/** Adds the record to the message, unless the error already names it. */
function failureOf(cause: unknown, what: string): Error {
  if (cause instanceof CatalogError) return cause;
  const reason = messageOf(cause);
  return new CatalogError("internal", `${what}: ${reason}`, { cause });
}
