/**
 * The terms of one kind in a segment: a dictionary, which is in memory, and for each term a posting
 * list, and of words a list of positions, which are read for each query.
 */
import { ByteLists, type ByteListsEntry, ByteListsWriter, type ReadBytes } from "./byte-lists.ts";
import type { ByteWriter } from "./bytes.ts";
import { Dictionary, type DictionaryEntry, DictionaryWriter } from "./dictionary.ts";
import { eachPosting, type Postings, readPostings, writePostings } from "./postings.ts";

export interface TermsEntry {
  readonly dictionary: DictionaryEntry;
  readonly postings: ByteListsEntry;
  /** Of words alone. */
  readonly positions?: ByteListsEntry | undefined;
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
    const { core, dictionary, postings, positions } = this;
    return {
      ...{ dictionary: dictionary.end(), postings: postings.end(core, segment) },
      ...(positions.data.length > 0 && { positions: positions.end(core, segment) }),
    };
  }
}

export class Terms {
  readonly dictionary: Dictionary;
  private readonly postingLists: ByteLists;
  private readonly positionLists: ByteLists | undefined;

  constructor(core: Uint8Array, { dictionary, postings, positions }: TermsEntry, read: ReadBytes) {
    this.dictionary = new Dictionary(core, dictionary);
    this.postingLists = new ByteLists(core, postings, read);
    this.positionLists = positions && new ByteLists(core, positions, read);
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
