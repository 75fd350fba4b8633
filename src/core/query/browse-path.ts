/** Paths of the older tree of folders (browsePaths), which people write with more slashes or fewer. */

/** /prod/hive of prod/hive, /prod/hive/ and //prod//hive; / of what names no folder. */
export const slashedPath = (text: string): string =>
  `/${text
    .split("/")
    .filter((folder) => folder !== "")
    .join("/")}`;
