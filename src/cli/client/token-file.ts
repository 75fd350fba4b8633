/** Access tokens in files: one token in one line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { CatalogError } from "../../core/errors.ts";

/** The admin token, from the file that the settings name. */
export function operatorTokenOf({
  data,
  operatorTokenFile,
}: Pick<Config, "data" | "operatorTokenFile">): string {
  const file = operatorTokenFile === "" ? join(data, "operator.token") : operatorTokenFile;
  return tokenIn(file, "Name the data directory of the service with --data");
}

/**
 * The token in a file. Throws CatalogError `invalid` for a file with anything else. The message does not
 * contain the text of the file: it may be a secret.
 */
export function tokenIn(file: string, hint: string): string {
  const text = contentOf(file, hint);
  if (text === "") throw new CatalogError("invalid", `the token file "${file}" is empty`, { hint });
  if (TOKEN.test(text)) return text;
  throw new CatalogError("invalid", `the file "${file}" does not hold one token alone`, {
    hint: `A token is one line of letters, digits and signs without blanks: write nothing else into the file. ${hint}`,
  });
}

/** The characters that a header may have after "Bearer ". */
const TOKEN = /^[\x21-\x7e]+$/;

function contentOf(file: string, hint: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CatalogError("invalid", `cannot read the token in "${file}"`, {
      hint: `${code === "ENOENT" ? "The file does not exist" : message}. ${hint}`,
      cause,
    });
  }
}
