/**
 * Byte lists of a segment, found by number. They lie one after the other. The core has their lengths,
 * and for each block of lists where it begins.
 */
import { ByteReader, ByteWriter, bytesOf, type Range, uint32Of } from "./bytes.ts";

export interface ByteListsEntry {
  readonly lengths: Range;
  /** For each block where its first list begins, and where its lengths do. */
  readonly blocks: Range;
  /** The lists: a range of the segment. */
  readonly lists: Range;
}

/** Reads bytes of a segment. */
export type ReadBytes = (range: Range) => Uint8Array;

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

  end(core: ByteWriter, segment: ByteWriter): ByteListsEntry {
    return {
      lengths: core.section(this.lengths.view()),
      blocks: core.section(Uint32Array.from(this.blocks)),
      lists: segment.section(this.data.view()),
    };
  }
}

export class ByteLists {
  private readonly lengths: Uint8Array;
  private readonly blocks: Uint32Array;
  private readonly start: number;
  private readonly read: ReadBytes;

  constructor(core: Uint8Array, { lengths, blocks, lists }: ByteListsEntry, read: ReadBytes) {
    this.lengths = bytesOf(core, lengths);
    this.blocks = uint32Of(core, blocks);
    this.start = lists[0];
    this.read = read;
  }

  /** The bytes of the lists from one number up to another; there is one at least. */
  bytes(from: number, to: number): Uint8Array {
    const [start, end] = this.bounds(from);
    const last = to === from + 1 ? end : this.bounds(to - 1)[1];
    return this.read([this.start + start, last - start]);
  }

  private bounds(list: number): readonly [start: number, end: number] {
    const block = 2 * Math.floor(list / BLOCK);
    const reader = new ByteReader(this.lengths, this.blocks[block + 1]);
    let start = this.blocks[block] as number;
    for (let left = list % BLOCK; left > 0; left--) start += reader.varint();
    return [start, start + reader.varint()];
  }
}
