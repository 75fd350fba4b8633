/** Numbers by numbers, -1 where there is none: four bytes for each. */

const DENSE_FROM = 1_024;
const DENSE_MAX = 1 << 26;

export function createNumbers() {
  let dense = new Int32Array(DENSE_FROM).fill(-1);
  const others = new Map<number, number>();
  const isDense = (id: number) => id >= 0 && id < DENSE_MAX;
  return {
    get: (id: number): number => (isDense(id) ? dense[id] : others.get(id)) ?? -1,
    set(id: number, value: number): void {
      if (!isDense(id)) {
        others.set(id, value);
        return;
      }
      if (id >= dense.length) {
        const wider = new Int32Array(Math.max(id + 1, 2 * dense.length)).fill(-1);
        wider.set(dense);
        dense = wider;
      }
      dense[id] = value;
    },
  };
}
