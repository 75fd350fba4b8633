/**
 * Byte lists: one after the other in a section, found by number. The index has their lengths, and for
 * each block of lists where it begins.
 */
import { ByteReader, ByteWriter, bytesOf, type Range, uint32Of } from "./bytes.ts";

export interface ByteListsEntry {
  readonly lengths: Range;
  /** For each block where its first list begins, and where its lengths do. */
  readonly blocks: Range;
}

const BLOCK = 16;

export class ByteListsWriter {
  /** A list is what is written here until `close`. */
  readonly data = new ByteWriter();
  private readonly lengths = new ByteWriter();
  private readonly blocks: number[] = [];
  private count = 0;
  private closed = 0;

  close(): void {
    if (this.count % BLOCK === 0) this.blocks.push(this.closed, this.lengths.length);
    this.lengths.varint(this.data.length - this.closed);
    this.closed = this.data.length;
    this.count++;
  }

  writeIndex(writer: ByteWriter): ByteListsEntry {
    return {
      lengths: writer.section(this.lengths.view()),
      blocks: writer.section(Uint32Array.from(this.blocks)),
    };
  }
}

export class ByteLists {
  private readonly lengths: Uint8Array;
  private readonly blocks: Uint32Array;

  constructor(memory: Uint8Array, entry: ByteListsEntry) {
    this.lengths = bytesOf(memory, entry.lengths);
    this.blocks = uint32Of(memory, entry.blocks);
  }

  /** Where the lists from one number up to another lie; there is one at least. */
  range(from: number, to: number): Range {
    const [start, end] = this.bounds(from);
    return to === from + 1 ? [start, end - start] : [start, this.bounds(to - 1)[1] - start];
  }

  private bounds(list: number): readonly [start: number, end: number] {
    const block = 2 * Math.floor(list / BLOCK);
    const reader = new ByteReader(this.lengths, this.blocks[block + 1]);
    let start = this.blocks[block] as number;
    for (let left = list % BLOCK; left > 0; left--) start += reader.varint();
    return [start, start + reader.varint()];
  }
}
