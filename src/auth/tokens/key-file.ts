/**
 * The keys that sign tokens or encrypt secrets, one per line of a file. The first one signs or encrypts;
 * the others only verify or decrypt. To rotate keys, put a new one first, and remove the old one when
 * nothing uses it. The first start creates a file with one key.
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keepText } from "../../config/secret-text.ts";
import { CatalogError } from "../../core/errors.ts";
import { keepFromOthers, type Warning } from "./secret-file.ts";

interface Key {
  /** Identifies the key in a token or an encrypted text; derived from the key by a hash. */
  readonly id: string;
  readonly secret: Uint8Array;
}

export interface KeyFile {
  readonly file: string;
  readonly current: Key;
  find(id: string): Key | undefined;
}

/** 256 bits: as much as HS256 can use. */
const KEY_BYTES = 32;
/** Minimum length of a configured key; shorter ones could be guessed. */
const charactersMin = 32;
const KEY_ID_CHARACTERS = 16;

/** Published keys, from DataHub's sources and examples. */
const PUBLIC_KEYS = new Set(["WnEdIeTG/VVCLQqGwC/BAkqyY0k+H8NEAtWGejrBI94="]);

/**
 * Reads or creates the file. `configuredFile`: a file outside the data directory, read at each start; empty
 * for the one in the data directory. Throws `invalid` for a file without valid keys.
 */
export function openKeys(options: {
  readonly data: string;
  /** Name of the file in the data directory, such as `signing.key`. */
  readonly name: string;
  readonly configuredFile: string;
  readonly logger: Warning;
}): KeyFile {
  const own = options.configuredFile === "";
  const file = own ? join(options.data, options.name) : options.configuredFile;
  const text = own
    ? keepText(file, () => randomBytes(KEY_BYTES).toString("base64url")).text
    : readGiven(file);
  keepFromOthers({ file, own }, options.logger);
  const lines = text.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "").map((line) => keyOf(line, file));
  const [current] = keys;
  if (current === undefined) throw unfit(file, "is empty");
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size < keys.length) throw unfit(file, "contains a key twice");
  return { file, current, find: (id) => byId.get(id) };
}

function keyOf(line: string, file: string): Key {
  if (line.length < charactersMin || /[^\x21-\x7e]/.test(line)) {
    throw unfit(
      file,
      `contains a line that is not a key of ${charactersMin} or more characters without blanks`,
    );
  }
  if (PUBLIC_KEYS.has(line)) throw unfit(file, "contains a key that is public");
  const secret = Buffer.from(line, "utf8");
  const id = createHmac("sha256", secret).update("key id").digest("hex");
  return { id: id.slice(0, KEY_ID_CHARACTERS), secret };
}

/** The error never contains the key. */
const unfit = (file: string, why: string): CatalogError =>
  new CatalogError("invalid", `the key file "${file}" ${why}`, {
    hint: "Write one key on each line, the current one first; create one with: openssl rand -base64 48",
  });

function readGiven(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CatalogError("invalid", `cannot read the keys from "${file}"`, {
      hint: `${(cause as Error).message}. Name another file with --signing-key-file or --secret-key-file`,
      cause,
    });
  }
}
