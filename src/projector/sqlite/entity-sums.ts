/**
 * Sums over all rows of a SQLite view (verify/row-sums.ts), of which the rows of entities are numbered:
 * the hashes of each urn are kept by its number, eight bytes for an entity.
 */
import { setImmediate as turn } from "node:timers/promises";
import { createRowHash, hashed, hashText, noSums, type RowHash } from "../verify/row-sums.ts";
import type { RowSums } from "../verify/view-rows.ts";
import type { Prepared } from "./prepared.ts";

export interface EntitySums {
  /** Tells which entity a number stands for. Every row's comes before the row. */
  name(id: number, urn: string): void;
  /** Whether the entity has a number, and is not left out. */
  counts(id: number): boolean;
  /**
   * Begins a row, whose cells `hash` takes. False for one of an entity that is left out, or of none:
   * it is counted, and nothing else.
   */
  begin(id: number): boolean;
  end(): void;
  /** Adds the urn with the number as a cell. */
  urnCell(id: number): void;
  readonly hash: RowHash;
  readonly sums: RowSums;
  readonly rows: () => number;
}

/** Numbers below it are places in an array. */
const DENSE_MAX = 1 << 26;
const GROWN_FROM = 1_024;

const UNKNOWN = 0;
const COUNTS = 1;
const LEFT_OUT = 2;

export function createEntitySums(leftOut: ReadonlySet<string>): EntitySums {
  const hash = createRowHash();
  const sums = noSums();
  let hashes = new Int32Array(2 * GROWN_FROM);
  let states = new Uint8Array(GROWN_FROM);
  /** Numbers that only a hand can have given. */
  const strange = new Map<number, number>();
  let strangers = 0;
  let rows = 0;

  /** The place of a number; -1 when it stands for nothing. */
  const placeOf = (id: number): number =>
    id >= 0 && id < DENSE_MAX ? (id < states.length ? id : -1) : (strange.get(id) ?? -1);

  function placeFor(id: number): number {
    if (id >= 0 && id < DENSE_MAX) return id;
    let place = strange.get(id);
    if (place === undefined) {
      place = DENSE_MAX + strangers++;
      strange.set(id, place);
    }
    return place;
  }

  function grow(place: number): void {
    if (place < states.length) return;
    const size = Math.max(place + 1, 2 * states.length);
    const [more, wider] = [new Uint8Array(size), new Int32Array(2 * size)];
    more.set(states);
    wider.set(hashes);
    states = more;
    hashes = wider;
  }

  return {
    hash,
    sums,
    rows: () => rows,
    name(id, urn) {
      const place = placeFor(id);
      grow(place);
      hashText(urn);
      hashes[2 * place] = hashed[0] as number;
      hashes[2 * place + 1] = hashed[1] as number;
      states[place] = leftOut.size > 0 && leftOut.has(urn) ? LEFT_OUT : COUNTS;
    },
    counts: (id) => states[placeOf(id)] === COUNTS,
    begin(id) {
      rows++;
      const place = placeOf(id);
      if (states[place] !== COUNTS) return false;
      hash.begin(hashes[2 * place] as number, hashes[2 * place + 1] as number);
      return true;
    },
    end: () => hash.addTo(sums),
    urnCell(id) {
      const place = placeOf(id);
      if ((states[place] ?? UNKNOWN) === UNKNOWN) hash.nothing();
      else hash.hashed(hashes[2 * place] as number, hashes[2 * place + 1] as number);
    },
  };
}

/** Rows of one page: between two there are other turns. */
const PAGE_ROWS = 2_000;
const PAGES_PER_TURN = 20;
const LEAST = Number.MIN_SAFE_INTEGER;

/**
 * Goes through all rows in the order of a key, of `keys` numbers or texts that each row begins with.
 * The statement takes a key, after which it goes on, and how many rows to give.
 */
export async function everyRow<Row extends readonly unknown[]>(
  statement: Prepared<Row>,
  keys: number,
  take: (row: Row) => void,
): Promise<void> {
  let after: (number | string)[] = Array.from({ length: keys }, () => LEAST);
  for (let pages = 1; ; pages++) {
    const page = statement.all(...after, PAGE_ROWS);
    for (const row of page) take(row);
    const last = page.at(-1);
    if (page.length < PAGE_ROWS || last === undefined) return;
    after = last.slice(0, keys) as (number | string)[];
    if (pages % PAGES_PER_TURN === 0) await turn();
  }
}
