import { readFileSync, writeFileSync } from "node:fs";

/** Inverts the last byte of each occurrence of the text in the file: pages may hold unused copies of a row. */
export function flipBitsIn(file: string, text: string): void {
  const bytes = readFileSync(file);
  let count = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    const last = at + Buffer.byteLength(text) - 1;
    bytes.writeUInt8(bytes.readUInt8(last) ^ 0xff, last);
    count++;
  }
  if (count === 0) throw new Error(`"${file}" does not contain "${text}"`);
  writeFileSync(file, bytes);
}
