/** Browse folders of one level: paths are texts of a field, so those below a folder lie together. */
import type { Folder, FolderQuery } from "../../search.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

interface Counted {
  readonly name: string;
  count: number;
  hasFolders: boolean;
  /** The number of the last document that was counted. */
  last: number;
}

export function countFolders(
  { field, path, separator }: Pick<FolderQuery, "field" | "path" | "separator">,
  all: readonly Matched[],
  deadline: Deadline,
): { readonly folders: readonly Folder[]; readonly total: number } {
  const folders = new Map<string, Counted>();
  const before = (path + separator).toWellFormed();
  const between = separator.toWellFormed();
  /** Documents so far; the number of the one that is counted. */
  let total = 0;
  for (const { segment, found } of all) {
    const values = segment.field(field.toWellFormed());
    if (values === undefined) continue;
    const [from, to] = values.prefixRange(before);
    /** By ordinal: its folder, and whether it lies deeper. */
    const folderOf: (Counted | undefined)[] = [];
    const isDeeper: boolean[] = [];
    const take = (value: unknown): void => {
      deadline.spend(32);
      const [name = "", next = ""] = String(value).slice(before.length).split(between, 2);
      const folder = folders.get(name) ?? { name, count: 0, hasFolders: false, last: 0 };
      if (name !== "") folders.set(name, folder);
      folderOf.push(name === "" ? undefined : folder);
      isDeeper.push(next !== "");
    };
    values.eachValue(take, from, to);
    let last = -1;
    deadline.spend(found.docs.length);
    values.each(found.docs, (ordinal, doc) => {
      const folder = ordinal < from || ordinal >= to ? undefined : folderOf[ordinal - from];
      if (folder === undefined) return;
      folder.hasFolders ||= isDeeper[ordinal - from] === true;
      if (last !== doc) total++;
      last = doc;
      if (folder.last !== total) folder.count++;
      folder.last = total;
    });
  }
  return {
    folders: [...folders.values()]
      .filter(({ count }) => count > 0)
      .map(({ last: _, ...folder }) => folder)
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
    total,
  };
}
