/**
 * The terms of one kind in a segment: a dictionary, which is in memory, and for each term a posting
 * list, and of words a list of positions, which are read for each query.
 */
import { ByteLists, type ByteListsEntry, ByteListsWriter } from "./byte-lists.ts";
import type { ByteWriter, Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry, DictionaryWriter } from "./dictionary.ts";
import { eachPosting, type Postings, readPostings, writePostings } from "./postings.ts";

export interface TermsEntry {
  readonly dictionary: DictionaryEntry;
  readonly postings: ListsEntry;
  /** Of words alone. */
  readonly positions?: ListsEntry | undefined;
}

/** Byte lists: `index` in the core, `bytes` in the segment. */
interface ListsEntry {
  readonly index: ByteListsEntry;
  readonly bytes: Range;
}

/** Takes the terms in ascending order, behind what `core` has by then. */
export class TermsWriter {
  private readonly core: ByteWriter;
  private readonly dictionary: DictionaryWriter;
  private readonly postings = new ByteListsWriter();
  private readonly positions = new ByteListsWriter();
  /** The postings of the next term: the first `count` of lists that are reused. */
  private readonly docs: number[] = [];
  private readonly levels: number[] = [];
  private count = 0;

  constructor(core: ByteWriter) {
    this.core = core;
    this.dictionary = new DictionaryWriter(core);
  }

  /** Adds a document, behind all others, to the next term. The positions are a range of `bytes`. */
  posting(doc: number, level: number, bytes: Uint8Array, from: number, to: number): void {
    this.docs[this.count] = doc;
    this.levels[this.count++] = level;
    if (from === to) return;
    this.positions.data.varint(to - from);
    this.positions.data.bytes(bytes, from, to);
  }

  /** The key must stay unchanged until the next call. */
  term(key: Uint8Array): void {
    this.dictionary.add(key);
    writePostings(this.postings.data, this.docs, this.levels, this.count);
    this.postings.close();
    this.positions.close();
    this.count = 0;
  }

  /** Appends the lists to `segment`. */
  end(segment: ByteWriter): TermsEntry {
    const lists = (writer: ByteListsWriter): ListsEntry => ({
      index: writer.writeIndex(this.core),
      bytes: segment.section(writer.data.view()),
    });
    const { dictionary, postings, positions } = this;
    return {
      ...{ dictionary: dictionary.end(), postings: lists(postings) },
      ...(positions.data.length > 0 && { positions: lists(positions) }),
    };
  }
}

/** Reads bytes of a segment. */
export type ReadBytes = (range: Range) => Uint8Array;

export class Terms {
  readonly dictionary: Dictionary;
  private readonly postingLists: StoredLists;
  private readonly positionLists: StoredLists | undefined;

  constructor(core: Uint8Array, { dictionary, postings, positions }: TermsEntry, read: ReadBytes) {
    this.dictionary = new Dictionary(core, dictionary);
    this.postingLists = new StoredLists(core, postings, read);
    this.positionLists = positions && new StoredLists(core, positions, read);
  }

  /** The posting list of a term, by its ordinal. */
  postings(term: number): Postings {
    return readPostings(this.postingLists.bytes(term, term + 1));
  }

  /** Calls back for each posting of adjacent terms. */
  eachPosting(from: number, to: number, take: (doc: number, level: number) => void): void {
    if (from < to) eachPosting(this.postingLists.bytes(from, to), take);
  }

  /** The positions of a word in all its documents. */
  positions(term: number): Uint8Array {
    return this.positionLists?.bytes(term, term + 1) ?? new Uint8Array();
  }
}

class StoredLists {
  private readonly index: ByteLists;
  private readonly start: number;
  private readonly read: ReadBytes;

  constructor(core: Uint8Array, { index, bytes }: ListsEntry, read: ReadBytes) {
    this.index = new ByteLists(core, index);
    this.start = bytes[0];
    this.read = read;
  }

  bytes(from: number, to: number): Uint8Array {
    const [offset, length] = this.index.range(from, to);
    return this.read([this.start + offset, length]);
  }
}
