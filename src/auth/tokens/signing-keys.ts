/**
 * The keys that sign tokens, one per line of a file. The first one signs; the others only verify. To
 * rotate keys, put a new one first, and remove the old one when its last token has expired. The first
 * start creates a file with one key.
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keepText } from "../../config/secret-text.ts";
import { CatalogError } from "../../core/errors.ts";
import { keepFromOthers, type Warning } from "./secret-file.ts";

interface SigningKey {
  /** Identifies the key in the header of a token; derived from the key by a hash. */
  readonly id: string;
  readonly secret: Uint8Array;
}

export interface SigningKeys {
  readonly file: string;
  readonly current: SigningKey;
  find(id: string): SigningKey | undefined;
}

/** 256 bits: as much as HS256 can use. */
const KEY_BYTES = 32;
/** Minimum length of a configured key; shorter ones could be guessed. */
const charactersMin = 32;
const KEY_ID_CHARACTERS = 16;

/** Published keys, from DataHub's sources and examples. */
const KNOWN_TO_ALL = new Set(["WnEdIeTG/VVCLQqGwC/BAkqyY0k+H8NEAtWGejrBI94="]);

/** `given`: a file from elsewhere, read at each start; empty for the one in the data directory. */
export function openSigningKeys(place: {
  readonly data: string;
  readonly given: string;
  readonly logger: Warning;
}): SigningKeys {
  const own = place.given === "";
  const file = own ? join(place.data, "signing.key") : place.given;
  const text = own
    ? keepText(file, () => randomBytes(KEY_BYTES).toString("base64url")).text
    : readGiven(file);
  keepFromOthers({ file, own }, place.logger);
  const lines = text.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "").map((line) => keyOf(line, file));
  const [current] = keys;
  if (current === undefined) throw unfit(file, "is empty");
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size < keys.length) throw unfit(file, "holds a key twice");
  return { file, current, find: (id) => byId.get(id) };
}

function keyOf(line: string, file: string): SigningKey {
  if (line.length < charactersMin || /[^\x21-\x7e]/.test(line)) {
    throw unfit(file, `holds a line that is no key of ${charactersMin} characters or more`);
  }
  if (KNOWN_TO_ALL.has(line)) throw unfit(file, "holds a key that everybody knows");
  const secret = Buffer.from(line, "utf8");
  const id = createHmac("sha256", secret).update("key id").digest("hex");
  return { id: id.slice(0, KEY_ID_CHARACTERS), secret };
}

/** The error never contains the key. */
const unfit = (file: string, why: string): CatalogError =>
  new CatalogError("invalid", `the file of signing keys "${file}" ${why}`, {
    hint: "One key in a line, the one that signs first; make one with: openssl rand -base64 48",
  });

function readGiven(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CatalogError("invalid", `cannot read the signing keys from "${file}"`, {
      hint: `${(cause as Error).message}. Name another file with --signing-key-file`,
      cause,
    });
  }
}
