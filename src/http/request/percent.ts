/**
 * Percent-decoding, once. Node represents the target with one character per byte; clients send it
 * encoded, partly encoded or raw. Escapes are decoded, all other characters stay.
 */
import { isUtf8 } from "node:buffer";
import { CatalogError } from "../../core/errors.ts";

/** Escapes or bytes beyond ASCII: text without them needs no decoding. */
const CODED = /[%\u0080-\uffff]/;
const BEYOND_ASCII = /[\u0080-\uffff]/;

/**
 * `plusIsBlank` is the form encoding of protocol 1.0.0. Throws `malformed` when the bytes are not
 * UTF-8.
 *
 *   "a%2Fb%252C%zz" → "a/b%2C%zz"
 */
export function decodeOnce(raw: string, plusIsBlank: boolean): string {
  const text = plusIsBlank && raw.includes("+") ? raw.replaceAll("+", " ") : raw;
  if (!CODED.test(text)) return text;
  if (!BEYOND_ASCII.test(text)) {
    try {
      return decodeURIComponent(text);
    } catch {
      // An invalid escape, or invalid UTF-8: the byte-wise decoder below distinguishes them.
    }
  }
  return decodeBytes(text);
}

function decodeBytes(text: string): string {
  // Characters beyond Latin-1 come only from within the process and stand for their UTF-8 bytes.
  const source = Buffer.from(text, /[\u0100-\uffff]/.test(text) ? "utf8" : "latin1");
  const bytes = Buffer.allocUnsafe(source.length);
  let length = 0;
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] ?? 0;
    const high = byte === 0x25 ? hexDigit(source[i + 1]) : -1;
    const low = high < 0 ? -1 : hexDigit(source[i + 2]);
    if (low < 0) {
      bytes[length++] = byte;
    } else {
      bytes[length++] = high * 16 + low;
      i += 2;
    }
  }
  const decoded = bytes.subarray(0, length);
  if (isUtf8(decoded)) return decoded.toString("utf8");
  const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  throw new CatalogError("malformed", `"${shown}" is not UTF-8`, {
    hint: "Percent-encode the UTF-8 bytes of the text: é is %C3%A9",
  });
}

/** -1 for other characters than hexadecimal digits. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
