/**
 * A segment: an immutable index of some documents, which it numbers in the order of their urns.
 * Everything in it lies in a few parts of one sequence of bytes, each of which is loaded when it is
 * used first: the core (ids, urns, terms, posting lists), each field, and the positions of words.
 */
import { bytesOf, float64Of, type Range, uint32Of } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";
import { type FieldEntry, FieldValues } from "./doc-values.ts";
import { eachPosting, type Level, type Postings, readPostings } from "./postings.ts";

/** What a segment has, and where. Ranges are relative to their part, those of parts to the segment. */
export interface SegmentDirectory {
  readonly docs: number;
  readonly levels: readonly Level[];
  readonly core: Range;
  /** Ids of the documents, by their numbers. */
  readonly ids: Range;
  readonly urns: DictionaryEntry;
  readonly types: FieldEntry;
  readonly terms: DictionaryEntry;
  /** Where the posting list of each term begins. */
  readonly offsets: Range;
  readonly postings: Range;
  readonly fields: readonly { readonly part: Range; readonly entry: FieldEntry }[];
  readonly positions: Range;
}

/** A row of the table of segments. */
export interface SegmentRow {
  readonly id: number;
  /** Ids of the first and the last document that it was built from; no other segment's lie between. */
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly directory: SegmentDirectory;
}

/** Loads a part of a segment: memory that nothing changes. */
export type LoadPart = (part: Range) => Uint8Array;

// A term is the whole folded value of a text, or a word of one, behind a mark.
export const WHOLE_MARK = "v";
export const WORD_MARK = "w";

/** Longer values are indexed by what they begin with; a query for one compares the documents. */
export const wholeUnitsMax = 64;

export const wholeKey = (folded: string): string =>
  (folded.length <= wholeUnitsMax ? folded : folded.slice(0, wholeUnitsMax)).toWellFormed();

export class Segment {
  readonly row: SegmentRow;
  /** The number of documents. */
  readonly docs: number;
  readonly levels: readonly Level[];
  private readonly load: LoadPart;
  private readonly fields = new Map<string, FieldValues | undefined>();
  private loadedCore: Core | undefined;
  private loadedPositions: Uint8Array | undefined;
  private everyDoc: Uint32Array | undefined;

  constructor(row: SegmentRow, load: LoadPart) {
    this.row = row;
    this.docs = row.directory.docs;
    this.levels = row.directory.levels;
    this.load = load;
  }

  private get core(): Core {
    this.loadedCore ??= openCore(this.row.directory, this.load(this.row.directory.core));
    return this.loadedCore;
  }

  get urns(): Dictionary {
    return this.core.urns;
  }

  get terms(): Dictionary {
    return this.core.terms;
  }

  get types(): FieldValues {
    return this.core.types;
  }

  idOf(doc: number): number {
    return this.core.ids[doc] as number;
  }

  /** The number of a document that this segment was built from; -1 for another. */
  docOf(id: number, urn: string): number {
    if (id < this.row.first || id > this.row.last) return -1;
    const doc = this.urns.find(urn);
    return doc >= 0 && this.idOf(doc) === id ? doc : -1;
  }

  /** The posting list of a term, by its ordinal. */
  postings(term: number): Postings {
    const { bytes, offsets } = this.core;
    return readPostings(bytes, offsets[term] as number);
  }

  /** Calls back for each posting of adjacent terms. */
  eachPosting(from: number, to: number, take: (doc: number, level: number) => void): void {
    const { bytes, offsets } = this.core;
    if (from < to) eachPosting(bytes, offsets[from] as number, to - from, take);
  }

  /** The values of a field; undefined if no document has one. */
  field(name: string): FieldValues | undefined {
    if (this.fields.has(name)) return this.fields.get(name);
    const found = this.row.directory.fields.find(({ entry }) => entry.name === name);
    const values =
      found &&
      new FieldValues(
        found.part[1] === 0 ? new Uint8Array() : this.load(found.part),
        found.entry,
        this.urns,
      );
    this.fields.set(name, values);
    return values;
  }

  /** The positions of words. */
  get positions(): Uint8Array {
    this.loadedPositions ??= this.load(this.row.directory.positions);
    return this.loadedPositions;
  }

  /** The numbers of all documents. */
  all(): Uint32Array {
    this.everyDoc ??= Uint32Array.from({ length: this.docs }, (_, doc) => doc);
    return this.everyDoc;
  }
}

interface Core {
  readonly ids: Float64Array;
  readonly urns: Dictionary;
  readonly types: FieldValues;
  readonly terms: Dictionary;
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

function openCore(directory: SegmentDirectory, memory: Uint8Array): Core {
  const urns = new Dictionary(memory, directory.urns);
  return {
    ids: float64Of(memory, directory.ids),
    urns,
    types: new FieldValues(memory, directory.types, urns),
    terms: new Dictionary(memory, directory.terms),
    offsets: uint32Of(memory, directory.offsets),
    bytes: bytesOf(memory, directory.postings),
  };
}

/** The segment among some in the order of their documents whose range has the id. */
export function segmentWith<S extends { readonly row: SegmentRow }>(
  segments: readonly S[],
  id: number,
): S | undefined {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segments[middle] as S).row.last < id) low = middle + 1;
    else high = middle;
  }
  const found = segments[low];
  return found !== undefined && found.row.first <= id ? found : undefined;
}
