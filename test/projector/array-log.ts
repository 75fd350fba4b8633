/** A log over an array, records that state their content, and views that record what they receive. */
import type { PlacedChange } from "../../src/core/change.ts";
import { type Position, position, revision, START } from "../../src/core/position.ts";
import type { ChangeLog, LogRecord } from "../../src/log/change-log.ts";
import type { Decode } from "../../src/projector/batch.ts";
import type { View } from "../../src/projector/sink.ts";

const STREAM = "entity-urn:li:tag:a";

export interface ArrayLog
  extends Pick<ChangeLog, "readAll" | "head" | "readStream" | "listStreams" | "countBetween"> {
  /** Appends this many records; the n-th has position n, or n times `step`. */
  extend(count: number): void;
  /** Reads fail with this error while it is set. */
  failure: Error | undefined;
  /** Pages that were read and not empty: their first and last position. */
  readonly pages: (readonly [first: number, last: number])[];
}

/** `step`: from one position to the next, as in a log with byte offsets as positions. */
export function createArrayLog(count = 0, recordBytes = 8, step = 1): ArrayLog {
  const records: LogRecord[] = [];
  const log: ArrayLog = {
    failure: undefined,
    pages: [],
    extend(more) {
      for (let n = 0; n < more; n++) {
        const at = records.length + 1;
        records.push({
          position: position(at * step),
          stream: STREAM,
          revision: revision(at - 1),
          data: new Uint8Array(recordBytes),
        });
      }
    },
    async readAll(from, { limit }) {
      if (log.failure !== undefined) throw log.failure;
      const begin = Math.floor(Number(from) / step);
      const page = records.slice(begin, begin + limit);
      const [first, last] = [page[0], page.at(-1)];
      if (first && last) log.pages.push([first.position, last.position]);
      return page;
    },
    head: async () => position(records.length * step),
    ...(step > 1 && {
      countBetween: (after: Position, upTo: Position) =>
        Math.floor(upTo / step) - Math.floor(after / step),
    }),
    readStream: async (stream, from, { limit }) =>
      stream === STREAM ? records.slice(Number(from), Number(from) + limit) : [],
    listStreams: async (prefix) => (STREAM.startsWith(prefix) ? [STREAM] : []),
  };
  log.extend(count);
  return log;
}

export const decode: Decode = (record): PlacedChange => ({
  urn: "urn:li:tag:a",
  entityType: "tag",
  aspect: "status",
  changeType: "UPSERT",
  value: "{}",
  created: { time: 0, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 0, runId: "r", version: String(record.position) },
  position: record.position,
  revision: record.revision,
  timeseries: false,
});

export interface RecordingView extends View<Position> {
  /** Positions of the writes, in order. */
  readonly got: Position[];
  /** The number of writes of each batch. */
  readonly batches: number[];
  /** Positions of the writes that entities were restored with. */
  readonly restored: Position[];
  /** Its checkpoint. */
  at: Position;
  /** Called before each batch; an exception is a failure of the store. */
  before: () => unknown;
  /** Called after each batch, when it is stored. */
  after: () => unknown;
  closed: "keep" | "discard" | undefined;
}

/** Applies one write for every change, except those that `ignores`. */
export function createRecordingView(
  name: string,
  {
    at = START,
    ignores = () => false,
  }: { at?: Position; ignores?: (at: Position) => boolean } = {},
): RecordingView {
  const view: RecordingView = {
    name,
    got: [],
    batches: [],
    restored: [],
    at,
    before: () => {},
    after: () => {},
    closed: undefined,
    project: (change) => (ignores(change.position) ? [] : [change.position]),
    sink: {
      async apply(writes, upTo) {
        await view.before();
        view.got.push(...writes);
        view.batches.push(writes.length);
        view.at = upTo;
        await view.after();
      },
      async restore(_, writes) {
        for await (const write of writes) view.restored.push(write);
      },
      position: async () => view.at,
      async reset() {
        view.got.length = 0;
        view.at = START;
      },
      async close(outcome = "keep") {
        view.closed = outcome;
      },
    },
  };
  return view;
}

/** Positions from one to another, both included. */
export const range = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);
