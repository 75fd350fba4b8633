/**
 * Counts combinations of texts, for pairs of facets, nested facets and folders. A combination has
 * one text from the fields of each place. A document counts once for each of its combinations.
 */
import type { FacetValue, FieldValue } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

interface Place {
  readonly fields: readonly string[];
  /** The text of a value; undefined for a value that is not counted. */
  readonly textOf: (value: FieldValue) => string | undefined;
}

/** A trie node: texts of the first places. */
interface Combination {
  readonly values: readonly string[];
  count: number;
  /** The last document that was counted. */
  last: number;
  /** Children by the text of the next place. */
  readonly longer: Map<string, Combination>;
}

/** The doc values of a field of a place in one segment. */
interface Column {
  readonly values: FieldValues;
  readonly textOf: Place["textOf"];
  /** Texts by ordinal, filled lazily; null for a value that is not counted. */
  readonly texts: (string | null)[];
}

/** Maximum size of the key table, per document; above it, documents are counted one by one. */
const KEYS_FOR_DOCUMENT = 4;

/** `named`: counts only these, in order. `documents`: the number of documents with any of them. */
export function countCombinations(
  places: readonly Place[],
  all: readonly Matched[],
  deadline: Deadline,
  named?: readonly (readonly string[])[],
) {
  const root: Combination = { values: [], count: 0, last: 0, longer: new Map() };
  const added: Combination[] = [];
  const wanted = named?.map((texts) => texts.reduce(add, root));
  let documents = 0;
  /** Number of the current document, over all segments. */
  let current = 0;

  /** Gets or adds the child for a text. */
  function add({ values, longer }: Combination, text: string): Combination {
    const known = longer.get(text);
    if (known !== undefined) return known;
    const one = { values: [...values, text], count: 0, last: 0, longer: new Map() };
    longer.set(text, one);
    added.push(one);
    return one;
  }

  const longer = (shorter: Combination, text: string): Combination | undefined =>
    wanted === undefined ? add(shorter, text) : shorter.longer.get(text);

  /** Counts the combinations of a document that begin with `shorter`. True if there is one. */
  function count(doc: number, shorter: Combination, columns: readonly (readonly Column[])[]) {
    const own = columns[shorter.values.length];
    if (own === undefined) {
      shorter.count++;
      return true;
    }
    let some = false;
    for (const column of own) {
      column.values.each(doc, (ordinal) => {
        deadline.spend(8);
        const text = textOf(column, ordinal);
        const one = text === null ? undefined : longer(shorter, text);
        if (one === undefined || one.last === current) return;
        one.last = current;
        some = count(doc, one, columns) || some;
      });
    }
    return some;
  }

  /** Counts by one key of the ordinals of all places; requires one value per document and field. */
  function countKeys(columns: readonly Column[], docs: Uint32Array, end: number): void {
    deadline.spend(docs.length);
    const counts = new Uint32Array(end);
    const fromLast = columns.toReversed();
    for (const doc of docs) {
      let key = 0;
      for (const { values } of fromLast) key = key * values.end + values.ordinalOf(doc);
      counts[key] = (counts[key] as number) + 1;
    }
    counts.forEach((own, key) => {
      if (own === 0) return;
      let rest = key;
      let one: Combination | undefined = root;
      for (const column of columns) {
        const ordinal = rest % column.values.end;
        rest = Math.floor(rest / column.values.end);
        const text = ordinal === 0 ? null : textOf(column, ordinal);
        one = text === null ? undefined : one && longer(one, text);
      }
      if (one === undefined) return;
      one.count += own;
      documents += own;
    });
  }

  for (const { segment, found } of all) {
    const columns = places.map(({ fields, textOf }): readonly Column[] =>
      fields.flatMap((field) => {
        const values = segment.field(field);
        return values === undefined ? [] : [{ values, textOf, texts: [] }];
      }),
    );
    if (columns.some((own) => own.length === 0)) continue;
    const flat = columns.flat();
    const keys = flat.reduce((product, { values }) => product * values.end, 1);
    const isSingle = flat.length === columns.length && flat.every(({ values }) => values.isSingle);
    if (isSingle && keys <= KEYS_FOR_DOCUMENT * found.docs.length) {
      countKeys(flat, found.docs, keys);
      continue;
    }
    for (const doc of found.docs) {
      current++;
      if (count(doc, root, columns)) documents++;
    }
  }
  const combinations = (wanted ?? added).flatMap(({ values, count }): FacetValue[] =>
    count === 0 ? [] : [{ values, count }],
  );
  return { combinations, documents };
}

function textOf({ values, textOf, texts }: Column, ordinal: number): string | null {
  const known = texts[ordinal];
  if (known !== undefined) return known;
  const text = textOf(values.value(ordinal)) ?? null;
  texts[ordinal] = text;
  return text;
}
