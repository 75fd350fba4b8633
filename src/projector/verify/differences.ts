/** Compares the rows of an entity in a view with those that the log implies. */
import type { Cell, Row, RowShape } from "./view-rows.ts";

export interface Difference {
  readonly view: string;
  /** Empty for a fault of the store. */
  readonly urn: string;
  /** Empty for the whole entity. */
  readonly aspect: string;
  readonly kind: "missing" | "unexpected" | "different";
  /** The differing cells, shortened; absent if there is no row. */
  readonly there?: string | undefined;
  readonly should?: string | undefined;
}

/** Length of the text of a difference. */
const textMax = 400;
const cellTextMax = 100;
/** Characters shown before the first difference of two values. */
const SAME_TEXT_MAX = 30;

/** Compares rows that are in the order of the shape. */
export function areEqual(left: readonly Row[], right: readonly Row[]): boolean {
  if (left.length !== right.length) return false;
  for (let n = 0; n < left.length; n++) {
    const one = left[n] as Row;
    const other = right[n] as Row;
    for (let cell = 0; cell < one.length; cell++) if (one[cell] !== other[cell]) return false;
  }
  return true;
}

export function inOrder(rows: readonly Row[], { order }: RowShape): readonly Row[] {
  if (rows.length < 2) return rows;
  return rows.toSorted((a, b) => {
    for (const cell of order) {
      const difference = Number(a[cell]) - Number(b[cell]);
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

export function differencesOf(
  entity: { readonly view: string; readonly urn: string; readonly shape: RowShape },
  there: readonly Row[],
  should: readonly Row[],
): readonly Difference[] {
  const { view, urn, shape } = entity;
  const rowByKey = new Map(there.map((row) => [keyOf(row, shape), row]));
  const differences: Difference[] = [];
  for (const expected of should) {
    const expectedRow = expected.map(storable);
    const key = keyOf(expectedRow, shape);
    const row = rowByKey.get(key);
    rowByKey.delete(key);
    const aspect = String(expectedRow[0]);
    if (row === undefined) {
      differences.push({ view, urn, aspect, kind: "missing", should: rowText(expectedRow, shape) });
      continue;
    }
    const cells = shape.names.flatMap((_, n) => (row[n] === expectedRow[n] ? [] : [n]));
    if (cells.length === 0) continue;
    differences.push({
      ...{ view, urn, aspect, kind: "different" },
      there: rowText(row, shape, {
        cells: [...ownKeys(shape), ...cells],
        comparedWith: expectedRow,
      }),
      should: rowText(expectedRow, shape, {
        cells: [...ownKeys(shape), ...cells],
        comparedWith: row,
      }),
    });
  }
  for (const row of rowByKey.values()) {
    const aspect = String(row[0]);
    differences.push({ view, urn, aspect, kind: "unexpected", there: rowText(row, shape) });
  }
  return differences;
}

/** Stores replace lone surrogates. */
const storable = (cell: Cell): Cell => (typeof cell === "string" ? cell.toWellFormed() : cell);

const keyOf = (row: Row, { keys }: RowShape): string => JSON.stringify(row.slice(0, keys));

const ownKeys = ({ keys }: RowShape): readonly number[] =>
  Array.from({ length: keys - 1 }, (_, n) => n + 1);

/**
 * Text of a row, such as `version 2, value {"owners":…}`: the given cells, or all except the
 * aspect. Truncates a long value around its first difference from `comparedWith`.
 */
function rowText(
  row: Row,
  { names }: RowShape,
  { cells, comparedWith }: { readonly cells?: readonly number[]; readonly comparedWith?: Row } = {},
): string {
  const indexes = cells ?? names.map((_, n) => n).slice(1);
  const parts = [...new Set(indexes)].flatMap((n) => {
    const cell = row[n];
    return cell === null || cell === undefined || cell === ""
      ? []
      : [`${names[n]} ${cellText(String(cell), String(comparedWith?.[n] ?? ""))}`];
  });
  return cut(parts.join(", "), textMax);
}

function cellText(text: string, other: string): string {
  let same = 0;
  while (same < text.length && text[same] === other[same]) same++;
  const from = same === text.length && other === text ? 0 : same - SAME_TEXT_MAX;
  if (from <= SAME_TEXT_MAX || text.length <= cellTextMax) return cut(text, cellTextMax);
  return `…${cut(text.slice(from).toWellFormed(), cellTextMax)}`;
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
}
