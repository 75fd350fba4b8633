/**
 * A short text that is created once and stored in a file of the data directory, readable by its
 * owner only. The file is written atomically: it is complete or absent, whenever the process ends.
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

/** Readable and writable by the owner only. */
const OWNER_ONLY = 0o600;

/** Returns the text of the file; `make` creates it if the file does not exist. */
export function keepText(file: string, make: () => string): { text: string; made: boolean } {
  try {
    if (existsSync(file)) return { text: readFileSync(file, "utf8").trim(), made: false };
    const text = make();
    const beside = `${file}.new`;
    // An existing temporary file would keep its mode.
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
    throw new CatalogError("invalid", `cannot read or create the file "${file}"`, {
      hint: `${(cause as Error).message}. Check that this user may read the file and write to its directory`,
      cause,
    });
  }
}
