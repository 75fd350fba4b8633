/**
 * A temporary local copy of a log in a server, ordered by stream. A reader that needs the history of
 * every entity reads the log forward in pages and its streams from the copy, instead of one request
 * for each stream.
 *
 * Each read first copies the records that were appended since, so it returns what the log returns.
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { position, revision, START } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { ChangeLog, LogRecord } from "../change-log.ts";

/** Records of one read of the log. */
const PAGE_MAX = 2_000;
/** A page ends with the record that exceeds this, and a read of several streams with the stream. */
const BYTES_MAX = 16 * 1024 * 1024;

/** Nothing is recovered after a crash: the file has no name while it is in use. */
const TABLES = `
  PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  CREATE TABLE stream (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE record (
    position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL, data BLOB NOT NULL
  ) STRICT;
  CREATE INDEX record_of_stream ON record (stream, revision);
`;

/** Takes over the log: closing the copy closes the log. The file takes the space of the log's records. */
export function copyByStream(log: ChangeLog, directory: string): ChangeLog {
  const rows = openRows(directory);
  let copied = START;
  /** One copy at a time: each begins where the previous one ended. */
  const serially = createConcurrencyLimit(1);

  async function copy(): Promise<void> {
    // Up to the head at present: while others write, a next page may never be empty.
    for (const head = await log.head(); copied < head; ) {
      const page = await log.readAll(copied, { limit: PAGE_MAX });
      const last = page.at(-1);
      if (last === undefined) return;
      rows.add(page);
      copied = last.position;
    }
  }

  return {
    ...log,
    async readStream(stream, from, options) {
      if (from === "end" || options.backward) return log.readStream(stream, from, options);
      await serially(copy);
      return rows.read(stream, from, options.limit);
    },
    async readBeginnings(streams, { limit }) {
      await serially(copy);
      let bytes = 0;
      return streams.map((stream) => {
        if (bytes > BYTES_MAX) return undefined;
        const page = rows.read(stream, 0, limit);
        for (const { data } of page) bytes += data.length;
        return page;
      });
    },
    async close() {
      await serially(async () => rows.close());
      await log.close();
    },
  };
}

function openRows(directory: string) {
  const file = join(directory, `log-copy-${randomUUID()}.sqlite`);
  const database = translated(() => new DatabaseSync(file));
  try {
    translated(() => database.exec(TABLES));
  } finally {
    // The file's space is free when the process ends, however it ends.
    rmSync(file, { force: true });
  }
  const insertStream = database.prepare("INSERT OR IGNORE INTO stream (name) VALUES (?)");
  const insert = database.prepare(
    `INSERT INTO record (position, stream, revision, data)
     VALUES (?, (SELECT id FROM stream WHERE name = ?), ?, ?)`,
  );
  const select = database.prepare(
    `SELECT position, revision, data FROM record
     WHERE stream = (SELECT id FROM stream WHERE name = ?) AND revision >= ?
     ORDER BY revision LIMIT ?`,
  );
  return {
    add(records: readonly LogRecord[]): void {
      translated(() => {
        database.exec("BEGIN");
        for (const { stream } of records) insertStream.run(stream);
        for (const { position: at, stream, revision: n, data } of records) {
          insert.run(at, stream, n, data);
        }
        database.exec("COMMIT");
      });
    },
    read(stream: StreamName, from: number, limit: number): readonly LogRecord[] {
      return translated(() => {
        const page: LogRecord[] = [];
        let bytes = 0;
        for (const row of select.iterate(stream, from, limit)) {
          const data = row.data as Uint8Array;
          const [at, n] = [position(Number(row.position)), revision(Number(row.revision))];
          page.push({ position: at, stream, revision: n, data });
          bytes += data.length;
          if (bytes > BYTES_MAX) break;
        }
        return page;
      });
    },
    close: () => database.close(),
  };
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new CatalogError("unavailable", `the log cannot be copied: ${messageOf(cause)}`, {
      hint: "The data directory needs as much free space as the records of the log take",
      cause,
    });
  }
}
