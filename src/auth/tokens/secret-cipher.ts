/**
 * Encrypts the secrets that are stored in the catalog, with AES-256-GCM. An encrypted text is
 * `annals:1:<key id>:<base64url of nonce, tag and cipher text>`; the key id is authenticated, too.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { CatalogError } from "../../core/errors.ts";
import type { KeyFile } from "./key-file.ts";

export interface SecretCipher {
  encrypt(text: string): string;
  /** Throws `invalid` for a text that is damaged, or whose key is not in the key file. */
  decrypt(encrypted: string): string;
}

const PREFIX = "annals:1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

const aesKey = (secret: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, "", "annals secrets", KEY_BYTES));

export function createSecretCipher(keys: KeyFile): SecretCipher {
  return {
    encrypt(text) {
      const { id, secret } = keys.current;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", aesKey(secret), nonce).setAAD(Buffer.from(id));
      const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const bytes = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
      return `${PREFIX}${id}:${bytes.toString("base64url")}`;
    },

    decrypt(encrypted) {
      const [id = "", text = ""] = encrypted.startsWith(PREFIX)
        ? encrypted.slice(PREFIX.length).split(":")
        : [];
      const key = keys.find(id);
      if (key === undefined) throw unreadable(`its key "${id}" is not in the key file`);
      const bytes = Buffer.from(text, "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw unreadable("it is too short");
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", aesKey(key.secret), nonce)
        .setAAD(Buffer.from(id))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        const rest = bytes.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(rest), decipher.final()]).toString("utf8");
      } catch {
        throw unreadable("it is damaged");
      }
    },
  };
}

/** The error never contains the secret. */
const unreadable = (why: string): CatalogError =>
  new CatalogError("invalid", `a stored secret cannot be decrypted: ${why}`, {
    hint: "Put the key that encrypted it into the file of --secret-key-file, or store it again",
  });
