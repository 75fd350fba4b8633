/**
 * Hashes of passwords: scrypt with a salt of its own for each password, as text that names its
 * parameters: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`. A hash with older parameters stays valid; `outdated`
 * is true for it, so that the next sign-in replaces it.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { CatalogError } from "../../core/errors.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";

interface Cost {
  /** Logarithm to base 2 of the cost. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export interface PasswordHashes {
  /** A hash with a new salt. Throws `rate_limited` when too many requests wait; so does `verify`. */
  hash(password: string): Promise<string>;
  /**
   * True if the password has this hash. Without a hash it takes the same time and returns false, so
   * that the time does not show whether a user exists.
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** True if the hash has other parameters than new ones. */
  outdated(hash: string): boolean;
}

/** The cost of new hashes: 32 MiB for about a third of a second. */
const currentCost: Cost = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const memoryBytesMax = 256 * 1024 * 1024;
/** Maximum number of hashes computed at the same time: each occupies a thread and 32 MiB. */
const atOnceMax = 2;
/** Maximum number of waiting requests; further ones are rejected. */
const waitingMax = 50;
const FORMAT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

export function createPasswordHashes(cost: Cost = currentCost): PasswordHashes {
  const limit = createConcurrencyLimit(atOnceMax);
  let pending = 0;

  async function hashOf(password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> {
    if (pending >= atOnceMax + waitingMax) {
      throw new CatalogError("rate_limited", "too many passwords are being checked", {
        hint: "Try again in a few seconds",
        retryAfterSeconds: 5,
      });
    }
    pending++;
    const options = { N: 2 ** ln, r, p, maxmem: memoryBytesMax };
    try {
      // The same text may have several forms in Unicode.
      const text = password.normalize("NFKC");
      return await limit(() => derive(text, salt, HASH_BYTES, options));
    } finally {
      pending--;
    }
  }

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const hash = await hashOf(password, salt, cost);
      return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
    },

    async verify(password, stored) {
      const parts = FORMAT.exec(stored ?? "");
      if (parts === null) {
        await hashOf(password, randomBytes(SALT_BYTES), cost);
        return false;
      }
      const [, ln, r, p, salt = "", expected = ""] = parts;
      const own = { ln: Number(ln), r: Number(r), p: Number(p) };
      const hash = await hashOf(password, Buffer.from(salt, "base64url"), own);
      return timingSafeEqual(hash, Buffer.from(expected, "base64url"));
    },

    outdated: (stored) => !stored.startsWith(`$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$`),
  };
}
