/** The files that a command was given: that they can be read, and the texts of their records. */
import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import { CatalogError } from "../../core/errors.ts";
import { describeUnreadable, isSystemError, UsageError } from "../failure.ts";
import { readRecords } from "./read-records.ts";

export interface Input {
  /** As messages name it. */
  readonly name: string;
  readonly open: () => Readable;
  /** undefined: not known before its end. */
  readonly bytes: number | undefined;
}

/** A record's text; or the fault that ends the input after that many records. */
interface Read {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  readonly fault?: string | undefined;
}

/** Throws UsageError when one of them cannot be read, before anything is done with the others. */
export const findInputs = (files: readonly string[]): Promise<readonly Input[]> =>
  Promise.all(files.map(findInput));

async function findInput(file: string): Promise<Input> {
  if (file === "-") return { name: "stdin", open: () => process.stdin, bytes: undefined };
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new UsageError(`"${file}" is a directory; name its files`);
    await access(file, constants.R_OK);
    return {
      name: file,
      open: () => createReadStream(file, { highWaterMark: 2 ** 18 }),
      bytes: found.isFile() ? found.size : undefined,
    };
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(describeUnreadable(file, error));
    throw error;
  }
}

/** Ends after an input error, which is reported and not thrown. Rejects when the signal aborts. */
export async function* readInput(
  input: Input,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (bytes: number) => void },
): AsyncGenerator<Read> {
  let number = 0;
  try {
    for await (const text of readRecords(counted(addAbortSignal(signal, input.open()), onBytes))) {
      yield { number: ++number, text };
    }
  } catch (error) {
    if (!(error instanceof CatalogError) && !isSystemError(error)) throw error;
    yield { number, text: "", fault: error instanceof CatalogError ? error.text : error.message };
  }
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    onBytes(chunk.length);
  }
}
