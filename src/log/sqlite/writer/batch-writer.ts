/**
 * Appends a batch of calls in one transaction. Runs in the writer thread.
 *
 * Each call is first checked in memory, then inserted: a rejected call writes nothing and does not
 * affect the other calls of the batch.
 */
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../../core/errors.ts";
import { rowChecksum } from "../checksum.ts";
import type { IndexState } from "../indexes/index-state.ts";
import { createTableScan, hiddenStream } from "../table-scan.ts";
import { ANY, type Batch, type BatchReply, type RejectedCall } from "./batch.ts";
import { type AppendResult, createStreamHeads, type StreamHead } from "./stream-heads.ts";

/**
 * Writes a batch durably. Throws errors of SQLite; then nothing of the batch is in the log, also after
 * the file is opened again. If that cannot be ensured, it throws MayBeKept.
 */
type BatchWriter = (batch: Batch) => BatchReply;

/** One append of the batch. */
interface Asked {
  readonly stream: string;
  readonly expected: number;
  readonly count: number;
  readonly id: Uint8Array | undefined;
  readonly row: Uint8Array;
}

/** One checked append: inserted at this revision, or resolved with an earlier result. */
interface Planned {
  readonly asked: Asked;
  readonly head: StreamHead;
  readonly firstRevision: number;
  /** The result of the earlier append with the same id, or its index in the same call. */
  readonly repeats: AppendResult | number | undefined;
}

export class MayBeKept extends Error {}

export function createBatchWriter(
  database: DatabaseSync,
  {
    cutTail,
    indexes,
  }: {
    /** truncate-wal.ts */
    readonly cutTail: () => void;
    readonly indexes: Pick<IndexState, "isSound" | "hasSoundNames" | "mark">;
  },
): BatchWriter {
  const heads = createStreamHeads(database);
  const findStreams = createTableScan(database);
  const insertRow = database.prepare(
    "INSERT INTO log (position, stream, revision, count, id, data, crc) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );

  /** The call's appends, or the failed expectation; then heads are unchanged. */
  function plan(call: readonly Asked[]): readonly Planned[] | Omit<RejectedCall, "call"> {
    const planned: Planned[] = [];
    // A large call may touch more streams than `heads` keeps.
    const touched = new Map<string, StreamHead>();
    for (const asked of call) {
      const { stream, expected, count, id } = asked;
      const head = touched.get(stream) ?? heads.find(stream);
      touched.set(stream, head);
      const repeats = id === undefined ? undefined : findRepeated(planned, head, id);
      if (repeats === undefined && expected !== ANY && expected !== head.revision) {
        const actual = head.revision;
        undo(planned);
        return { stream, expected, actual };
      }
      planned.push({ asked, head, firstRevision: head.revision + 1, repeats });
      if (repeats === undefined) head.revision += count;
    }
    return planned;
  }

  function findRepeated(
    planned: readonly Planned[],
    head: StreamHead,
    id: Uint8Array,
  ): Planned["repeats"] {
    const inCall = planned.findIndex(
      (other) => other.head === head && other.asked.id !== undefined && same(other.asked.id, id),
    );
    if (inCall < 0) return heads.findAppend(head, id);
    return planned[inCall]?.repeats ?? inCall;
  }

  function insert({ asked, head, firstRevision }: Planned): AppendResult {
    const { stream, count, id, row } = asked;
    const position = heads.lastPosition + 1;
    const crc = rowChecksum({ position, stream, revision: firstRevision, count }, id, row);
    insertRow.run(position, heads.number(head), firstRevision, count, id ?? null, row, crc);
    heads.lastPosition += count;
    return { position: heads.lastPosition, revision: firstRevision + count - 1 };
  }

  /**
   * Until the indexes are checked, one scan for each batch searches the tables for the streams that it would create: a
   * second stream with the same name could never be repaired.
   */
  function requireNew(asked: readonly Asked[]): void {
    if (indexes.isSound()) return;
    const names = new Set(asked.map(({ stream }) => stream));
    const soundNames = indexes.hasSoundNames();
    const created = [...names].filter((name) => {
      const { id, revision } = heads.find(name);
      return revision < 0 && (id > 0 || !soundNames);
    });
    const [found] = created.length === 0 ? [] : findStreams(created);
    if (found !== undefined) throw indexes.mark(hiddenStream(found));
  }

  function writeCalls(batch: Batch): BatchReply {
    const asked = unpack(batch);
    requireNew(asked);
    const position = new Array<number>(asked.length).fill(0);
    const revision = new Array<number>(asked.length).fill(0);
    const repeated = new Array<boolean>(asked.length).fill(false);
    const rejected: RejectedCall[] = [];
    let first = 0;
    batch.calls.forEach((size, call) => {
      const planned = plan(asked.slice(first, first + size));
      if ("actual" in planned) rejected.push({ call, ...planned });
      else {
        const results: AppendResult[] = [];
        planned.forEach((append, i) => {
          const { repeats } = append;
          const result =
            (typeof repeats === "number" ? results[repeats] : repeats) ?? insert(append);
          results.push(result);
          position[first + i] = result.position;
          revision[first + i] = result.revision;
          repeated[first + i] = repeats !== undefined;
        });
      }
      first += size;
    });
    return { position, revision, repeated, rejected };
  }

  /** Does nothing if SQLite has already rolled back by itself. */
  function rollBack(): void {
    if (database.isTransaction) database.exec("ROLLBACK");
  }

  return (batch) => {
    rollBack();
    database.exec("BEGIN IMMEDIATE");
    try {
      heads.refresh();
      const result = writeCalls(batch);
      database.exec("COMMIT");
      return result;
    } catch (error) {
      heads.invalidate();
      try {
        rollBack();
        cutTail();
      } catch (cause) {
        throw new MayBeKept(messageOf(error), { cause });
      }
      throw error;
    }
  };
}

function undo(planned: readonly Planned[]): void {
  for (const { head, firstRevision, repeats } of planned.toReversed()) {
    if (repeats === undefined) head.revision = firstRevision - 1;
  }
}

function unpack({ appends, data }: Batch): readonly Asked[] {
  let at = 0;
  return appends.stream.map((stream, i) => {
    const idEnd = at + (appends.idBytes[i] ?? 0);
    const rowEnd = idEnd + (appends.rowBytes[i] ?? 0);
    const asked = {
      stream,
      expected: appends.expected[i] ?? ANY,
      count: appends.count[i] ?? 0,
      id: idEnd === at ? undefined : data.subarray(at, idEnd),
      row: data.subarray(idEnd, rowEnd),
    };
    at = rowEnd;
    return asked;
  });
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
