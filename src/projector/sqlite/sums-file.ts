/** The file of sums: four bytes for each page of another file, in the order of bytes of the machine. */
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";

export const sumsOf = (path: string): string => `${path}-sums`;

/** In place of a sum. */
export const UNKNOWN = 0;

export const SUMS_MODE = 0o600;

/** The sums of a file by the numbers of its pages; made if there are none. */
export function openSums(path: string) {
  const name = sumsOf(path);
  const file = openSync(name, existsSync(name) ? "r+" : "w+", SUMS_MODE);
  const content = readFileSync(file);
  let sums = new Uint32Array(Math.max(1_024, content.length >> 2));
  Buffer.from(sums.buffer).set(content.subarray(0, 4 * (content.length >> 2)));
  let pages = content.length >> 2;
  /** What is to be written, by the places of pages. */
  let first = Number.POSITIVE_INFINITY;
  let last = -1;

  return {
    pages: () => pages,
    get: (page: number): number => sums[page - 1] ?? UNKNOWN,
    set(page: number, sum: number): void {
      const at = page - 1;
      if (at >= sums.length) {
        const grown = new Uint32Array(2 * page);
        grown.set(sums);
        sums = grown;
      }
      sums[at] = sum;
      pages = Math.max(pages, page);
      first = Math.min(first, at);
      last = Math.max(last, at);
    },
    write(durable?: "durable"): void {
      if (last < 0) return;
      const bytes = new Uint8Array(sums.buffer, 4 * first, 4 * (last + 1 - first));
      const count = writeSync(file, bytes, 0, bytes.length, 4 * first);
      if (count < bytes.length) throw new Error(`${name} could not be written as a whole`);
      if (durable) fdatasyncSync(file);
      first = Number.POSITIVE_INFINITY;
      last = -1;
    },
    close: () => closeSync(file),
  };
}
