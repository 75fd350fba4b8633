/**
 * The admin token, which authorizes operations. The first start creates it in the data directory and
 * prints only the file's path. There is no default token that others could know.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keepText } from "../../config/secret-text.ts";
import { CatalogError } from "../../core/errors.ts";
import { keepFromOthers, type Warning } from "./secret-file.ts";

export interface OperatorToken {
  /** The file with the token. */
  readonly file: string;
  /** True when this start created it. */
  readonly made: boolean;
  /** True when the Authorization header carries the token. Takes the same time for any header. */
  admits(authorization: string | undefined): boolean;
}

/** 256 bits. */
const TOKEN_BYTES = 32;
/** Shorter tokens could be guessed. */
const charactersMin = 16;
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

/** `configuredFile`: a file outside it, read at each start; empty for the one in the data directory. */
export function openOperatorToken(options: {
  readonly data: string;
  readonly configuredFile: string;
  readonly logger: Warning;
}): OperatorToken {
  const own = options.configuredFile === "";
  const file = own ? join(options.data, "operator.token") : options.configuredFile;
  const { text, made } = own
    ? keepText(file, () => randomBytes(TOKEN_BYTES).toString("base64url"))
    : { text: readTokenFile(file, "--operator-token-file"), made: false };
  keepFromOthers({ file, own }, options.logger);
  const admits = admitsToken(text, file, own ? "; without the file, the next start makes one" : "");
  return { file, made, admits };
}

/**
 * A function that returns whether an Authorization header carries the token, in a time that does not depend on the
 * header. Throws `invalid` for a text that is no token.
 */
export function admitsToken(text: string, file: string, advice = ""): OperatorToken["admits"] {
  if (text.length < charactersMin || /[^\x21-\x7e]/.test(text)) {
    throw new CatalogError("invalid", `the file "${file}" holds no token`, {
      hint: `A token is one line of at least ${charactersMin} characters without blanks${advice}`,
    });
  }
  const expected = digest(text);
  return (authorization) => {
    const shown = BEARER.exec(authorization ?? "")?.[1];
    return timingSafeEqual(digest(shown ?? ""), expected) && shown !== undefined;
  };
}

/** The token in a file that the named flag gives. Throws `invalid` if the file cannot be read. */
export function readTokenFile(file: string, flag: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new CatalogError("invalid", `cannot read a token from "${file}"`, {
      hint: `${(cause as Error).message}. Name another file with ${flag}`,
      cause,
    });
  }
}

/** Digests have equal lengths, as the comparison in constant time requires. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
