/**
 * Restricts files with keys and tokens to their owner. Files in the data directory get mode 600 when
 * they are created and at each start. Files from elsewhere stay unchanged: one that others may write is
 * rejected, because they could replace the secret. One that others may read is logged, because secrets
 * mounted into containers are often readable for all users.
 */
import { chmodSync, statSync } from "node:fs";
import { CatalogError } from "../../core/errors.ts";

interface SecretFile {
  readonly file: string;
  /** True for a file in the data directory, false for one from elsewhere. */
  readonly own: boolean;
}

export interface Warning {
  warn(fields: object, message: string): void;
}

const OWNER_ONLY = 0o600;
const READ_BY_OTHERS = 0o044;
const WRITTEN_BY_OTHERS = 0o022;

/** Throws `invalid` for a file from elsewhere that others may write. The file exists. */
export function keepFromOthers({ file, own }: SecretFile, logger: Warning): void {
  // File modes have no meaning on Windows.
  if (process.platform === "win32") return;
  const mode = statSync(file).mode & 0o777;
  if ((mode & (READ_BY_OTHERS | WRITTEN_BY_OTHERS)) === 0) return;
  const fields = { file, mode: mode.toString(8).padStart(4, "0") };
  if (own) {
    restrict(fields, logger);
  } else if ((mode & WRITTEN_BY_OTHERS) === 0) {
    logger.warn(fields, "others may read this secret: chmod 600 the file, where they should not");
  } else {
    throw new CatalogError(
      "invalid",
      `other users may write "${file}" (its mode is ${fields.mode})`,
      {
        hint: "Other users could replace the secret: chmod 600 the file, and check its text",
      },
    );
  }
}

function restrict(fields: { readonly file: string }, logger: Warning): void {
  try {
    chmodSync(fields.file, OWNER_ONLY);
    logger.warn(fields, "others could read this secret until now: make another if they should not");
  } catch (err) {
    logger.warn({ ...fields, err }, "others may read this secret, and its mode cannot be changed");
  }
}
