/** Flips single bits in SQLite files that are not open. */
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Flips one bit in place. */
export function flipBit(file: string, byte: number, bit: number): void {
  const handle = openSync(file, "r+");
  try {
    const one = Buffer.alloc(1);
    readSync(handle, one, 0, 1, byte);
    one.writeUInt8(one.readUInt8(0) ^ (1 << bit));
    writeSync(handle, one, 0, 1, byte);
  } finally {
    closeSync(handle);
  }
}

/** Moves the write-ahead log into the file and empties it. */
export function settle(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/** Flips a bit of the last character of a text, only in the pages of one table or index. */
export function flipText(file: string, tree: string, text: string): void {
  settle(file);
  const content = readFileSync(file);
  for (const { start, end } of pagesOf(file, tree)) {
    const at = content.subarray(start, end).indexOf(text);
    if (at < 0) continue;
    flipBit(file, start + at + Buffer.byteLength(text) - 1, 0);
    return;
  }
  throw new Error(`"${text}" is not in ${tree}`);
}

/** Flips the lowest set bit of the number of cells of the last leaf, which hides its last cells. */
export function hideCells(file: string, tree: string): void {
  settle(file);
  const content = readFileSync(file);
  const leaf = pagesOf(file, tree).findLast(({ start }) => LEAVES.has(content.readUInt8(start)));
  if (leaf === undefined) throw new Error(`${tree} has no leaf`);
  const cells = content.readUInt16BE(leaf.start + CELLS_AT);
  const bit = Math.log2(cells & -cells);
  flipBit(file, leaf.start + CELLS_AT + (bit < 8 ? 1 : 0), bit % 8);
}

/** Flips a bit of the type of a page, so that SQLite can no longer read the page. */
export function breakPage(file: string, tree: string): void {
  settle(file);
  const [first] = pagesOf(file, tree);
  if (first === undefined) throw new Error(`${tree} has no page`);
  flipBit(file, first.start, 0);
}

/** https://sqlite.org/fileformat2.html#b_tree_pages */
const LEAVES: ReadonlySet<number> = new Set([10, 13]);
const CELLS_AT = 3;

function pagesOf(
  file: string,
  tree: string,
): readonly { readonly start: number; readonly end: number }[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const size = Number(database.prepare("PRAGMA page_size").get()?.page_size);
    return database
      .prepare("SELECT pageno FROM dbstat WHERE name = ? ORDER BY path")
      .all(tree)
      .map(({ pageno }) => ({
        start: (Number(pageno) - 1) * size,
        end: Number(pageno) * size,
      }));
  } finally {
    database.close();
  }
}
