/**
 * Counts combinations of texts, one text from the fields of each place: pairs of facets, nested
 * facets, folders. A document counts once for each combination that it has.
 */
import type { FieldValue } from "../../search.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

interface Place {
  readonly fields: readonly string[];
  /** The text of a value; undefined for a value that does not count. */
  readonly textOf: (value: FieldValue) => string | undefined;
}

interface Combination {
  readonly values: readonly string[];
  count: number;
}

interface Counted {
  readonly combinations: readonly Combination[];
  /** How many documents have one. */
  readonly documents: number;
}

const ROOT = 0;
const UNKNOWN = 0;
const NONE = -1;
/** A node has fewer children. */
const CHILDREN_MAX = 2 ** 26;

/** With `named`, only these count, and they are returned in their order. */
export function countCombinations(
  places: readonly Place[],
  all: readonly Matched[],
  deadline: Deadline,
  named?: readonly (readonly string[])[],
): Counted {
  const tree = new Combinations(places.length);
  const nodes = named?.map((values) =>
    values.reduce((node, text, n) => tree.child(node, n, tree.numberOf(n, text)), ROOT),
  );
  tree.isOpen = named === undefined;
  /**
   * By place: the first `count` of `numbers` are those of the texts of the document, in the first
   * place those of their nodes. `last` has for each the last document with it, of all segments.
   */
  const found = places.map(() => ({ count: 0, numbers: [0], last: [0] }));
  let current = 0;
  let documents = 0;

  /** Adds to the numbers of a place those of the texts that a document has in a field. */
  function collectorOf(place: number, { segment, found: { docs } }: Matched, field: string) {
    const values = segment.field(field.toWellFormed());
    if (values === undefined) return [];
    const numbers = new Int32Array(values.count);
    const own = found[place] as (typeof found)[number];
    const number = (value: FieldValue, ordinal: number): void => {
      const text = places[place]?.textOf(value);
      const known = text === undefined ? NONE : tree.numberOf(place, text);
      numbers[ordinal] = place === 0 ? tree.child(ROOT, 0, known) : known;
    };
    if (docs.length > values.count) values.eachValue(number);
    const take = (ordinal: number): void => {
      if (numbers[ordinal] === UNKNOWN) number(values.value(ordinal), ordinal);
      const known = numbers[ordinal] as number;
      if (known === NONE || own.last[known] === current) return;
      own.last[known] = current;
      own.numbers[own.count++] = known;
    };
    return [(doc: number) => values.each(doc, take)];
  }

  function count(node: number, place: number): void {
    const own = found[place];
    if (own === undefined) (tree.nodes[node] as Combination).count++;
    else {
      deadline.spend(8 * own.count);
      for (let n = 0; n < own.count; n++) {
        const number = own.numbers[n] as number;
        const child = place === 0 ? number : tree.child(node, place, number);
        if (child !== NONE) count(child, place + 1);
      }
    }
  }

  for (const matched of all) {
    const { docs } = matched.found;
    const collectors = places.map(({ fields }, n) =>
      fields.flatMap((field) => collectorOf(n, matched, field)),
    );
    if (collectors.some(({ length }) => length === 0)) continue;
    const inOrder = collectors.flat();
    for (let at = 0; at < docs.length; at++) {
      current++;
      for (const own of found) own.count = 0;
      for (const collect of inOrder) collect(docs[at] as number);
      if (found[0]?.count !== 0) documents++;
      count(ROOT, 0);
    }
  }
  const counted = nodes?.map((node) => tree.nodes[node] as Combination) ?? tree.nodes;
  return { combinations: counted.filter((one) => one.count > 0), documents };
}

/** A tree of combinations: a node has a child for each text of the next place. */
class Combinations {
  readonly nodes: Combination[] = [{ values: [], count: 0 }];
  /** True if nodes and texts that are missing are added. */
  isOpen = true;
  private readonly children = new Map<number, number>();
  /** By place: the numbers of the texts from 1, and the texts. */
  private readonly numbers: readonly Map<string, number>[];
  private readonly texts: readonly string[][];

  constructor(places: number) {
    this.numbers = Array.from({ length: places }, () => new Map());
    this.texts = Array.from({ length: places }, () => [""]);
  }

  numberOf(place: number, text: string): number {
    const numbers = this.numbers[place] as Map<string, number>;
    const known = numbers.get(text);
    if (known !== undefined || !this.isOpen) return known ?? NONE;
    const number = (this.texts[place] as string[]).push(text) - 1;
    numbers.set(text, number);
    return number;
  }

  child(node: number, place: number, number: number): number {
    if (number === NONE) return NONE;
    const key = node * CHILDREN_MAX + number;
    const known = this.children.get(key);
    if (known !== undefined || !this.isOpen) return known ?? NONE;
    const { values } = this.nodes[node] as Combination;
    const text = this.texts[place]?.[number] as string;
    const child = this.nodes.push({ values: [...values, text], count: 0 }) - 1;
    this.children.set(key, child);
    return child;
  }
}
