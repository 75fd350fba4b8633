/** Documents of a search view whose segments merge: each batch writes a third of them again. */
import { position } from "../../src/core/position.ts";
import type { SearchWrite } from "../../src/views/search/search.ts";

export const BATCH = 1_500;
const CHANGED = BATCH / 3;

const numberIn = (batch: number, n: number): number =>
  n < CHANGED ? Math.max(0, batch - 1) * BATCH + n : batch * BATCH + n;

export function batchOf(batch: number): readonly SearchWrite[] {
  return Array.from({ length: BATCH }, (_, n) => {
    const urn = `urn:li:dataset:${numberIn(batch, n)}`;
    const words = [`batch${batch}`, ...Array.from({ length: 20 }, (_, at) => `word${n * 20 + at}`)];
    const value = words.join(" ");
    const text = { field: "name", value, folded: value, words, boost: 1, suggested: true };
    return {
      op: "put",
      position: position(batch * BATCH + n + 1),
      urn,
      document: { urn, entityType: "dataset", values: { name: [value] }, texts: [text] },
    };
  });
}

/** How many documents have the word of each batch after the batches, and how many there are. */
export function countsAfter(batches: number): readonly number[] {
  const last = new Map<string, number>();
  for (let batch = 0; batch < batches; batch++) {
    for (const { urn } of batchOf(batch)) last.set(urn, batch);
  }
  const counts = Array.from({ length: batches }, () => 0);
  for (const batch of last.values()) counts[batch] = (counts[batch] ?? 0) + 1;
  return [...counts, last.size];
}
