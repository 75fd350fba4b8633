/**
 * A short text that is made once and kept in a file of the data directory, for its owner's eyes
 * only. It is there whole or not at all, whenever the process ends.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { CatalogError } from "../core/errors.ts";

/** Of its owner alone: reading and writing. */
const OWNER_ONLY = 0o600;

/** Gives the text of the file; `make` gives it where there is none yet. */
export function keepText(file: string, make: () => string): { text: string; made: boolean } {
  try {
    if (existsSync(file)) return { text: readFileSync(file, "utf8").trim(), made: false };
    const text = make();
    const beside = `${file}.new`;
    // One that is left of an ended process, or was put there, would keep its mode.
    rmSync(beside, { force: true });
    const descriptor = openSync(beside, "wx", OWNER_ONLY);
    try {
      writeFileSync(descriptor, `${text}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(beside, file);
    return { text, made: true };
  } catch (cause) {
    throw new CatalogError("invalid", `cannot read or make the file "${file}"`, {
      hint: `${(cause as Error).message}. Look whether this user may read it, and write its directory`,
      cause,
    });
  }
}
