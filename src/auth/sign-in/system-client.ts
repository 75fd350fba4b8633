/**
 * The system client: programs of the operator, such as DataHub's web container, that act for the
 * service itself. Its credentials are one line `<id>:<secret>` of a file. The first start creates the
 * file with a random secret; there are no default credentials.
 *
 * The Authorization header has the credentials in plain text, `Basic <id>:<secret>`, as DataHub's clients
 * send them, or in Base64, as RFC 7617 defines it.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keepText } from "../../config/secret-text.ts";
import { CatalogError } from "../../core/errors.ts";
import { keepFromOthers, type Warning } from "../tokens/secret-file.ts";

export interface SystemClient {
  /** The file with the credentials. */
  readonly file: string;
  /** True when the header has the credentials. Takes the same time for any header. */
  admits(authorization: string | undefined): boolean;
}

const ID = "__datahub_system";
/** 256 bits. */
const SECRET_BYTES = 32;
/** Minimum length of a configured secret; shorter ones could be guessed. */
const secretCharactersMin = 16;
const CREDENTIALS = /^([\w.@-]{1,100}):([\x21-\x7e]{1,1000})$/;
const BASIC = /^Basic +([\x21-\x7e]+) *$/i;
/** The default of DataHub. */
const PUBLIC_SECRETS = new Set(["JohnSnowKnowsNothing"]);

/**
 * Reads or creates the file. `configuredFile`: a file outside the data directory, read at each start; empty
 * for `system.client` in the data directory. Throws `invalid` for a file without valid credentials.
 */
export function openSystemClient(options: {
  readonly data: string;
  readonly configuredFile: string;
  readonly logger: Warning;
}): SystemClient {
  const own = options.configuredFile === "";
  const file = own ? join(options.data, "system.client") : options.configuredFile;
  const make = () => `${ID}:${randomBytes(SECRET_BYTES).toString("base64url")}`;
  const text = own ? keepText(file, make).text : readGiven(file);
  keepFromOthers({ file, own }, options.logger);
  const secret = CREDENTIALS.exec(text)?.[2];
  if (secret === undefined || PUBLIC_SECRETS.has(secret) || secret.length < secretCharactersMin) {
    const isPublic = secret !== undefined && PUBLIC_SECRETS.has(secret);
    const why = isPublic ? "a secret that is public" : "no valid credentials";
    throw new CatalogError("invalid", `the file "${file}" contains ${why}`, {
      hint: `Write one line <id>:<secret>, with a secret of at least ${secretCharactersMin} characters without blanks; create one with: openssl rand -base64 32`,
    });
  }
  const expected = digest(text);
  return {
    file,
    admits(authorization) {
      const sent = BASIC.exec(authorization ?? "")?.[1] ?? "";
      const plain = sent.includes(":") ? sent : Buffer.from(sent, "base64").toString("latin1");
      return timingSafeEqual(digest(plain), expected);
    },
  };
}

function readGiven(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new CatalogError("invalid", `cannot read credentials from "${file}"`, {
      hint: `${(cause as Error).message}. Name another file with --system-client-file`,
      cause,
    });
  }
}

/** Digests have equal lengths, as the comparison in constant time requires. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
