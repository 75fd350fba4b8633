/** The content codings of responses and request bodies: gzip, brotli and Zstandard (RFC 9110 §8.4, RFC 9659). */
import type { Transform } from "node:stream";
import {
  brotliCompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gzip,
  zstdCompress,
} from "node:zlib";

export type Coding = "zstd" | "br" | "gzip";

/** `fast` for a text that is sent once, `small` for one that is sent many times. */
type Effort = "fast" | "small";

/** In order of preference: speed first, at about the same size. */
const allCodings: readonly Coding[] = ["zstd", "br", "gzip"];
const WEIGHT = /^q=(\d(?:\.\d{1,3})?)$/i;

/**
 * The coding of `codings` that an Accept-Encoding header prefers; undefined if it accepts none. A client that rejects
 * an uncompressed response as well still gets one, as RFC 9110 §12.5.3 allows.
 */
export function codingFor(
  accepted: string,
  codings: readonly Coding[] = allCodings,
): Coding | undefined {
  const weights = new Map<string, number>();
  for (const text of accepted.toLowerCase().split(",")) {
    const [name = "", parameter] = text.split(";").map((part) => part.trim());
    const weight = parameter === undefined ? 1 : Number(WEIGHT.exec(parameter)?.[1] ?? 0);
    if (!weights.has(name)) weights.set(name, weight);
  }
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight <= bestWeight) continue;
    best = coding;
    bestWeight = weight;
  }
  return best;
}

const CHUNK_BYTES = 64 * 1024;
const levels = {
  fast: { zstd: 3, br: 4, gzip: 4 },
  small: { zstd: 15, br: 9, gzip: 9 },
} as const;

/** Compresses in the thread pool of the process, so that the main thread stays free. */
export function compress(text: string, coding: Coding, effort: Effort): Promise<Buffer> {
  const bytes = Buffer.from(text);
  const level = levels[effort][coding];
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, compressed: Buffer): void =>
      error === null ? resolve(compressed) : reject(error);
    if (coding === "gzip") {
      gzip(bytes, { level, chunkSize: CHUNK_BYTES }, done);
    } else if (coding === "br") {
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: level,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      };
      brotliCompress(bytes, { params, chunkSize: CHUNK_BYTES }, done);
    } else {
      const params = { [constants.ZSTD_c_compressionLevel]: level };
      zstdCompress(bytes, { params, chunkSize: CHUNK_BYTES, pledgedSrcSize: bytes.length }, done);
    }
  });
}

/** Names of the codings that request bodies may have, for messages. */
export const readableCodings = "gzip, deflate, br or zstd";

/** A decoder of request bodies in a coding; undefined for an unknown one. */
export function createDecoder(coding: string): Transform | undefined {
  const options = { chunkSize: CHUNK_BYTES };
  switch (coding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip(options);
    case "deflate":
      return createInflate(options);
    case "br":
      return createBrotliDecompress(options);
    case "zstd":
      // RFC 9659: a window of at most 8 MiB.
      return createZstdDecompress({
        ...options,
        params: { [constants.ZSTD_d_windowLogMax]: 23 },
      });
  }
  return undefined;
}
