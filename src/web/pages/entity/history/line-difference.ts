/** Aligns the lines of two texts side by side. */

interface LineRow {
  readonly kind: "equal" | "changed";
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

interface GapRow {
  readonly kind: "gap";
  readonly count: number;
}

export type DifferenceRow = LineRow | GapRow;

export const linesOf = (value: unknown): readonly string[] =>
  value === undefined ? [] : JSON.stringify(value, null, 2).split("\n");

/** Equal lines around each difference. */
const context = 2;

/** Beyond this product of line counts, all lines between the equal ends count as changed. */
const cellsMax = 4_000_000;

export function alignLines(
  before: readonly string[],
  after: readonly string[],
): readonly DifferenceRow[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  const middle = alignMiddle(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  const equal = (line: string): LineRow => ({ kind: "equal", before: line, after: line });
  return collapse([
    ...before.slice(0, start).map(equal),
    ...middle,
    ...before.slice(before.length - end).map(equal),
  ]);
}

/** The longest common subsequence; changed lines of both sides share rows. */
function alignMiddle(before: readonly string[], after: readonly string[]): readonly LineRow[] {
  if (before.length * after.length > cellsMax) return pair(before, after);
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const length = (a: number, b: number): number => lengths[a * width + b] ?? 0;
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      lengths[a * width + b] =
        before[a] === after[b]
          ? length(a + 1, b + 1) + 1
          : Math.max(length(a + 1, b), length(a, b + 1));
    }
  }
  const rows: LineRow[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  let a = 0;
  let b = 0;
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      rows.push(...pair(removed, added), { kind: "equal", before: before[a], after: after[b] });
      removed = [];
      added = [];
      a++;
      b++;
    } else if (b >= after.length || (a < before.length && length(a + 1, b) >= length(a, b + 1))) {
      removed.push(before[a++] ?? "");
    } else added.push(after[b++] ?? "");
  }
  return [...rows, ...pair(removed, added)];
}

const pair = (removed: readonly string[], added: readonly string[]): readonly LineRow[] =>
  Array.from({ length: Math.max(removed.length, added.length) }, (_, n) => ({
    kind: "changed",
    before: removed[n],
    after: added[n],
  }));

/** Replaces runs of equal lines by their number. A single line takes no more space than its number. */
function collapse(rows: readonly LineRow[]): readonly DifferenceRow[] {
  const isNear = rows.map((_, n) =>
    rows.slice(Math.max(0, n - context), n + context + 1).some(({ kind }) => kind === "changed"),
  );
  const near = isNear.map((one, n) => one || (isNear[n - 1] !== false && isNear[n + 1] !== false));
  const shown: DifferenceRow[] = [];
  for (const [n, row] of rows.entries()) {
    const last = shown.at(-1);
    if (near[n]) shown.push(row);
    else if (last?.kind === "gap") shown[shown.length - 1] = { kind: "gap", count: last.count + 1 };
    else shown.push({ kind: "gap", count: 1 });
  }
  return shown;
}
