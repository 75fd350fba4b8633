/**
 * Merges segments into one: their sorted lists are merged, and documents that are deleted are left
 * out. No document is read or analyzed again.
 */

import type { FieldValue } from "../search.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { type DictionaryCursor, DictionaryWriter } from "./dictionary.ts";
import { type FieldValues, urnsField, writeField } from "./doc-values.ts";
import { LevelTable, type Postings, writePostings } from "./postings.ts";
import { type Segment, WORD_MARK } from "./segment.ts";
import { type BuiltSegment, compareValues, SegmentAssembler, termsOf } from "./segment-builder.ts";

/** A segment, and which of its documents are deleted. */
export interface MergeInput {
  readonly segment: Segment;
  readonly deleted: Uint8Array | undefined;
}

/** Undefined if no document is left. */
export function mergeSegments(inputs: readonly MergeInput[]): BuiltSegment | undefined {
  const { sources, ids, urns } = mergeUrns(inputs);
  if (ids.length === 0) return undefined;
  const segment = new SegmentAssembler(ids.length);
  segment.ids(ids);
  const dictionary = new DictionaryWriter(segment.core);
  for (const urn of urns) dictionary.add(urn);
  segment.urns = dictionary.end();
  segment.types = mergeField(
    segment.core,
    "",
    sources.map((source) => ({ ...source, values: source.segment.types })),
    ids.length,
  );
  const levels = mergeTerms(segment, sources, ids.length);
  const names = new Set(
    sources.flatMap(({ segment: { row } }) => row.directory.fields.map(({ entry }) => entry.name)),
  );
  for (const name of names) {
    const fields = sources.flatMap((source) => {
      const values = source.segment.field(name);
      return values === undefined ? [] : [{ ...source, values }];
    });
    const own = fields.length === sources.length;
    if (own && fields.every(({ values }) => values.entry.layout === "urns")) {
      segment.field(urnsField(name));
      continue;
    }
    const writer = new ByteWriter();
    const entry = mergeField(writer, name, fields, ids.length);
    if (entry !== undefined) segment.field(entry, writer);
  }
  return segment.end(levels);
}

interface Source {
  readonly segment: Segment;
  /** The new number of each document; -1 for a deleted one. */
  readonly docs: Int32Array;
}

/** Goes through sorted lists at once: calls back for each key with the lists that have it. */
function eachKey(
  cursors: readonly DictionaryCursor[],
  counts: readonly number[],
  take: (key: DictionaryCursor, at: readonly number[]) => void,
): void {
  const cursorOf = (n: number | undefined) => cursors[n as number] as DictionaryCursor;
  /** Lists in descending order of their keys: the least is the last. */
  const open: number[] = [];
  const insert = (n: number) => {
    const { key, length } = cursorOf(n);
    let low = 0;
    let high = open.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (cursorOf(open[middle]).compare(key, length) > 0) low = middle + 1;
      else high = middle;
    }
    open.splice(low, 0, n);
  };
  for (let n = 0; n < cursors.length; n++) if ((counts[n] as number) > 0) insert(n);
  const least: number[] = [];
  while (open.length > 0) {
    least.length = 0;
    least.push(open.pop() as number);
    const first = cursorOf(least[0]);
    while (open.length > 0 && cursorOf(open.at(-1)).compare(first.key, first.length) === 0) {
      least.push(open.pop() as number);
    }
    take(first, least);
    for (const n of least) {
      cursorOf(n).next();
      if (cursorOf(n).ordinal < (counts[n] as number)) insert(n);
    }
  }
}

function mergeUrns(inputs: readonly MergeInput[]) {
  const sources = inputs.map(
    ({ segment }): Source => ({ segment, docs: new Int32Array(segment.docs).fill(-1) }),
  );
  const ids: number[] = [];
  const urns: Uint8Array[] = [];
  const cursors = inputs.map(({ segment }) => segment.urns.cursor());
  const counts = inputs.map(({ segment }) => segment.docs);
  eachKey(cursors, counts, (key, at) => {
    for (const n of at) {
      const doc = (cursors[n] as DictionaryCursor).ordinal;
      const { segment, docs } = sources[n] as Source;
      if (inputs[n]?.deleted?.[doc] === 1) continue;
      docs[doc] = ids.length;
      ids.push(segment.idOf(doc));
      urns.push(key.keyCopy());
    }
  });
  return { sources, ids, urns };
}

/** The postings of one term; those of one source lie together. */
interface Merged {
  count: number;
  readonly docs: number[];
  readonly levels: number[];
  /** Source, start and end of the positions in each document. */
  readonly sources: number[];
  readonly starts: number[];
  readonly ends: number[];
}

function mergeTerms(
  segment: SegmentAssembler,
  sources: readonly Source[],
  docCount: number,
): LevelTable {
  const levels = new LevelTable();
  const levelMaps = sources.map(({ segment: { levels: own } }) =>
    own.map(([boost, suggested]) => levels.numberOf(boost, suggested)),
  );
  const positions = sources.map(({ segment: own }) => own.positions);
  const cursors = sources.map(({ segment: own }) => own.terms.cursor());
  const counts = sources.map(({ segment: own }) => own.terms.count);
  const slots = new Int32Array(docCount);
  const found: Merged = { count: 0, docs: [], levels: [], sources: [], starts: [], ends: [] };
  eachKey(cursors, counts, (key, at) => {
    const isWord = key.key[0] === wordMark;
    found.count = 0;
    for (const n of at) {
      const { segment: own, docs } = sources[n] as Source;
      const postings = own.postings((cursors[n] as DictionaryCursor).ordinal);
      const bytes = isWord ? (positions[n] as Uint8Array) : undefined;
      collect(found, n, postings, docs, levelMaps[n] as readonly number[], bytes);
    }
    if (found.count === 0) return;
    segment.term(key.keyCopy());
    const order = at.length === 1 ? undefined : orderOf(found, slots);
    const docs = order === undefined ? found.docs : inOrder(found.docs, order);
    const levels = order === undefined ? found.levels : inOrder(found.levels, order);
    const range = { docs, levels, from: 0, to: found.count };
    writePostings(segment.postings, range, segment.positions.length);
    for (let place = 0; place < found.count && isWord; place++) {
      const from = order === undefined ? place : (order[place] as number);
      const [start, end] = [found.starts[from] as number, found.ends[from] as number];
      segment.positions.varint(end - start);
      const bytes = positions[found.sources[from] as number] as Uint8Array;
      segment.positions.bytes(bytes, start, end);
    }
  });
  return levels;
}

const inOrder = (list: readonly number[], order: Uint32Array): Uint32Array =>
  order.map((at) => list[at] as number);

const wordMark = WORD_MARK.charCodeAt(0);

function collect(
  found: Merged,
  source: number,
  { docs, levels, positions }: Postings,
  newDocs: Int32Array,
  levelMap: readonly number[],
  bytes: Uint8Array | undefined,
): void {
  const reader = bytes && new ByteReader(bytes, positions);
  for (let at = 0; at < docs.length; at++) {
    const doc = newDocs[docs[at] as number] as number;
    const place = found.count;
    if (reader !== undefined) {
      const length = reader.varint();
      found.starts[place] = reader.at;
      reader.at += length;
      found.ends[place] = reader.at;
    }
    if (doc < 0) continue;
    const level = typeof levels === "number" ? levels : (levels[at] as number);
    found.docs[place] = doc;
    found.levels[place] = levelMap[level] as number;
    found.sources[place] = source;
    found.count++;
  }
}

/** A list of so many among all is put in order by their places. */
const DENSE_PART = 1 / 8;

/** Places of the documents in ascending order. `slots` has room for every document. */
function orderOf({ docs, count }: Merged, slots: Int32Array): Uint32Array {
  const order = new Uint32Array(count);
  if (count < slots.length * DENSE_PART) {
    for (let place = 0; place < count; place++) order[place] = place;
    return order.sort((a, b) => (docs[a] as number) - (docs[b] as number));
  }
  slots.fill(0);
  for (let place = 0; place < count; place++) slots[docs[place] as number] = place + 1;
  let end = 0;
  for (const slot of slots) if (slot > 0) order[end++] = slot - 1;
  return order;
}

type FieldSource = Source & { readonly values: FieldValues };

/** Undefined if no document that is left has a value. */
function mergeField(
  writer: ByteWriter,
  name: string,
  sources: readonly FieldSource[],
  docCount: number,
) {
  const counts = new Uint32Array(docCount + 1);
  const used = sources.map(({ segment, docs, values }) => {
    const marked = new Uint8Array(values.count);
    values.each(segment.all(), (ordinal, doc) => {
      const target = docs[doc] as number;
      if (target < 0) return;
      marked[ordinal] = 1;
      counts[target] = (counts[target] as number) + 1;
    });
    return marked;
  });
  const texts = new DictionaryWriter(writer);
  const { merged, maps } = mergeValues(sources, used, texts);
  if (merged.length === 0) return undefined;
  const docs: number[] = [];
  const starts: number[] = [0];
  /** Where the next ordinal of each document goes. */
  const next = new Uint32Array(docCount);
  let end = 0;
  for (let doc = 0; doc < docCount; doc++) {
    const count = counts[doc] as number;
    if (count === 0) continue;
    next[doc] = end;
    end += count;
    docs.push(doc);
    starts.push(end);
  }
  const ordinals = new Uint32Array(end);
  for (const [n, { segment, docs: newDocs, values }] of sources.entries()) {
    const map = maps[n] as Uint32Array;
    values.each(segment.all(), (ordinal, doc) => {
      const target = newDocs[doc] as number;
      if (target < 0) return;
      const at = next[target] as number;
      ordinals[at] = map[ordinal] as number;
      next[target] = at + 1;
    });
  }
  const lists = { docs: Uint32Array.from(docs), starts: Uint32Array.from(starts), ordinals };
  return writeField(writer, name, termsOf(merged, texts), lists, docCount);
}

/** The values in use in their order, and the new ordinal of each. */
function mergeValues(
  sources: readonly FieldSource[],
  used: readonly Uint8Array[],
  texts: DictionaryWriter,
) {
  const merged: FieldValue[] = [];
  const maps = sources.map(({ values }) => new Uint32Array(values.count));
  const others = new Map<FieldValue, (readonly [source: number, ordinal: number])[]>();
  for (const [n, { values }] of sources.entries()) {
    for (let ordinal = 0; ordinal < values.textsFrom; ordinal++) {
      if (used[n]?.[ordinal] !== 1) continue;
      const value = values.value(ordinal);
      const holders = others.get(value) ?? [];
      holders.push([n, ordinal]);
      others.set(value, holders);
    }
  }
  for (const value of [...others.keys()].sort(compareValues)) {
    for (const [n, ordinal] of others.get(value) ?? []) {
      (maps[n] as Uint32Array)[ordinal] = merged.length;
    }
    merged.push(value);
  }
  const cursors = sources.map(({ values }) => values.textsCursor());
  const counts = sources.map(({ values }) => values.count - values.textsFrom);
  eachKey(cursors, counts, (key, at) => {
    let isUsed = false;
    for (const n of at) {
      const source = sources[n] as FieldSource;
      const ordinal = source.values.textsFrom + (cursors[n] as DictionaryCursor).ordinal;
      if (used[n]?.[ordinal] !== 1) continue;
      (maps[n] as Uint32Array)[ordinal] = merged.length;
      isUsed = true;
    }
    if (!isUsed) return;
    texts.add(key.keyCopy());
    merged.push(key.text());
  });
  return { merged, maps };
}
