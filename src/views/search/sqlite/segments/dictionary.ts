/**
 * A sorted list of distinct texts: the term dictionary of a segment, its urns, the values of a
 * field. The index of a text is its ordinal. The UTF-8 is front-coded in blocks: each text except
 * the first of a block stores only the suffix that differs from the previous text. In a term
 * dictionary, the length of its posting list follows each text. The order is by UTF-16 code unit.
 */
import { ByteReader, type ByteWriter, bytesOf, firstNot, type Range, uint32Of } from "./bytes.ts";

export interface DictionaryEntry {
  readonly count: number;
  readonly texts: Range;
  /** The start of each block in `texts`. */
  readonly blocks: Range;
  /** In a term dictionary: the start of the posting lists of each block. */
  readonly lists?: Range | undefined;
}

const BLOCK = 16;

/** Texts must be well-formed and added in ascending order. */
export class DictionaryWriter {
  private readonly writer: ByteWriter;
  private readonly start: number;
  private readonly blocks: number[] = [];
  private readonly lists: number[] = [];
  private before: Uint8Array = new Uint8Array();
  private count = 0;

  constructor(writer: ByteWriter) {
    this.writer = writer;
    writer.align();
    this.start = writer.length;
  }

  /** `list`: the range of the term's posting list. */
  add(text: string, list?: Range): void {
    const { writer, before } = this;
    const bytes = Buffer.from(text);
    let shared = 0;
    if (this.count % BLOCK === 0) {
      this.blocks.push(writer.length - this.start);
      if (list !== undefined) this.lists.push(list[0]);
    } else {
      const length = Math.min(bytes.length, before.length);
      while (shared < length && bytes[shared] === before[shared]) shared++;
      writer.varint(shared);
    }
    writer.varint(bytes.length - shared);
    writer.bytes(bytes.subarray(shared));
    if (list !== undefined) writer.varint(list[1]);
    this.before = bytes;
    this.count++;
  }

  end(): DictionaryEntry {
    const { writer, count, blocks, lists } = this;
    const texts: Range = [this.start, writer.length - this.start];
    return {
      ...{ count, texts, blocks: writer.section(Uint32Array.from(blocks)) },
      ...(lists.length > 0 && { lists: writer.section(Uint32Array.from(lists)) }),
    };
  }
}

export class Dictionary {
  readonly count: number;
  private readonly texts: Buffer;
  private readonly blocks: Uint32Array;
  private readonly lists: Uint32Array | undefined;

  constructor(memory: Uint8Array, entry: DictionaryEntry) {
    this.count = entry.count;
    const texts = bytesOf(memory, entry.texts);
    this.texts = Buffer.from(texts.buffer as ArrayBuffer, texts.byteOffset, texts.length);
    this.blocks = uint32Of(memory, entry.blocks);
    this.lists = entry.lists && uint32Of(memory, entry.lists);
  }

  /** The ordinal of a text, or -1. */
  find(text: string): number {
    const cursor = this.seek((other) => other < text);
    return cursor.ordinal < this.count && cursor.text() === text ? cursor.ordinal : -1;
  }

  /** The ordinal of the first text that does not sort before this one. */
  lowerBound(text: string): number {
    return this.seek((other) => other < text).ordinal;
  }

  /** The ordinals of the texts that begin with this one. */
  prefixRange(text: string): readonly [from: number, to: number] {
    const end = this.seek((other) => other < text || other.startsWith(text));
    return [this.lowerBound(text), end.ordinal];
  }

  text(ordinal: number): string {
    return this.cursor(ordinal).text();
  }

  /** Iterates over the texts of a range; faster than calling `text` for each. */
  eachText(from: number, to: number, take: (text: string, ordinal: number) => void): void {
    if (from >= to) return;
    for (const cursor = this.cursor(from); cursor.ordinal < to; cursor.next()) {
      take(cursor.text(), cursor.ordinal);
    }
  }

  cursor(ordinal: number): Cursor {
    const block = Math.floor(ordinal / BLOCK);
    const reader = new ByteReader(this.texts, this.blocks[block]);
    const cursor = new Cursor(reader, block * BLOCK - 1, this.count, this.lists?.[block]);
    do cursor.next();
    while (cursor.ordinal < ordinal && cursor.ordinal < this.count);
    return cursor;
  }

  private firstText(block: number): string {
    const reader = new ByteReader(this.texts, this.blocks[block]);
    const length = reader.varint();
    return this.texts.toString("utf8", reader.at, reader.at + length);
  }

  /** A cursor at the first text for which `isBefore` is false. */
  private seek(isBefore: (text: string) => boolean): Cursor {
    const block = firstNot(0, this.blocks.length, (n) => isBefore(this.firstText(n)));
    const cursor = this.cursor(Math.max(0, block - 1) * BLOCK);
    while (cursor.ordinal < this.count && isBefore(cursor.text())) cursor.next();
    return cursor;
  }
}

/** Iterates over a dictionary; at the end, `ordinal` is the number of texts. */
class Cursor {
  ordinal: number;
  /** The range of the posting list, in a term dictionary. */
  list: number;
  listLength = 0;
  private readonly count: number;
  private readonly reader: ByteReader;
  private readonly hasLists: boolean;
  /** The first `length` bytes are the UTF-8 of the text. */
  private bytes = Buffer.allocUnsafe(64);
  private length = 0;

  constructor(reader: ByteReader, ordinal: number, count: number, list: number | undefined) {
    this.reader = reader;
    this.ordinal = ordinal;
    this.count = count;
    this.hasLists = list !== undefined;
    this.list = list ?? 0;
  }

  next(): void {
    this.ordinal++;
    if (this.ordinal >= this.count) return;
    const { reader } = this;
    const shared = this.ordinal % BLOCK === 0 ? 0 : reader.varint();
    this.length = shared + reader.varint();
    if (this.length > this.bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.length);
      this.bytes.copy(larger, 0, 0, shared);
      this.bytes = larger;
    }
    const { bytes } = this;
    for (let at = shared; at < this.length; at++) bytes[at] = reader.buffer[reader.at++] as number;
    if (!this.hasLists) return;
    this.list += this.listLength;
    this.listLength = reader.varint();
  }

  text(): string {
    return this.bytes.toString("utf8", 0, this.length);
  }
}
