/**
 * Builds a search document: collects the values of its fields, and texts of the queried fields. Its
 * size is bounded. Search does not find values beyond the bounds; the aspect still has them.
 */
import type { DocumentText, FieldValue, SearchDocument } from "../../src/views/search/search.ts";
import type { SearchField } from "./annotations.ts";
import { cutText } from "./characters.ts";
import { foldText, wordsCharsMax, wordsOf } from "./words.ts";

/** Maximum number of values of a field; tables with 12,000 columns exist. */
export const fieldValuesMax = 20_000;

/** Maximum number of fields named by map keys, and of values of one such field. */
const keyedFieldsMax = 1_000;

/** Maximum length of a value in UTF-16 code units. A longer value is cut; all its words are indexed. */
export const valueCharsMax = 8191;

/** Maximum number of words of a document; those of texts with greater boosts come first. */
export const documentWordsMax = 2_000_000;

/** A view with other bounds is rebuilt. */
export const documentBounds = {
  fieldValuesMax,
  keyedFieldsMax,
  valueCharsMax,
  documentWordsMax,
  wordsCharsMax,
};

/** A field of the documents of an entity type, numbered from 0. */
export interface Slot {
  readonly number: number;
  readonly field: SearchField;
}

export interface DocumentDraft {
  /** Adds the values that the field does not have yet. */
  add(slot: Slot, values: readonly FieldValue[]): void;
  /** The same for `<field>.<key>`; the field itself has the keys. */
  addKeyed(field: string, key: string, value: FieldValue): void;
  /** Sets a single value: true if any of the flags is true. */
  addFlag(slot: Slot, flag: boolean): void;
  /** Sets a single value: the greatest of the counts. */
  addCount(slot: Slot, count: number): void;
  /** Multiplies the boosts of all texts by the least of these weights, which are at most 1. */
  weigh(weight: number): void;
  document(urn: string, entityType: string): SearchDocument;
}

/** A text whose words are not computed yet. */
interface DraftText {
  readonly field: SearchField;
  readonly value: string;
  /** The uncut value. */
  readonly whole: string;
}

/** Longer lists use a Set to find duplicates. */
const comparedMax = 16;

export function createDraft(): DocumentDraft {
  const lists: (FieldValue[] | undefined)[] = [];
  /** Names and values of fields, in the order of their first value. */
  const names: string[] = [];
  const filled: FieldValue[][] = [];
  const keyed = new Map<string, FieldValue[]>();
  const texts: DraftText[] = [];
  let weight = 1;

  function listOf({ number, field }: Slot): FieldValue[] {
    const known = lists[number];
    if (known !== undefined) return known;
    const list: FieldValue[] = [];
    lists[number] = list;
    names.push(field.name);
    filled.push(list);
    return list;
  }

  function add(slot: Slot, values: readonly FieldValue[]): void {
    if (values.length === 0) return;
    const { queried } = slot.field;
    const list = listOf(slot);
    const taken = list.length + values.length > comparedMax ? new Set(list) : undefined;
    for (const whole of values) {
      if (list.length >= fieldValuesMax) return;
      const value = typeof whole === "string" ? cutText(whole, valueCharsMax) : whole;
      if (taken === undefined ? list.includes(value) : taken.has(value)) continue;
      taken?.add(value);
      list.push(value);
      if (queried && typeof value === "string") {
        texts.push({ field: slot.field, value, whole: String(whole) });
      }
    }
  }

  function addTo(name: string, whole: FieldValue): void {
    const value = typeof whole === "string" ? cutText(whole, valueCharsMax) : whole;
    const list = keyed.get(name) ?? [];
    if (list.length >= keyedFieldsMax || list.includes(value)) return;
    if (list.length === 0 && keyed.size >= keyedFieldsMax) return;
    keyed.set(name, list);
    list.push(value);
  }

  return {
    add,
    addKeyed(field, key, value) {
      addTo(field, key);
      addTo(`${field}.${key}`, value);
    },
    addFlag(slot, flag) {
      const list = listOf(slot);
      list[0] = list[0] === true || flag;
    },
    addCount(slot, count) {
      const list = listOf(slot);
      const [before] = list;
      if (typeof before !== "number" || before < count) list[0] = count;
    },
    weigh(part) {
      weight = Math.min(weight, part);
    },
    document(urn, entityType) {
      const values: Record<string, readonly FieldValue[]> = {};
      for (let index = 0; index < names.length; index++) {
        values[names[index] as string] = filled[index] as FieldValue[];
      }
      for (const [name, list] of keyed) values[name] = list;
      return { urn, entityType, values, texts: weighed(documentTexts(texts), weight) };
    },
  };
}

/** Boosts are multiples of 1/64, so that scores are exact. */
function weighed(texts: readonly DocumentText[], weight: number): readonly DocumentText[] {
  if (weight === 1) return texts;
  return texts.map((text) => ({
    ...text,
    boost: Math.max(1, Math.round(text.boost * weight * 64)) / 64,
  }));
}

/**
 * The texts with their words. If there may be more words than the bound, texts with greater boosts
 * come first, and words beyond the bound are not computed.
 */
function documentTexts(drafts: readonly DraftText[]): readonly DocumentText[] {
  let characters = 0;
  for (const { whole } of drafts) characters += whole.length;
  if (characters * WORDS_PER_CHARACTER <= documentWordsMax) {
    return drafts.map((draft) => textOf(draft, documentWordsMax));
  }
  let left = documentWordsMax;
  return drafts
    .toSorted((a, b) => b.field.boost - a.field.boost)
    .map((draft) => {
      const text = textOf(draft, left);
      left -= text.words.length;
      return text;
    });
}

/** Upper bound: "aB" has three words, "a", "b" and "ab". */
const WORDS_PER_CHARACTER = 2;

function textOf({ field, value, whole }: DraftText, wordsMax: number): DocumentText {
  const words = wordsMax > 0 ? wordsOf(whole) : [];
  return {
    field: field.name,
    value,
    folded: foldText(value),
    words: words.length > wordsMax ? words.slice(0, wordsMax) : words,
    boost: field.boost,
    suggested: field.suggested,
  };
}
