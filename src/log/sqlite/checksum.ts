/**
 * The checksum of a row covers its bytes and its location in the log, so it detects flipped bits and
 * rows that a damaged index leads to. CRC-32 as a signed number, which SQLite stores in four bytes.
 */
import { crc32 } from "node:zlib";

interface Place {
  /** Of the first record. */
  readonly position: number;
  readonly stream: string;
  /** Of the first record. */
  readonly revision: number;
  readonly count: number;
}

/** `id`: of the append, where it has one. */
export function rowChecksum(place: Place, id: Uint8Array | undefined, row: Uint8Array): number {
  const { position, stream, revision, count } = place;
  const where = crc32(`${position} ${revision} ${count} ${stream}`);
  return crc32(row, id === undefined ? where : crc32(id, where)) | 0;
}
