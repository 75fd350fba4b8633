/**
 * Rows as columns of text that fit a width: columns shrink and their cells wrap; where even that does
 * not fit, each row becomes a block with a line for each column. Nothing is cut off.
 */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { maxOf } from "../../lib/lists.ts";

export type TableCell = string | number;

const gap = 2;
/** A column narrower than this cannot be read. */
const columnMin = 16;

export function table(
  heads: readonly string[],
  rows: readonly (readonly TableCell[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = [heads, ...rows.map((row) => row.map(textOf))];
  const natural = heads.map((_, at) => maxOf(cells.map((row) => stringWidth(row[at] ?? ""))));
  const widths = fitted(natural, width - gap * (heads.length - 1));
  if (widths === undefined) return blocks(heads, cells.slice(1), width);
  // A column of numbers is read from its end.
  const numeric = heads.map((_, at) => rows.length > 0 && rows.every((row) => isNumber(row[at])));
  return cells.flatMap((row) => lines(row, widths, numeric)).join("\n");
}

/** The widest columns shrink first; undefined when one would become too narrow. */
function fitted(natural: readonly number[], available: number): readonly number[] | undefined {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - available;
  while (excess > 0) {
    const widest = maxOf(widths);
    if (widest <= columnMin) return undefined;
    const at = widths.indexOf(widest);
    const next = maxOf([columnMin, ...widths.filter((width) => width < widest)]);
    const step = Math.min(excess, widest - next || 1);
    widths[at] = widest - step;
    excess -= step;
  }
  return widths;
}

function lines(
  row: readonly string[],
  widths: readonly number[],
  numeric: readonly boolean[],
): readonly string[] {
  const wrapped = row.map((cell, at) => wrap(cell, widths[at] ?? 0));
  const height = maxOf([1, ...wrapped.map((cell) => cell.length)]);
  return Array.from({ length: height }, (_, line) =>
    wrapped
      .map((cell, at) => {
        const text = cell[line] ?? "";
        const padding = " ".repeat(Math.max(0, (widths[at] ?? 0) - stringWidth(text)));
        return numeric[at] ? padding + text : text + padding;
      })
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

function blocks(heads: readonly string[], rows: readonly (readonly string[])[], width: number) {
  const block = (row: readonly string[]): string =>
    row.flatMap((cell, at) => (cell === "" ? [] : wrap(`${heads[at]}: ${cell}`, width))).join("\n");
  return rows.map(block).join("\n\n");
}

/** Lines of at most so many columns. */
export const wrap = (text: string, width: number): readonly string[] =>
  width === Number.POSITIVE_INFINITY
    ? text.split("\n")
    : text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, width)));

/** A line keeps its indentation; the lines that continue it begin without the blank of the break. */
const wrapLine = (line: string, width: number): readonly string[] =>
  wrapAnsi(line, width, { hard: true, trim: false })
    .split("\n")
    .map((part, at) => (at === 0 ? part : part.replace(/^ /, "")).trimEnd());

const isNumber = (cell: TableCell | undefined): boolean => typeof cell === "number";
const textOf = (cell: TableCell): string =>
  isNumber(cell) ? cell.toLocaleString("en") : String(cell);
