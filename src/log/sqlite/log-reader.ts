/**
 * Reads pages of records through a separate connection. Reads block the thread, so pages are bounded:
 * in records by the caller, in bytes here.
 */
import type { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { type Position, position, type Revision, revision } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import { batching } from "../../storage/batching.ts";
import { type Prepared, preparingOn } from "../../storage/sqlite/prepared.ts";
import { type Appended, LogDamaged, type LogRecord, type ReadOptions } from "../change-log.ts";
import { checkRead } from "../check-arguments.ts";
import { rowChecksum } from "./checksum.ts";
import { type IndexState, REPAIR } from "./indexes/index-state.ts";
import { readRow } from "./row.ts";
import { hasChecksums, isCorruption } from "./schema.ts";
import { createTableScan, hiddenStream } from "./table-scan.ts";

export interface LogReader {
  readAll(from: Position | "end", options: ReadOptions): readonly LogRecord[];
  readStream(
    stream: StreamName,
    from: Revision | "end",
    options: ReadOptions,
  ): Promise<readonly LogRecord[]>;
  readBeginnings(
    streams: readonly StreamName[],
    limit: number,
  ): Promise<readonly (readonly LogRecord[] | undefined)[]>;
  listStreams(
    prefix: string,
    options: { readonly after?: StreamName | undefined; readonly limit: number },
  ): readonly StreamName[];
  findAppend(stream: StreamName, id: Uint8Array): Promise<Appended | undefined>;
  head(): Position;
  /** True if another connection has committed since the last call. */
  changed(): boolean;
}

type Columns = readonly [
  position: number,
  name: string,
  revision: number,
  count: number,
  data: Uint8Array,
  id: Uint8Array | null,
  crc: number | null,
];

/** Reads of several streams have the index of the row's stream as the last column. */
type Row = readonly [...Columns, key?: number];
type KeyedRow = readonly [...Columns, key: number];
const KEY = 7;

type Single = readonly [number];

/** The wanted positions of the log, or revisions of a stream; both ends inclusive. */
interface Range {
  readonly first: number;
  readonly last: number;
  readonly backward: boolean;
}

/** A page ends with the record that exceeds `pageBytesMax`. */
export function createLogReader(
  database: DatabaseSync,
  pageBytesMax: number,
  indexes: IndexState,
): LogReader {
  const { arrays: prepare } = preparingOn(database);
  const crc = hasChecksums(database) ? "crc" : "NULL";
  // The row that holds the first wanted record may begin before it.
  const selectAll = (order: "ASC" | "DESC"): Prepared<Row> =>
    prepare(`
      SELECT l.position, s.name, l.revision, l.count, l.data, l.id, ${crc}
      FROM log l JOIN stream s ON s.id = l.stream
      WHERE l.position >= coalesce((SELECT max(position) FROM log WHERE position <= ?1), ?1)
        AND l.position <= ?2
      ORDER BY l.position ${order}`);
  const selectStream = (order: "ASC" | "DESC"): Prepared<Row> =>
    prepare(`
      SELECT position, ?4, revision, count, data, id, ${crc}
      FROM log
      WHERE stream = ?1
        AND revision >= coalesce(
          (SELECT max(revision) FROM log WHERE stream = ?1 AND revision <= ?2), ?2)
        AND revision <= ?3
      ORDER BY revision ${order}`);

  const allForward = selectAll("ASC");
  const allBackward = selectAll("DESC");
  const streamForward = selectStream("ASC");
  const streamBackward = selectStream("DESC");
  const selectEnd = prepare<Single>(
    "SELECT position + count - 1 FROM log ORDER BY position DESC LIMIT 1",
  );
  // CROSS JOIN makes SQLite look up the names in order instead of scanning the log.
  const selectBeginnings = prepare<KeyedRow>(`
    SELECT l.position, s.name, l.revision, l.count, l.data, l.id, ${crc}, j.key
    FROM json_each(?1) AS j CROSS JOIN stream AS s ON s.name = j.value
    CROSS JOIN log AS l ON l.stream = s.id AND l.revision < ?2
    ORDER BY j.key, l.revision`);
  const selectStreamId = prepare<Single>("SELECT id FROM stream WHERE name = ?");
  const selectStreamEnd = prepare<Single>(
    "SELECT revision + count - 1 FROM log WHERE stream = ? ORDER BY revision DESC LIMIT 1",
  );
  const selectAppend = prepare<readonly [position: number, revision: number]>(
    "SELECT position + count - 1, revision + count - 1 FROM log WHERE stream = ? AND id = ?",
  );
  const selectNames = prepare<readonly [name: string]>(
    "SELECT name FROM stream WHERE name >= max(?1, ?2) AND name <> ?2 ORDER BY name LIMIT ?3",
  );
  const selectVersion = prepare<Single>("PRAGMA data_version");
  let version = 0;

  const one = (statement: Prepared<Single>, ...values: (number | string)[]): number | undefined =>
    translated(() => statement.get(...values)?.[0]);

  const head = (): number => one(selectEnd) ?? 0;

  const findStreams = createTableScan(database);
  const isInTable = batching<StreamName, boolean>(async (names) => {
    const found = new Set(translated(() => findStreams(names)));
    return names.map((name) => found.has(name));
  });

  /** True if the indexes lead to no record of the stream, and are not known to be right about it. */
  function mayBeHidden(stream: StreamName): boolean {
    const id = one(selectStreamId, stream);
    if (id === undefined) return !indexes.hasSoundNames();
    return one(selectStreamEnd, id) === undefined;
  }

  /**
   * Reads through indexes. Until a check has found them sound, streams that they find empty are looked
   * up in the tables, with one scan for the reads of one iteration of the event loop. `emptyOf` returns the
   * streams without a record in the result.
   */
  async function indexed<T>(
    read: () => T,
    emptyOf: (result: T) => readonly StreamName[],
  ): Promise<T> {
    indexes.requireUndamaged();
    const result = read();
    if (indexes.isSound()) return result;
    const empty = emptyOf(result).filter(mayBeHidden);
    if (empty.length === 0) return result;
    const inTable = await Promise.all(empty.map(isInTable));
    if (!inTable.includes(true)) return result;
    const hidden = empty.find((stream, n) => inTable[n] === true && mayBeHidden(stream));
    if (hidden !== undefined) throw indexes.mark(hiddenStream(hidden));
    // Another connection has created the streams since the read.
    return read();
  }

  return {
    readAll(from, { limit, backward = false }) {
      checkRead(from, limit, 0);
      if (from === "end" && !backward) return [];
      const end = backward ? head() : 0;
      const before = from === "end" ? end + 1 : Math.min(from, end + 1);
      const range = backward
        ? { first: Math.max(before - limit, 1), last: before - 1, backward }
        : { first: Number(from) + 1, last: Number(from) + limit, backward };
      if (range.last < range.first) return [];
      const statement = backward ? allBackward : allForward;
      const read = () =>
        translated(() => {
          const rows = statement.iterate(range.first, range.last);
          return expand(rows, range, (row) => row[0], pageBytesMax);
        });
      const records = read();
      if (records.length > 0 || range.first > head()) return records;
      // Empty again: a damaged page hides the records. Otherwise they were appended between the reads.
      const again = read();
      if (again.length === 0) throw damaged(range.first, "it is missing");
      return again;
    },

    async readStream(stream, from, { limit, backward = false }) {
      checkRead(from, limit, -1);
      if (from === "end" && !backward) return [];
      const read = (): readonly LogRecord[] => {
        const id = one(selectStreamId, stream);
        if (id === undefined) return [];
        const end = backward ? (one(selectStreamEnd, id) ?? -1) : -1;
        const at = from === "end" ? end : Number(from);
        const last = Math.min(at, end);
        const range = backward
          ? { first: Math.max(last - limit + 1, 0), last, backward }
          : { first: Math.max(at, 0), last: Math.max(at, 0) + limit - 1, backward };
        if (range.last < range.first) return [];
        const statement = backward ? streamBackward : streamForward;
        return translated(() => {
          const rows = statement.iterate(id, range.first, range.last, stream);
          return expand(rows, range, (row) => row[2], pageBytesMax);
        });
      };
      return indexed(read, ({ length }) => (length === 0 ? [stream] : []));
    },

    async readBeginnings(streams, limit) {
      checkRead(0, limit, 0);
      const range = { first: 0, last: limit - 1, backward: false };
      const read = (): readonly (readonly LogRecord[] | undefined)[] =>
        translated(() => {
          const found: (readonly LogRecord[] | undefined)[] = streams.map(() => []);
          const rows = selectBeginnings.iterate(JSON.stringify(streams), limit);
          let bytes = 0;
          for (const [at, own] of byKey(rows)) {
            found[at] = expand(own, range, (row) => row[2], pageBytesMax);
            for (const [, , , , data] of own) bytes += data.length;
            if (bytes >= pageBytesMax) return found.fill(undefined, at + 1);
          }
          return found;
        });
      return indexed(read, (found) => streams.filter((_, n) => found[n]?.length === 0));
    },

    listStreams(prefix, { after = "", limit }) {
      indexes.requireUndamaged();
      const rows = translated(() => selectNames.all(prefix, after, limit));
      const names = rows.map(([name]) => name);
      const end = names.findIndex((name) => !name.startsWith(prefix));
      return end < 0 ? names : names.slice(0, end);
    },

    async findAppend(stream, id) {
      const read = (): Appended | undefined => {
        const number = one(selectStreamId, stream);
        if (number === undefined) return undefined;
        const row = translated(() => selectAppend.get(number, id));
        return row && { position: position(row[0]), revision: revision(row[1]), repeated: true };
      };
      return indexed(read, (found) => (found === undefined ? [stream] : []));
    },

    head: () => position(head()),

    changed() {
      const now = one(selectVersion) ?? 0;
      const changed = now !== version;
      version = now;
      return changed;
    },
  };
}

/** Groups consecutive rows by key. */
function* byKey(
  rows: Iterable<KeyedRow>,
): Generator<readonly [key: number, rows: readonly KeyedRow[]]> {
  let key: number | undefined;
  let own: KeyedRow[] = [];
  for (const row of rows) {
    const next = row[KEY];
    if (key !== undefined && next !== key) {
      yield [key, own];
      own = [];
    }
    key = next;
    own.push(row);
  }
  if (key !== undefined) yield [key, own];
}

/** Records of the rows within the range, in the order of the rows. */
function expand(
  rows: Iterable<Row>,
  range: Range,
  placeOf: (row: Row) => number,
  pageBytesMax: number,
): readonly LogRecord[] {
  const records: LogRecord[] = [];
  let bytes = 0;
  let expected: number | undefined;
  for (const row of rows) {
    const [firstPosition, stream, firstRevision, count, data] = row;
    checkSum(row);
    const place = placeOf(row);
    const edge = range.backward ? place + count : place;
    // Rows are contiguous; the first one has the first wanted record.
    if (expected !== undefined ? edge !== expected : !range.backward && place > range.first) {
      throw damaged(firstPosition, "records before it are missing");
    }
    expected = range.backward ? place : place + count;
    const bodies = readRow(Buffer.from(data.buffer, data.byteOffset, data.byteLength), count);
    if (bodies === undefined) throw damaged(firstPosition, `it does not hold ${count} records`);
    for (let n = 0; n < count; n++) {
      const i = range.backward ? count - 1 - n : n;
      const body = bodies[i];
      if (body === undefined || place + i < range.first || place + i > range.last) continue;
      records.push({
        position: position(firstPosition + i),
        stream,
        revision: revision(firstRevision + i),
        data: body,
      });
      bytes += body.length;
      if (bytes >= pageBytesMax) return records;
    }
  }
  return records;
}

function checkSum([at, stream, first, count, data, id, crc]: Row): void {
  if (crc === null) return;
  const place = { position: at, stream, revision: first, count };
  if (rowChecksum(place, id ?? undefined, data) === crc) return;
  throw damaged(at, "the row does not match its checksum");
}

const damaged = (at: number, how: string): CatalogError =>
  new LogDamaged("unavailable", `log is damaged at position ${at}: ${how}`, { hint: REPAIR });

function translated<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    const what = messageOf(cause);
    if (isCorruption(cause)) {
      throw new LogDamaged("unavailable", `log is damaged: ${what}`, { hint: REPAIR, cause });
    }
    throw new CatalogError("unavailable", `cannot read the log: ${what}`, { cause });
  }
}
