/** The folders of one level: each distinct path is read once, and then counted by its number. */
import type { Folder, FolderQuery } from "../search.ts";
import type { Column } from "./column.ts";
import { byCodeUnit } from "./urn-order.ts";

export interface Folders {
  readonly folders: readonly Folder[];
  readonly total: number;
}

export function countFolders(
  { path, separator }: Pick<FolderQuery, "path" | "separator">,
  docs: Uint32Array,
  column: Column,
): Folders {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  /** By value: the folder's number + 1 that it lies in, 0 for elsewhere; whether deeper. */
  const folderOf = new Uint32Array(column.values.length);
  const deeper = new Uint8Array(column.values.length);
  const before = path.toWellFormed() + separator;
  for (const [value, text] of column.values.entries()) {
    if (typeof text !== "string" || !text.startsWith(before)) continue;
    const [name = "", next = ""] = text.slice(before.length).split(separator, 2);
    if (name === "") continue;
    let number = numbers.get(name);
    if (number === undefined) {
      number = names.push(name);
      numbers.set(name, number);
    }
    folderOf[value] = number;
    deeper[value] = next === "" ? 0 : 1;
  }

  const counts = new Uint32Array(names.length + 1);
  const hasFolders = new Uint8Array(names.length + 1);
  const lastDoc = new Uint32Array(names.length + 1);
  let total = 0;
  let doc = 0;
  let counted = false;
  const count = (value: number): void => {
    const folder = folderOf[value] ?? 0;
    if (folder === 0) return;
    counted = true;
    if (deeper[value] === 1) hasFolders[folder] = 1;
    if (lastDoc[folder] === doc) return;
    lastDoc[folder] = doc;
    counts[folder] = (counts[folder] ?? 0) + 1;
  };
  for (let at = 0; at < docs.length; at++) {
    doc = docs[at] ?? 0;
    counted = false;
    column.each(doc, count);
    if (counted) total++;
  }

  const folders = names
    .map((name, n) => ({
      name,
      count: counts[n + 1] ?? 0,
      hasFolders: hasFolders[n + 1] === 1,
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || byCodeUnit(a.name, b.name));
  return { folders, total };
}
