/** Rows as columns of text, as wide as their widest cell; the last column ends where it ends. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = [heads, ...rows.map((row) => row.map(textOf))];
  const widths = heads.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  // A column of numbers is read from its end.
  const numeric = heads.map((_, at) => rows.length > 0 && rows.every((row) => isNumber(row[at])));
  return cells
    .map((row) =>
      row
        .map((cell, at) => {
          const width = widths[at] ?? 0;
          return numeric[at] ? cell.padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const isNumber = (cell: string | number | undefined): boolean => typeof cell === "number";
const textOf = (cell: string | number): string =>
  typeof cell === "number" ? cell.toLocaleString("en") : cell;
