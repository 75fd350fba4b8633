/**
 * Files with keys and tokens are for their owner's eyes. Those of the data directory are made so, and
 * made so again at a start that finds them open. Those that somebody else keeps are not changed: who
 * may write one could let themselves in, so that such a file is refused; who may read one is told of
 * in the log, since secrets that are mounted into containers are often readable by all in there.
 */
import { chmodSync, statSync } from "node:fs";
import { CatalogError } from "../core/errors.ts";

interface SecretFile {
  readonly file: string;
  /** Of the data directory; otherwise somebody else keeps it. */
  readonly own: boolean;
}

export interface Warning {
  warn(fields: object, message: string): void;
}

const OWNER_ONLY = 0o600;
const READ_BY_OTHERS = 0o044;
const WRITTEN_BY_OTHERS = 0o022;

/** Throws `invalid` for a file kept elsewhere that others may write. The file is there. */
export function keepFromOthers({ file, own }: SecretFile, logger: Warning): void {
  // Modes say nothing there.
  if (process.platform === "win32") return;
  const mode = statSync(file).mode & 0o777;
  if ((mode & (READ_BY_OTHERS | WRITTEN_BY_OTHERS)) === 0) return;
  const fields = { file, mode: mode.toString(8).padStart(4, "0") };
  if (own) {
    mend(fields, logger);
  } else if ((mode & WRITTEN_BY_OTHERS) === 0) {
    logger.warn(fields, "others may read this secret: chmod 600 the file, where they should not");
  } else {
    throw new CatalogError("invalid", `others may write "${file}" (its mode is ${fields.mode})`, {
      hint: "Who may write it could let themselves in: chmod 600 it, and look whether its text is yours",
    });
  }
}

function mend(fields: { readonly file: string }, logger: Warning): void {
  try {
    chmodSync(fields.file, OWNER_ONLY);
    logger.warn(fields, "others could read this secret until now: make another if they should not");
  } catch (err) {
    logger.warn({ ...fields, err }, "others may read this secret, and its mode cannot be changed");
  }
}
