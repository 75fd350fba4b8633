/**
 * Tokens as text: JSON Web Tokens signed with HMAC SHA-256. Claims are read only after a key of the
 * service, named by the token's header, has verified the signature.
 */
import { createHash, randomUUID } from "node:crypto";
import type { KeyFile } from "./key-file.ts";

const tokenTypes = ["PERSONAL", "SERVICE_ACCOUNT", "SESSION"] as const;
export type TokenType = (typeof tokenTypes)[number];

export interface TokenClaims {
  readonly type: TokenType;
  /** Urn of the user that the token acts for. */
  readonly actor: string;
  /** Epoch milliseconds, whole seconds; absent for a token that does not expire. */
  readonly expiresAt?: number | undefined;
}

type Verdict =
  | { readonly ok: true; readonly claims: TokenClaims }
  | { readonly ok: false; readonly why: "foreign" | "expired" };

export interface TokenFormat {
  sign(claims: TokenClaims, createdAt: number): Promise<string>;
  verify(token: string, now: number): Promise<Verdict>;
}

/** Loaded with the first token, which makes the start faster. */
const loadJose = () => import("jose");

const ALGORITHM = "HS256";
const ISSUER = "annals";
/** Tokens of this version are valid only while the log has their record. */
const VERSION = "2";

export function createTokenFormat(
  keys: KeyFile,
  { namespace }: { readonly namespace: string },
): TokenFormat {
  const users = `urn:${namespace}:corpuser:`;

  return {
    async sign({ type, actor, expiresAt }, createdAt) {
      const { SignJWT } = await loadJose();
      const actorId = actor.slice(users.length);
      const token = new SignJWT({ version: VERSION, type, actorType: "USER", actorId })
        .setProtectedHeader({ alg: ALGORITHM, typ: "JWT", kid: keys.current.id })
        .setJti(randomUUID())
        .setSubject(actorId)
        .setIssuer(ISSUER)
        .setIssuedAt(Math.floor(createdAt / 1000));
      if (expiresAt !== undefined) token.setExpirationTime(Math.floor(expiresAt / 1000));
      return token.sign(keys.current.secret);
    },

    async verify(token, now) {
      const { errors, jwtVerify } = await loadJose();
      const secretOf = ({ kid }: { readonly kid?: string }): Uint8Array => {
        const key = kid === undefined ? undefined : keys.find(kid);
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key.secret;
      };
      try {
        const { payload } = await jwtVerify(token, secretOf, {
          algorithms: [ALGORITHM],
          typ: "JWT",
          issuer: ISSUER,
          requiredClaims: ["jti", "sub", "iat"],
          currentDate: new Date(now),
        });
        const type = tokenTypes.find((known) => known === payload.type);
        const { version, actorType, actorId, sub, exp } = payload;
        const ours = version === VERSION && actorType === "USER" && actorId === sub;
        if (type === undefined || !ours || sub === undefined || sub === "") return foreign;
        const expiresAt = exp === undefined ? undefined : exp * 1000;
        return { ok: true, claims: { type, actor: users + sub, expiresAt } };
      } catch (error) {
        if (error instanceof errors.JWTExpired) return { ok: false, why: "expired" };
        // All other errors look the same to the client.
        if (error instanceof errors.JOSEError) return foreign;
        throw error;
      }
    },
  };
}

const foreign: Verdict = { ok: false, why: "foreign" };

/** The stored id of a token: a hash, from which the token cannot be derived. */
export const tokenId = (token: string): string =>
  createHash("sha256").update(token).digest("base64url");
