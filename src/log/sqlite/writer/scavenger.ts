/**
 * Replaces the data of records, one step per transaction. Runs in the writer thread.
 *
 * A row that does not match its checksum is not rewritten, because a new checksum would hide the
 * damage. Rows are deleted and inserted, not updated, so that SQLite frees the emptied pages for new
 * appends. Deleted data is overwritten (secure_delete).
 */
import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../../core/errors.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { Scavenged } from "../../change-log.ts";
import { rowChecksum } from "../checksum.ts";
import { readRow, rowBytes, writeRow } from "../row.ts";
import type { ScavengeStep } from "./batch.ts";

/** Runs a step durably. Throws errors of SQLite, and for a damaged row; then nothing changes. */
type Scavenger = (step: ScavengeStep) => Scavenged;

interface Row {
  readonly position: number;
  readonly stream: number;
  readonly name: string;
  readonly revision: number;
  readonly count: number;
  readonly id: Uint8Array | null;
  readonly data: Uint8Array;
  readonly crc: number | null;
}

interface Wanted {
  readonly position: number;
  readonly stream: string;
  readonly data: Uint8Array;
}

export function createScavenger(database: DatabaseSync): Scavenger {
  const selectRow = preparingOn(database).objects<Row>(`
    SELECT l.position, l.stream, s.name, l.revision, l.count, l.id, l.data, l.crc
    FROM log AS l JOIN stream AS s ON s.id = l.stream
    WHERE l.position <= ? ORDER BY l.position DESC LIMIT 1`);
  const deleteRow = database.prepare("DELETE FROM log WHERE position = ?");
  const insertRow = database.prepare(
    "INSERT INTO log (position, stream, revision, count, id, data, crc) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );

  function rewrite(row: Row, wanted: readonly Wanted[]): Scavenged {
    const bodies: Buffer[] = [...bodiesOf(row)];
    let records = 0;
    for (const { position, stream, data } of wanted) {
      const at = position - row.position;
      const body = bodies[at];
      assert(body !== undefined && stream === row.name, `no record of "${stream}" at ${position}`);
      if (body.equals(data)) continue;
      bodies[at] = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      records++;
    }
    if (records === 0) return { records, bytes: 0 };
    const data = new Uint8Array(rowBytes(bodies));
    writeRow(data, 0, bodies);
    const { position, stream, revision, count, id } = row;
    const crc = rowChecksum(placeOf(row), id ?? undefined, data);
    deleteRow.run(position);
    insertRow.run(position, stream, revision, count, id, data, crc);
    return { records, bytes: row.data.length - data.length };
  }

  function rewriteAll(step: ScavengeStep): Scavenged {
    const wanted = unpack(step);
    let [records, bytes] = [0, 0];
    for (let from = 0; from < wanted.length; ) {
      const row = selectRow.get(wanted[from]?.position ?? 0);
      assert(row !== undefined, "a record that is scavenged is in the log");
      const end = row.position + row.count;
      const next = wanted.findIndex(({ position }, at) => at >= from && position >= end);
      const to = next < 0 ? wanted.length : next;
      assert(to > from, `no record at position ${wanted[from]?.position}`);
      const done = rewrite(row, wanted.slice(from, to));
      records += done.records;
      bytes += done.bytes;
      from = to;
    }
    return { records, bytes };
  }

  return (step) => {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.exec("PRAGMA secure_delete = ON");
    database.exec("BEGIN IMMEDIATE");
    try {
      const done = rewriteAll(step);
      database.exec("COMMIT");
      return done;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  };
}

const placeOf = ({ position, name, revision, count }: Row) => ({
  position,
  stream: name,
  revision,
  count,
});

function bodiesOf(row: Row): readonly Buffer[] {
  const { position, count, data, id, crc } = row;
  const bodies = readRow(Buffer.from(data.buffer, data.byteOffset, data.byteLength), count);
  const intact = crc === null || rowChecksum(placeOf(row), id ?? undefined, data) === crc;
  if (bodies !== undefined && intact) return bodies;
  throw new Error(`the row is damaged at position ${position}: it does not match its checksum`);
}

function unpack({ position, stream, bytes, data }: ScavengeStep): readonly Wanted[] {
  let at = 0;
  return position.map((one, n) => {
    const end = at + (bytes[n] ?? 0);
    const wanted = { position: one, stream: stream[n] ?? "", data: data.subarray(at, end) };
    at = end;
    return wanted;
  });
}
