/**
 * Counts combinations of texts, one text from the fields of each place: pairs of facets, nested
 * facets, folders. A document counts once for each combination that it has.
 */
import type { FacetValue, FieldValue } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

interface Place {
  readonly fields: readonly string[];
  /** The text of a value of a document; undefined for a value that does not count. */
  readonly textOf: (value: FieldValue) => string | undefined;
}

/** Texts of the first places. */
interface Combination {
  readonly values: readonly string[];
  count: number;
  /** The last document that was found to have it. */
  last: number;
  /** By their next text. */
  readonly longer: Map<string, Combination>;
}

interface Counted {
  readonly combinations: readonly FacetValue[];
  /** How many documents have one. */
  readonly documents: number;
}

/** A field of a place in one segment. */
interface Column {
  readonly values: FieldValues;
  readonly textOf: Place["textOf"];
  /** By ordinal, as they are needed; null for a value that does not count. */
  readonly texts: (string | null)[];
}

/** With `named`, only these count, and they are returned in their order. */
export function countCombinations(
  places: readonly Place[],
  all: readonly Matched[],
  deadline: Deadline,
  named?: readonly (readonly string[])[],
): Counted {
  const root: Combination = { values: [], count: 0, last: 0, longer: new Map() };
  const added: Combination[] = [];
  const wanted = named?.map((texts) => texts.reduce(add, root));
  let documents = 0;
  /** The number of the document among those of all segments. */
  let current = 0;

  /** The combination with one text more. */
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

  /** Counts the combinations of a document that begin with `shorter`. True if it has one. */
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

  /** Counts by ordinal, where no document has several values of the only field. */
  function countSingle({ values, textOf }: Column, docs: Uint32Array): void {
    const counts = values.countOf(docs);
    values.eachValue((value, ordinal) => {
      const own = counts[ordinal] as number;
      const text = own === 0 ? undefined : textOf(value);
      const one = text === undefined ? undefined : longer(root, text);
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
    const [first, ...others] = columns.flat();
    if (columns.length === 1 && first?.values.isSingle && others.length === 0) {
      countSingle(first, found.docs);
    } else {
      for (const doc of found.docs) {
        current++;
        if (count(doc, root, columns)) documents++;
      }
    }
  }
  const combinations = (wanted ?? added).flatMap(({ values, count }) =>
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
