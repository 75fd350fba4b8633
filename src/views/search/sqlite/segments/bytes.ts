/** Bytes of a segment: a growing writer and variable-length integers. Numbers are little-endian. */

export type Range = readonly [offset: number, length: number];

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const ALIGNMENT = 8;
const FIRST_BYTES = 1_024;

export class ByteWriter {
  buffer = Buffer.allocUnsafe(FIRST_BYTES);
  length = 0;

  /** Grows the buffer for `count` more bytes. */
  private reserve(count: number): void {
    if (this.length + count <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.length + count, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }

  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.buffer[this.length++] = rest;
  }

  bytes(source: Uint8Array): void {
    this.reserve(source.length);
    this.buffer.set(source, this.length);
    this.length += source.length;
  }

  align(): void {
    this.reserve(ALIGNMENT);
    while (this.length % ALIGNMENT !== 0) this.buffer[this.length++] = 0;
  }

  /** Appends an aligned section. */
  section(numbers: Numbers): Range {
    this.align();
    const offset = this.length;
    this.bytes(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
    return [offset, numbers.byteLength];
  }

  view(): Buffer {
    return this.buffer.subarray(0, this.length);
  }
}

/** Reads variable-length integers one after the other. */
export class ByteReader {
  buffer: Uint8Array;
  at: number;
  constructor(buffer: Uint8Array, at = 0) {
    this.buffer = buffer;
    this.at = at;
  }
  varint(): number {
    const { buffer } = this;
    let value = buffer[this.at++] as number;
    if (value < 0x80) return value;
    value &= 0x7f;
    for (let factor = 0x80; ; factor *= 0x80) {
      const byte = buffer[this.at++] as number;
      value += (byte & 0x7f) * factor;
      // The byte is undefined at the end of a damaged buffer.
      if (!(byte >= 0x80)) return value;
    }
  }
}

export const bytesOf = (memory: Uint8Array, [offset, length]: Range): Uint8Array =>
  memory.subarray(offset, offset + length);

export const uint32Of = (memory: Uint8Array, [offset, length]: Range): Uint32Array =>
  new Uint32Array(memory.buffer, memory.byteOffset + offset, length / 4);

export const float64Of = (memory: Uint8Array, [offset, length]: Range): Float64Array =>
  new Float64Array(memory.buffer, memory.byteOffset + offset, length / 8);

/** Whole numbers of the size that `narrowed` selected. */
export function integersOf(memory: Uint8Array, [offset, length]: Range, count: number): Numbers {
  const start = memory.byteOffset + offset;
  if (length === count) return new Uint8Array(memory.buffer, start, count);
  if (length === 2 * count) return new Uint16Array(memory.buffer, start, count);
  if (length === 4 * count) return new Uint32Array(memory.buffer, start, count);
  return new Float64Array(memory.buffer, start, count);
}

/** The integers in the narrowest type that fits 0 to `greatest`. */
export function narrowed(numbers: ArrayLike<number>, greatest: number): Numbers {
  if (greatest <= 0xff) return Uint8Array.from(numbers);
  if (greatest <= 0xffff) return Uint16Array.from(numbers);
  return greatest <= 0xffffffff ? Uint32Array.from(numbers) : Float64Array.from(numbers);
}

/** Binary search: the first number of the range for which `isBefore` is false, or `to`. */
export function firstNot(from: number, to: number, isBefore: (n: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
