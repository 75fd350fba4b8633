/** The pages of a database's file, by their numbers from 1 on. */
import { fstatSync, readSync } from "node:fs";

/** Read at a time. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Calls `see` with `count` pages from one on, as far as there are; how many there were. */
export function eachPage(
  file: number,
  {
    pageBytes,
    from = 1,
    count = Number.POSITIVE_INFINITY,
  }: { readonly pageBytes: number; readonly from?: number; readonly count?: number },
  see: (page: number, content: Buffer) => void,
): number {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, count * pageBytes));
  let seen = 0;
  while (seen < count) {
    const wanted = Math.min(chunk.length, (count - seen) * pageBytes);
    const read = readSync(file, chunk, 0, wanted, (from - 1 + seen) * pageBytes);
    for (let at = 0; at + pageBytes <= read; at += pageBytes) {
      see(from + seen++, chunk.subarray(at, at + pageBytes));
    }
    if (read < wanted) break;
  }
  return seen;
}

/** When a file was last written to, or renamed: nobody can set that back. */
export const lastWrite = (file: number): bigint => fstatSync(file, { bigint: true }).ctimeNs;

export const pagesIn = (file: number, pageBytes: number): number =>
  Math.floor(fstatSync(file).size / pageBytes);
