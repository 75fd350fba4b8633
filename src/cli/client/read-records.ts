/**
 * Splits an input into the texts of its records: the elements of a JSON array, the lines of a file
 * of JSON lines, or one record spread over lines. Streams: memory holds one record, whatever the
 * size of the input.
 *
 * Only splits. Whether a text is JSON is found by who parses it, so that one bad line costs one
 * record and not the rest of the file.
 */
import { CatalogError } from "../../core/errors.ts";

/** More than any request takes; what is longer is no record but a mistake. */
const recordCharactersMax = 2 ** 27;

/** Throws CatalogError `malformed` when the input cannot be split any further. */
export async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let splitter: Splitter | undefined;
  let unsplit = "";
  for await (const chunk of decode(chunks)) {
    unsplit += chunk;
    splitter ??= splitterFor(unsplit);
    if (splitter === undefined) continue;
    yield* splitter.push(unsplit);
    unsplit = "";
  }
  splitter ??= splitLines();
  yield* splitter.push(unsplit);
  yield* splitter.end();
}

interface Splitter {
  push(chunk: string): Iterable<string>;
  end(): Iterable<string>;
}

/** Decided by the first line that is not blank; undefined while too little of it is known. */
function splitterFor(opening: string): Splitter | undefined {
  const start = opening.trimStart();
  if (start.startsWith("[")) return splitArray();
  const lineEnd = start.indexOf("\n");
  if (start === "" || lineEnd < 0)
    return start.length > recordCharactersMax ? splitLines() : undefined;
  // How every printer begins an object that it spreads over lines.
  return start.slice(0, lineEnd).trim() === "{" ? takeWhole() : splitLines();
}

function splitLines(): Splitter {
  const line = createPiece();
  return {
    *push(chunk) {
      let from = 0;
      for (let to = chunk.indexOf("\n"); to >= 0; to = chunk.indexOf("\n", from)) {
        line.add(chunk.slice(from, to));
        from = to + 1;
        const text = line.take();
        if (text !== "") yield text;
      }
      line.add(chunk.slice(from));
    },
    *end() {
      const text = line.take();
      if (text !== "") yield text;
    },
  };
}

function takeWhole(): Splitter {
  const whole = createPiece();
  return {
    push(chunk) {
      whole.add(chunk);
      return [];
    },
    end: () => [whole.take()],
  };
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const opens = (c: number): boolean => c === 0x5b || c === 0x7b;
const closes = (c: number): boolean => c === 0x5d || c === 0x7d;

/** Follows strings and brackets; an element ends at a comma or bracket outside all of them. */
function splitArray(): Splitter {
  const element = createPiece();
  let depth = 0;
  let inString = false;
  let escaped = false;
  let elements = 0;
  let ended = false;

  function* push(chunk: string): Iterable<string> {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk.charCodeAt(i);
      if (inString) {
        if (escaped) escaped = false;
        else if (c === backslash) escaped = true;
        else if (c === quote) inString = false;
        continue;
      }
      if (c === quote) inString = true;
      else if (opens(c)) {
        depth++;
        if (depth === 1) from = i + 1; // The array's own bracket.
      } else if (closes(c)) depth--;
      const ends = (depth === 1 && c === comma) || (depth === 0 && closes(c));
      if (!ends || ended) continue;
      element.add(chunk.slice(from, i));
      from = i + 1;
      ended = depth === 0;
      const text = element.take();
      if (ended && text === "" && elements === 0) continue; // []
      elements++;
      yield text;
    }
    element.add(chunk.slice(from));
  }

  return {
    push,
    *end() {
      const rest = element.take();
      if (!ended && rest !== "") yield rest;
      if (!ended) throw new CatalogError("malformed", "the array does not end");
      if (rest !== "") throw new CatalogError("malformed", "something follows the array");
    },
  };
}

/** Text that arrives in pieces. Joined once, when it is whole. */
function createPiece(): { add(text: string): void; take(): string } {
  let parts: string[] = [];
  let length = 0;
  return {
    add(text) {
      length += text.length;
      if (length > recordCharactersMax) {
        throw new CatalogError(
          "too_large",
          `a record has more than ${recordCharactersMax} characters`,
          { hint: "Give one record a line, or an array of records" },
        );
      }
      if (text !== "") parts.push(text);
    },
    take() {
      const text = parts.join("").trim();
      parts = [];
      length = 0;
      return text;
    },
  };
}

async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== "") yield text;
    }
    const rest = decoder.decode();
    if (rest !== "") yield rest;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CatalogError("malformed", "the text is not UTF-8", { cause: error });
  }
}
