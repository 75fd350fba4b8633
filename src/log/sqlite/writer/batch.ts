/**
 * Arguments and results of the writer thread's methods. They are flat, because cloning many small objects between
 * threads costs more than the append itself; the records are in one transferred buffer.
 */
import type { Append, LogRecord } from "../../change-log.ts";
import { rowBytes, writeRow } from "../row.ts";

/** Calls in order. Members of `appends` have one entry per append. */
export interface Batch {
  /** Number of appends of each call. */
  readonly calls: readonly number[];
  readonly appends: {
    readonly stream: readonly string[];
    /** ANY, or the expected revision of the stream. */
    readonly expected: readonly number[];
    /** Number of records. */
    readonly count: readonly number[];
    /** Bytes of the id in `data`; 0 without an id. */
    readonly idBytes: readonly number[];
    /** Bytes of the row in `data`, after those of the id. */
    readonly rowBytes: readonly number[];
  };
  readonly data: Uint8Array;
}

export const ANY = -2;

/** The first append of a call with a failed expectation. */
export interface RejectedCall {
  readonly call: number;
  readonly stream: string;
  readonly expected: number;
  readonly actual: number;
}

/** Members have one entry per append of the batch; those of rejected calls are meaningless. */
export interface BatchReply {
  readonly position: readonly number[];
  readonly revision: readonly number[];
  readonly repeated: readonly boolean[];
  readonly rejected: readonly RejectedCall[];
}

/** New data for existing records, in the order of the log (scavenger.ts). */
export interface ScavengeStep {
  readonly position: readonly number[];
  readonly stream: readonly string[];
  /** Bytes of each record in `data`. */
  readonly bytes: readonly number[];
  readonly data: Uint8Array;
}

export const rowsBytes = (appends: readonly Append[]): number => {
  let bytes = 0;
  for (const { records, id } of appends) bytes += rowBytes(records) + (id?.length ?? 0);
  return bytes;
};

/** `bytes` is the sum of the calls' rowsBytes. */
export function packBatch(calls: readonly (readonly Append[])[], bytes: number): Batch {
  const stream: string[] = [];
  const expected: number[] = [];
  const count: number[] = [];
  const idBytes: number[] = [];
  const rowSizes: number[] = [];
  const data = new Uint8Array(bytes);
  let at = 0;
  for (const appends of calls) {
    for (const append of appends) {
      const { id, records } = append;
      stream.push(append.stream);
      expected.push(append.expected === "any" ? ANY : append.expected);
      count.push(records.length);
      idBytes.push(id?.length ?? 0);
      if (id !== undefined) {
        data.set(id, at);
        at += id.length;
      }
      const end = writeRow(data, at, records);
      rowSizes.push(end - at);
      at = end;
    }
  }
  return {
    calls: calls.map((appends) => appends.length),
    appends: { stream, expected, count, idBytes, rowBytes: rowSizes },
    data,
  };
}

export function packScavenge(records: readonly LogRecord[]): ScavengeStep {
  const data = new Uint8Array(records.reduce((sum, record) => sum + record.data.length, 0));
  let at = 0;
  for (const record of records) {
    data.set(record.data, at);
    at += record.data.length;
  }
  return {
    position: records.map(({ position }) => position),
    stream: records.map(({ stream }) => stream),
    bytes: records.map((record) => record.data.length),
    data,
  };
}
