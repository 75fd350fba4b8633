/**
 * Bytes of a segment: a growing writer, variable-length integers and keys. Numbers are
 * little-endian. A key encodes each UTF-16 code unit by itself in one to three bytes (CESU-8), so
 * that keys compare byte by byte as their texts compare in JavaScript.
 */

/** Position and length of a section, in bytes. */
export type Range = readonly [offset: number, length: number];

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const ALIGNMENT = 8;
const FIRST_BYTES = 1_024;
/** So few bytes are copied faster in a loop. */
const LOOP_MAX = 48;

export class ByteWriter {
  buffer = Buffer.allocUnsafe(FIRST_BYTES);
  length = 0;

  /** Makes room for `count` more bytes. */
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

  bytes(source: Uint8Array, from = 0, to = source.length): void {
    const count = to - from;
    this.reserve(count);
    if (count > LOOP_MAX) this.buffer.set(source.subarray(from, to), this.length);
    else
      for (let at = 0; at < count; at++)
        this.buffer[this.length + at] = source[from + at] as number;
    this.length += count;
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

/** Reads variable-length integers from a position that it moves. */
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
      // The end of a damaged buffer ends the number.
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

/** The same whole numbers in the fewest bytes; none is below 0 or greater than `greatest`. */
export function narrowed(numbers: ArrayLike<number>, greatest: number): Numbers {
  if (greatest <= 0xff) return Uint8Array.from(numbers);
  if (greatest <= 0xffff) return Uint16Array.from(numbers);
  return greatest <= 0xffffffff ? Uint32Array.from(numbers) : Float64Array.from(numbers);
}

/** The key of a well-formed text. */
export function keyOf(text: string): Buffer {
  // Without a character beyond ASCII, UTF-8 is the same and native.
  const quick = Buffer.from(text, "utf8");
  return quick.length === text.length || !/[\ud800-\udfff]/.test(text) ? quick : unitKey(text);
}

function unitKey(text: string): Buffer {
  const key = Buffer.allocUnsafe(3 * text.length);
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) key[end++] = unit;
    else if (unit < 0x800) {
      key[end++] = 0xc0 | (unit >> 6);
      key[end++] = 0x80 | (unit & 0x3f);
    } else {
      key[end++] = 0xe0 | (unit >> 12);
      key[end++] = 0x80 | ((unit >> 6) & 0x3f);
      key[end++] = 0x80 | (unit & 0x3f);
    }
  }
  return key.subarray(0, end);
}

/** The text of a key. */
export function textOfKey(key: Buffer, from: number, to: number): string {
  let wide = false;
  for (let at = from; at < to; at++) {
    const byte = key[at] as number;
    // Half a surrogate pair.
    if (byte === 0xed && (key[at + 1] as number) >= 0xa0) return textOfUnits(key, from, to);
    wide ||= byte >= 0x80;
  }
  return wide ? key.toString("utf8", from, to) : key.toString("latin1", from, to);
}

function textOfUnits(key: Buffer, from: number, to: number): string {
  let text = "";
  for (let at = from; at < to; ) {
    const byte = key[at++] as number;
    const second = () => (key[at++] as number) & 0x3f;
    if (byte < 0x80) text += String.fromCharCode(byte);
    else if (byte < 0xe0) text += String.fromCharCode(((byte & 0x1f) << 6) | second());
    else text += String.fromCharCode(((byte & 0xf) << 12) | (second() << 6) | second());
  }
  return text;
}
