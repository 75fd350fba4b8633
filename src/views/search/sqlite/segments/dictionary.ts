/**
 * A sorted list of distinct texts: the term dictionary of a segment, its urns, the values of a
 * field. The number of a text in it is its ordinal. Keys (bytes.ts) are front-coded in blocks: each
 * but the first of a block stores only what differs from the key before it. In a term dictionary
 * each key is followed by the length of its posting list.
 */
import { isAscii } from "node:buffer";
import {
  ByteReader,
  ByteWriter,
  bytesOf,
  keyOf,
  type Range,
  textOfKey,
  uint32Of,
} from "./bytes.ts";

export interface DictionaryEntry {
  readonly count: number;
  readonly keys: Range;
  /** Where each block begins in the keys. */
  readonly blocks: Range;
  /** Of a term dictionary: where the posting lists of each block begin. */
  readonly lists?: Range | undefined;
}

const BLOCK = 16;
/** `eachText` makes one string of keys of so many bytes, and slices it. */
const TOGETHER_BYTES = 4_096;

/** Takes keys in ascending order. */
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

  /** `list`: where the posting list of a term is. */
  add(key: Uint8Array, list?: Range): void {
    const { writer, before } = this;
    if (this.count % BLOCK === 0) {
      if (list !== undefined) this.lists.push(list[0]);
      this.blocks.push(writer.length - this.start);
      writer.varint(key.length);
      writer.bytes(key);
    } else {
      const length = Math.min(key.length, before.length);
      let shared = 0;
      while (shared < length && key[shared] === before[shared]) shared++;
      writer.varint(shared);
      writer.varint(key.length - shared);
      writer.bytes(key, shared);
    }
    if (list !== undefined) writer.varint(list[1]);
    this.before = key;
    this.count++;
  }

  end(): DictionaryEntry {
    const { writer, count, blocks, lists } = this;
    const keys: Range = [this.start, writer.length - this.start];
    return {
      ...{ count, keys, blocks: writer.section(Uint32Array.from(blocks)) },
      ...(lists.length > 0 && { lists: writer.section(Uint32Array.from(lists)) }),
    };
  }
}

export class Dictionary {
  readonly count: number;
  private readonly keys: Buffer;
  private readonly blocks: Uint32Array;
  private readonly lists: Uint32Array | undefined;

  constructor(memory: Uint8Array, entry: DictionaryEntry) {
    this.count = entry.count;
    const keys = bytesOf(memory, entry.keys);
    this.keys = Buffer.from(keys.buffer as ArrayBuffer, keys.byteOffset, keys.length);
    this.blocks = uint32Of(memory, entry.blocks);
    this.lists = entry.lists && uint32Of(memory, entry.lists);
  }

  /** The ordinal of a text; -1 without one. */
  find(text: string): number {
    const key = keyOf(text);
    const cursor = this.seek(key);
    return cursor.ordinal < this.count && cursor.compare(key) === 0 ? cursor.ordinal : -1;
  }

  /** The ordinal of the first text that is not before this one. */
  lowerBound(text: string): number {
    return this.seek(keyOf(text)).ordinal;
  }

  /** The ordinals of the texts that begin with this one. */
  prefixRange(text: string): readonly [from: number, to: number] {
    const key = keyOf(text);
    // No key has such a byte.
    return [this.seek(key).ordinal, this.seek(Buffer.concat([key, Buffer.of(0xff)])).ordinal];
  }

  text(ordinal: number): string {
    return this.cursor(ordinal).text();
  }

  /** Calls back for the texts of a range in order; cheaper than `text` for each of them. */
  eachText(from: number, to: number, take: (text: string, ordinal: number) => void): void {
    if (from >= to) return;
    const cursor = this.cursor(from);
    const keys = new ByteWriter();
    const ends: number[] = [];
    for (let ordinal = from; ordinal < to; ) {
      keys.length = ends.length = 0;
      for (; cursor.ordinal < to && keys.length < TOGETHER_BYTES; cursor.next()) {
        keys.bytes(cursor.key, 0, cursor.length);
        ends.push(keys.length);
      }
      const ascii = isAscii(keys.view()) ? keys.view().toString("latin1") : undefined;
      let start = 0;
      for (const end of ends) {
        const text = ascii?.slice(start, end) ?? textOfKey(keys.buffer, start, end);
        take(text, ordinal++);
        start = end;
      }
    }
  }

  /** A cursor at an ordinal. */
  cursor(ordinal: number): Cursor {
    const block = Math.floor(ordinal / BLOCK);
    const reader = new ByteReader(this.keys, this.blocks[block]);
    const cursor = new Cursor(reader, this.count, this.lists?.[block]);
    cursor.ordinal = block * BLOCK - 1;
    do cursor.next();
    while (cursor.ordinal < ordinal && cursor.ordinal < this.count);
    return cursor;
  }

  private seek(key: Uint8Array): Cursor {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareFirst(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    // The first key of the block before is less.
    const cursor = this.cursor(Math.max(0, low - 1) * BLOCK);
    while (cursor.ordinal < this.count && cursor.compare(key) < 0) cursor.next();
    return cursor;
  }

  private compareFirst(block: number, key: Uint8Array): number {
    const reader = new ByteReader(this.keys, this.blocks[block]);
    const length = reader.varint();
    return this.keys.compare(key, 0, key.length, reader.at, reader.at + length);
  }
}

/** Goes through a dictionary in order; `ordinal` is the count behind the last one. */
class Cursor {
  ordinal = 0;
  /** The key is the first `length` bytes. */
  key = Buffer.allocUnsafe(64);
  length = 0;
  /** Of a term: the range of its posting list. */
  list: number;
  listLength = 0;
  readonly count: number;
  private readonly reader: ByteReader;
  private readonly hasLists: boolean;

  constructor(reader: ByteReader, count: number, list: number | undefined) {
    this.reader = reader;
    this.count = count;
    this.hasLists = list !== undefined;
    this.list = list ?? 0;
  }

  next(): void {
    this.ordinal++;
    if (this.ordinal >= this.count) return;
    const { reader } = this;
    const shared = this.ordinal % BLOCK === 0 ? 0 : reader.varint();
    const added = reader.varint();
    this.length = shared + added;
    if (this.length > this.key.length) {
      const larger = Buffer.allocUnsafe(2 * this.length);
      this.key.copy(larger, 0, 0, shared);
      this.key = larger;
    }
    const { key } = this;
    for (let at = shared; at < this.length; at++) key[at] = reader.buffer[reader.at++] as number;
    if (!this.hasLists) return;
    this.list += this.listLength;
    this.listLength = reader.varint();
  }

  /** Below 0 if the key comes before another. */
  compare(other: Uint8Array): number {
    return this.key.compare(other, 0, other.length, 0, this.length);
  }

  text(): string {
    return textOfKey(this.key, 0, this.length);
  }
}
