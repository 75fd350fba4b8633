/** Browse folders of one level: paths are texts of a field, so those below a folder lie together. */
import type { Folder, FolderQuery } from "../search.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

interface Counted {
  count: number;
  hasFolders: boolean;
}

export function countFolders(
  { field, path, separator }: Pick<FolderQuery, "field" | "path" | "separator">,
  all: readonly Matched[],
  deadline: Deadline,
): { readonly folders: readonly Folder[]; readonly total: number } {
  const folders = new Map<string, Counted>();
  const before = (path + separator).toWellFormed();
  const between = separator.toWellFormed();
  let total = 0;
  for (const { segment, found } of all) {
    const values = segment.field(field.toWellFormed());
    if (values === undefined) continue;
    const [from, to] = values.prefixRange(before);
    const names: string[] = [];
    const numbers = new Map<string, number>();
    /** By ordinal: the number of its folder + 1; whether it lies deeper. */
    const folderOf = new Uint32Array(to - from);
    const deeper = new Uint8Array(to - from);
    values.eachValue(
      (value, ordinal) => {
        deadline.spend(32);
        const [name = "", next = ""] = String(value).slice(before.length).split(between, 2);
        if (name === "") return;
        const number = numbers.get(name) ?? names.push(name);
        numbers.set(name, number);
        folderOf[ordinal - from] = number;
        deeper[ordinal - from] = next === "" ? 0 : 1;
      },
      from,
      to,
    );
    const counts = new Uint32Array(names.length + 1);
    const hasFolders = new Uint8Array(names.length + 1);
    const lastDocs = new Int32Array(names.length + 1).fill(-1);
    let last = -1;
    deadline.spend(found.docs.length);
    values.each(found.docs, (ordinal, doc) => {
      const folder = folderOf[ordinal - from] ?? 0;
      if (folder === 0) return;
      if (deeper[ordinal - from] === 1) hasFolders[folder] = 1;
      if (last !== doc) total++;
      last = doc;
      if (lastDocs[folder] === doc) return;
      lastDocs[folder] = doc;
      counts[folder] = (counts[folder] as number) + 1;
    });
    for (const [n, name] of names.entries()) {
      if (counts[n + 1] === 0) continue;
      const folder = folders.get(name) ?? { count: 0, hasFolders: false };
      folder.count += counts[n + 1] as number;
      folder.hasFolders ||= hasFolders[n + 1] === 1;
      folders.set(name, folder);
    }
  }
  return {
    folders: Array.from(folders, ([name, folder]) => ({ name, ...folder })).sort(
      (a, b) => b.count - a.count || (a.name < b.name ? -1 : 1),
    ),
    total,
  };
}
