/** The policy of merges: which segments of the search view become one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SegmentRow } from "../../src/views/search/sqlite/segments/segment.ts";
import { dueFull, dueMerge } from "../../src/views/search/sqlite/threads/merging.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const largest = 32 * MIB;
const documentBytes = 512;

/** A segment, and how often its documents were merged at most. */
interface Row extends SegmentRow {
  readonly merges: number;
}

let lastId = 0;

function rowOf(bytes: number, merges = 0): Row {
  lastId++;
  const docs = Math.ceil(bytes / documentBytes);
  return { id: lastId, first: lastId, last: lastId, docs, bytes, content: 0, merges };
}

/** Merges until nothing is due. */
function settled(rows: readonly Row[]): readonly Row[] {
  let now = rows;
  for (;;) {
    const due = dueMerge(now) ?? dueFull(now);
    if (due === undefined) return now;
    const bytes = due.reduce((sum, row) => sum + row.bytes, 0);
    expect(due.length).toBeGreaterThan(1);
    expect(bytes).toBeLessThanOrEqual(largest);
    const merges = 1 + Math.max(...due.map((row) => row.merges));
    const from = now.indexOf(due[0] as Row);
    now = now.toSpliced(from, due.length, rowOf(bytes, merges));
  }
}

test("segments of a rebuild become segments of nearly 32 MiB", () => {
  const rows = settled(Array.from({ length: 100 }, () => rowOf(4.5 * MIB)));
  expect(rows.length).toBeLessThanOrEqual(16);
  expect(Math.max(...rows.map(({ merges }) => merges))).toBe(1);
});

test("a full segment is not written again for small ones behind it", () => {
  const full = rowOf(30 * MIB);
  const rows = settled([full, ...Array.from({ length: 9 }, () => rowOf(MIB))]);
  expect(rows).toContain(full);
});

test("merges end, keep all bytes in order, and merge each document a few times", () => {
  const size = fc.integer({ min: 1 * KIB, max: 3 * MIB });
  fc.assert(
    fc.property(fc.array(size, { maxLength: 300 }), (sizes) => {
      let rows: readonly Row[] = [];
      for (const bytes of sizes) rows = settled([...rows, rowOf(bytes)]);
      const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
      expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total);
      expect(Math.max(0, ...rows.map(({ merges }) => merges))).toBeLessThanOrEqual(8);
    }),
    { numRuns: 60, seed: 7 },
  );
});
