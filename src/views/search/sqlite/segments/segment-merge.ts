/**
 * Merges segments into one: their sorted lists are merged, and documents that are deleted are left
 * out. No document is read or analyzed again.
 */
import { ByteReader } from "./bytes.ts";
import type { DictionaryCursor } from "./dictionary.ts";
import { FieldBuilder } from "./field-builder.ts";
import { LevelTable } from "./postings.ts";
import type { Segment } from "./segment.ts";
import { type BuiltSegment, writeSegment } from "./segment-writer.ts";
import type { Terms, TermsWriter } from "./terms.ts";

/** Undefined if no document is left. */
export function mergeSegments(segments: readonly Segment[]): BuiltSegment | undefined {
  const documents = mergeDocuments(segments);
  if (documents.ids.length === 0) return undefined;
  const levels = new LevelTable();
  const names = new Set(
    segments.flatMap(({ row }) => row.directory.fields.map(({ entry }) => entry.name)),
  );
  const terms = (termsOf: (segment: Segment) => Terms) => (writer: TermsWriter) =>
    mergeTerms(documents, termsOf, levels, writer);
  return writeSegment({
    ids: documents.ids,
    urns: documents.urns,
    fields: names.values().map((name) => [name, mergeField(documents, name)]),
    levels,
    wholes: terms(({ wholes }) => wholes),
    words: terms(({ words }) => words),
  });
}

/** The documents that are left, in the order of their urns. */
interface Documents {
  readonly sources: readonly Source[];
  readonly ids: readonly number[];
  readonly urns: readonly Uint8Array[];
  /** Where each document was before. */
  readonly origins: readonly Place[];
}

interface Source {
  readonly segment: Segment;
  /** The new number of each document; -1 for a deleted one. */
  readonly docs: Int32Array;
}

function mergeDocuments(segments: readonly Segment[]): Documents {
  const sources = segments.map(
    (segment): Source => ({ segment, docs: new Int32Array(segment.docs).fill(-1) }),
  );
  const ids: number[] = [];
  const urns: Uint8Array[] = [];
  const origins: Place[] = [];
  eachKey(
    segments.map(({ urns: own }) => own.cursor()),
    (key, at) => {
      for (const [n, doc] of at) {
        const { segment, docs } = sources[n] as Source;
        if (segment.deleted?.[doc] === 1) continue;
        docs[doc] = ids.length;
        ids.push(segment.idOf(doc));
        urns.push(key.keyCopy());
        origins.push([n, doc]);
      }
    },
  );
  return { sources, ids, urns, origins };
}

/** The index of a source, and a document or ordinal there. */
type Place = readonly [source: number, number: number];

/** Goes through sorted lists at once: calls back for each key with where it is. */
function eachKey(
  cursors: readonly DictionaryCursor[],
  take: (key: DictionaryCursor, places: readonly Place[]) => void,
): void {
  const cursorOf = (n: number | undefined) => cursors[n as number] as DictionaryCursor;
  /** Lists in descending order of their keys: the least is the last. */
  const open: number[] = [];
  const insert = (n: number) => {
    const cursor = cursorOf(n);
    if (cursor.ordinal >= cursor.count) return;
    let at = open.length;
    while (at > 0 && cursorOf(open[at - 1]).compare(cursor.key, cursor.length) < 0) at--;
    open.splice(at, 0, n);
  };
  for (const n of cursors.keys()) insert(n);
  while (open.length > 0) {
    const least = [open.pop() as number];
    const first = cursorOf(least[0]);
    while (open.length > 0 && cursorOf(open.at(-1)).compare(first.key, first.length) === 0) {
      least.push(open.pop() as number);
    }
    take(
      first,
      least.map((n) => [n, cursorOf(n).ordinal]),
    );
    for (const n of least) {
      cursorOf(n).next();
      insert(n);
    }
  }
}

function mergeTerms(
  { sources }: Documents,
  termsOf: (segment: Segment) => Terms,
  levels: LevelTable,
  writer: TermsWriter,
): void {
  const terms = sources.map(({ segment }) => termsOf(segment));
  const levelMaps = sources.map(({ segment: { levels: own } }) =>
    own.map(([boost, suggested]) => levels.numberOf(boost, suggested)),
  );
  const postings = new MergedPostings();
  eachKey(
    terms.map(({ dictionary }) => dictionary.cursor()),
    (key, places) => {
      for (const [n, term] of places) {
        const { docs } = sources[n] as Source;
        postings.add(terms[n] as Terms, term, docs, levelMaps[n] as readonly number[]);
      }
      if (postings.writeTo(writer)) writer.term(key.keyCopy());
    },
  );
}

/** The postings of one term: the first `count` entries of lists that are reused for all terms. */
class MergedPostings {
  private count = 0;
  private readonly docs: number[] = [];
  private readonly levels: number[] = [];
  /** Of each posting the positions: a range of bytes. */
  private readonly bytes: Uint8Array[] = [];
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  add(terms: Terms, term: number, newDocs: Int32Array, levelMap: readonly number[]): void {
    const bytes = terms.positions(term);
    const reader = new ByteReader(bytes);
    terms.eachPosting(term, term + 1, (before, level) => {
      const length = bytes.length === 0 ? 0 : reader.varint();
      const start = reader.at;
      reader.at += length;
      const doc = newDocs[before] as number;
      if (doc < 0) return;
      const { count } = this;
      this.docs[count] = doc;
      this.levels[count] = levelMap[level] as number;
      this.bytes[count] = bytes;
      this.starts[count] = start;
      this.ends[count] = reader.at;
      this.count++;
    });
  }

  /** Writes the postings in the order of their documents, and forgets them. False without one. */
  writeTo(writer: TermsWriter): boolean {
    const { count, docs, levels, bytes, starts, ends } = this;
    const packed = new Float64Array(count);
    for (let at = 0; at < count; at++) packed[at] = (docs[at] as number) * count + at;
    if (count > 1) packed.sort();
    for (let place = 0; place < count; place++) {
      const at = (packed[place] as number) % count;
      const [doc, level] = [docs[at] as number, levels[at] as number];
      writer.posting(doc, level, bytes[at] as Uint8Array, starts[at] as number, ends[at] as number);
    }
    this.count = 0;
    return count > 0;
  }
}

function mergeField({ sources, origins }: Documents, name: string): FieldBuilder {
  const merged = new FieldBuilder();
  const fields = sources.map(({ segment }) => {
    const field = segment.field(name);
    /** By ordinal: the number of the value. */
    const numbers: number[] = [];
    field?.eachValue((value) => numbers.push(merged.number(value)));
    return { field, numbers };
  });
  for (let doc = 0; doc < origins.length; doc++) {
    const [n, own] = origins[doc] as Place;
    const { field, numbers } = fields[n] as (typeof fields)[number];
    const ordinals = field?.ordinalsOf(own) ?? [];
    for (let at = 0; at < ordinals.length; at++) {
      merged.add(doc, numbers[ordinals[at] as number] as number);
    }
  }
  return merged;
}
