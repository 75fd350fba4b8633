/**
 * Counts combinations of texts, one text from the fields of each place: pairs of facets, nested
 * facets, folders. A document counts once for each combination that it has.
 */
import type { FieldValue } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

interface Place {
  readonly fields: readonly string[];
  /** The text of a value of a document; undefined for a value that does not count. */
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
  const counter = new Counter(places, tree, deadline);
  for (const { segment, found } of all) {
    const fields = places.map((place) =>
      place.fields.flatMap((field) => segment.field(field.toWellFormed()) ?? []),
    );
    if (fields.every(({ length }) => length > 0)) counter.count(fields, found.docs);
  }
  const counted = nodes?.map((node) => tree.nodes[node] as Combination) ?? tree.nodes;
  return { combinations: counted.filter(({ count }) => count > 0), documents: counter.documents };
}

class Counter {
  /** How many documents have a text of the first place. */
  documents = 0;
  private readonly places: readonly Place[];
  private readonly tree: Combinations;
  private readonly deadline: Deadline;
  /**
   * By place: the first `count` of `numbers` are those of the texts of the current document, in the
   * first place those of their nodes. `last` has for each the last document with it.
   */
  private readonly found: { count: number; readonly numbers: number[]; readonly last: number[] }[];
  /** The number of the document among those of all segments. */
  private current = 0;

  constructor(places: readonly Place[], tree: Combinations, deadline: Deadline) {
    this.places = places;
    this.tree = tree;
    this.deadline = deadline;
    this.found = places.map(() => ({ count: 0, numbers: [], last: [] }));
  }

  /** Counts documents of a segment by the fields of each place. */
  count(fields: readonly (readonly FieldValues[])[], docs: Uint32Array): void {
    const [[only, ...others] = [], ...further] = fields;
    if (only?.isSingle && others.length + further.length === 0) {
      this.countOrdinals(only, docs);
      return;
    }
    const collectors = fields.flatMap((all, n) => all.map((values) => this.collectorOf(n, values)));
    for (let at = 0; at < docs.length; at++) {
      this.current++;
      for (const own of this.found) own.count = 0;
      for (const collect of collectors) collect(docs[at] as number);
      if (this.found[0]?.count !== 0) this.documents++;
      this.countFrom(ROOT, 0);
    }
  }

  /** Counts by ordinal, where no document has several values of the only field. */
  private countOrdinals(values: FieldValues, docs: Uint32Array): void {
    const counts = values.countOf(docs);
    values.eachValue((value, ordinal) => {
      const count = counts[ordinal] as number;
      const node = count === 0 ? NONE : this.numberOf(0, value);
      if (node === NONE) return;
      (this.tree.nodes[node] as Combination).count += count;
      this.documents += count;
    });
  }

  /** Adds to the numbers of a place those of the texts that a document has in a field. */
  private collectorOf(place: number, values: FieldValues): (doc: number) => void {
    const numbers = new Int32Array(values.count);
    const own = this.found[place] as Counter["found"][number];
    const take = (ordinal: number): void => {
      if (numbers[ordinal] === UNKNOWN) {
        numbers[ordinal] = this.numberOf(place, values.value(ordinal));
      }
      const number = numbers[ordinal] as number;
      if (number === NONE || own.last[number] === this.current) return;
      own.last[number] = this.current;
      own.numbers[own.count++] = number;
    };
    return (doc) => values.each(doc, take);
  }

  /** The number of the text of a value, in the first place that of its node. */
  private numberOf(place: number, value: FieldValue): number {
    const text = this.places[place]?.textOf(value);
    const number = text === undefined ? NONE : this.tree.numberOf(place, text);
    return place === 0 ? this.tree.child(ROOT, 0, number) : number;
  }

  /** Counts the combinations below a node. */
  private countFrom(node: number, place: number): void {
    const own = this.found[place];
    if (own === undefined) {
      (this.tree.nodes[node] as Combination).count++;
      return;
    }
    this.deadline.spend(8 * own.count);
    for (let n = 0; n < own.count; n++) {
      const number = own.numbers[n] as number;
      const child = place === 0 ? number : this.tree.child(node, place, number);
      if (child !== NONE) this.countFrom(child, place + 1);
    }
  }
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
