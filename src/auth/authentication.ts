/**
 * Who are you? A bearer token becomes the user that it acts for, or is refused. The operator's token
 * of the data directory acts for the root user; every other is one that was made here.
 *
 *   signature and algorithm → expiry → its record is in the catalog → its user is, and may act
 *
 * The last two are asked of the newest state at each request, unless nothing was written since they were
 * asked last: what is revoked is refused at once.
 */
import { LRUCache } from "lru-cache";
import type { EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { FailureLimit } from "./failure-limit.ts";
import type { OperatorToken } from "./operator-token.ts";
import { rootUserId, standingOf } from "./principals.ts";
import type { Stored, StoredEntities } from "./stored-entities.ts";
import { isStored, storedState } from "./stored-state.ts";
import { type TokenClaims, type TokenFormat, tokenId } from "./token-format.ts";

/** What a request shows, and from where. */
interface Shown {
  /** The Authorization header. */
  readonly authorization: string;
  /** Address of the other end of the connection. */
  readonly address: string;
  /** The connection itself: most show the same token again and again. */
  readonly connection?: object | undefined;
}

export interface Authentication {
  /** Routes that are not open to all need a token. */
  readonly required: boolean;
  /**
   * Urn of the user; undefined for a scheme other than Bearer where no token is needed. Throws
   * `unauthenticated` and `rate_limited`.
   */
  authenticate(shown: Shown): Promise<string | undefined>;
  /**
   * The same at once, for a token that was let in before and whose record and user are in memory, or are
   * what they were when it was; undefined: it is to be asked for with `authenticate`.
   */
  authenticateNow(shown: Shown): string | undefined;
  /**
   * Checks the token of a response in flight again, on the newest states. Returns the `unauthenticated`
   * error that ends the response; undefined while the token is valid. Counts no failed attempt.
   */
  endOf(authorization: string): Promise<CatalogError | undefined>;
  /** Tells the log of a refusal for another reason than the token. */
  noteRefusal(fields: Readonly<Record<string, unknown>>): void;
}

export interface RequestLimit {
  /** Counts a request. Throws `rate_limited` for one too many. */
  take(asker: { readonly actor: string | undefined; readonly address: string }): void;
}

interface Dependencies {
  readonly required: boolean;
  readonly operatorToken: Pick<OperatorToken, "admits">;
  readonly format: TokenFormat;
  readonly entities: StoredEntities;
  /** An entity that is in memory with its newest state. */
  readonly peek?: ((urn: string) => EntityState | undefined) | undefined;
  /** Another one whenever anything was written, as far as that is known here; undefined: unknown. */
  readonly edition?: (() => number | undefined) | undefined;
  readonly failures: FailureLimit;
  readonly namespace: string;
  readonly now: () => number;
  /** Milliseconds after which no token is believed any more; undefined: when it expires. */
  readonly lifeMax?: number | undefined;
  /** A token was shown that counts. */
  readonly noteUse?: ((use: { urn: string; actor: string; address: string }) => void) | undefined;
  readonly logger: { warn(fields: object, message: string): void };
}

/** Tokens whose signature was verified; verifying again would give the same. */
const verifiedMax = 1_000;
/**
 * How long a token is believed where nothing was written since it was asked for: whoever cannot learn of
 * writes any more shall not go on believing it.
 */
const askedMsMax = 1_000;
/** Uses of a token from one address that follow so closely are not told one by one. */
const noteMs = 10_000;
/** Ours have some 400. */
const tokenCharactersMax = 4_096;
const BEARER = /^Bearer(?: |$)/i;

/** A token whose signature is good, and the states by which it was let in last. */
interface Verified {
  readonly urn: string;
  readonly claims: TokenClaims;
  record?: EntityState;
  user?: EntityState;
  /** By these states it is believed until then, in epoch milliseconds. */
  until?: number;
  /** What was written when it was asked for last, and until when it is believed by that. */
  asked?: { readonly edition: number; readonly until: number } | undefined;
  /** From where it was last told that it is used, and when that is to be told again. */
  address?: string;
  toNoteAt?: number;
}

/** Undefined: it is no bearer token that the header shows. */
function tokenIn(authorization: string): string | undefined {
  if (!BEARER.test(authorization)) return undefined;
  const token = authorization.slice("Bearer ".length).trim();
  return /[^\x21-\x7e]/.test(token) ? undefined : token;
}

const reasons = {
  foreign: "the bearer token is not one of this service",
  expired: "the bearer token has expired",
  old: "the bearer token is older than tokens may be",
  revoked: "the bearer token was revoked",
  removed: "the user of the bearer token was removed",
  suspended: "the user of the bearer token is suspended",
  unknown: "the user of the bearer token is not in the catalog",
  scheme: "the Authorization header shows no bearer token",
} as const;

export function createAuthentication(dependencies: Dependencies): Authentication {
  const { required, operatorToken, format, entities, failures, namespace, now } = dependencies;
  const { peek = () => undefined } = dependencies;
  const root = `urn:${namespace}:corpuser:${rootUserId}`;
  const prefix = `urn:${namespace}:dataHubAccessToken:`;
  const verified = new LRUCache<string, Verified>({ max: verifiedMax });
  /** What each connection showed last: comparing a token costs a hundredth of looking it up. */
  const shownLast = new WeakMap<object, { readonly text: string; readonly known: Verified }>();

  function refuse(why: keyof typeof reasons, address: string, actor?: string): CatalogError {
    failures.count(address);
    dependencies.logger.warn({ reason: why, address, actor }, "token refused");
    return refusalFor(why, actor);
  }

  const refusalFor = (why: keyof typeof reasons, actor?: string): CatalogError =>
    new CatalogError("unauthenticated", reasons[why], {
      hint: "Send Authorization: Bearer <token>, with a token that createAccessToken gave",
      actor,
    });

  /** The token with its claims, or the reason to reject it. */
  async function verify(token: string): Promise<Verified | keyof typeof reasons> {
    const verdict = await format.verify(token, now());
    if (!verdict.ok) return verdict.why;
    const found: Verified = { urn: prefix + tokenId(token), claims: verdict.claims };
    verified.set(token, found);
    return found;
  }

  /** Asks the newest states. Why it is refused; undefined: it is believed. */
  async function faultOf(known: Verified): Promise<keyof typeof reasons | undefined> {
    const { actor, expiresAt = Number.POSITIVE_INFINITY } = known.claims;
    const [begun, edition] = [now(), dependencies.edition?.()];
    known.asked = undefined;
    if (expiresAt <= begun) return "expired";
    const record = await entities.find(known.urn);
    if (record?.dataHubAccessTokenInfo === undefined) return "revoked";
    const old = oldAt(record);
    if (old <= now()) return "old";
    const standing = standingOf(await entities.find(actor));
    if (standing !== "active") return standing;
    const until = Math.min(expiresAt, old, begun + askedMsMax);
    if (edition !== undefined) known.asked = { edition, until };
    return undefined;
  }

  /** Whether nothing was written since the states were asked that let it in. */
  const askedLately = ({ asked }: Verified, time: number): boolean =>
    asked !== undefined && asked.until > time && asked.edition === dependencies.edition?.();

  /** Whether its record and its user are in memory, and let it in. */
  function inMemory(known: Verified, time: number): boolean {
    const edition = dependencies.edition?.();
    const record = peek(known.urn);
    const user = peek(known.claims.actor);
    if (record === undefined || user === undefined) return false;
    // States do not change, others take their place: what was judged of these holds.
    if (record !== known.record || user !== known.user) {
      const until = untilOf(known, record, user);
      if (until === undefined) return false;
      known.until = until;
      known.record = record;
      known.user = user;
    }
    const { until = 0 } = known;
    if (time >= until) return false;
    if (edition !== undefined) {
      known.asked = { edition, until: Math.min(until, time + askedMsMax) };
    }
    return true;
  }

  /**
   * When the token is older than tokens may be, also one that was made while more was allowed; one that
   * does not say when it was made always is.
   */
  function oldAt({ dataHubAccessTokenInfo }: Stored): number {
    if (dependencies.lifeMax === undefined) return Number.POSITIVE_INFINITY;
    const { createdAt } = (dataHubAccessTokenInfo ?? {}) as { readonly createdAt?: number };
    return createdAt === undefined ? Number.NEGATIVE_INFINITY : createdAt + dependencies.lifeMax;
  }

  function knownAs(text: string, connection: object | undefined): Verified | undefined {
    const last = connection && shownLast.get(connection);
    if (last?.text === text) return last.known;
    if (!text.startsWith("Bearer ")) return undefined;
    const known = verified.get(text.slice("Bearer ".length));
    if (known !== undefined && connection !== undefined) shownLast.set(connection, { text, known });
    return known;
  }

  /** Until when these states let the token in; undefined: they do not. */
  function untilOf({ claims }: Verified, record: EntityState, user: EntityState) {
    if (!isStored(record) || !isStored(user)) return undefined;
    if (storedState(record).dataHubAccessTokenInfo === undefined) return undefined;
    if (standingOf(storedState(user)) !== "active") return undefined;
    const { expiresAt = Number.POSITIVE_INFINITY } = claims;
    return Math.min(expiresAt, oldAt(storedState(record)));
  }

  return {
    required,

    async authenticate({ authorization, address }) {
      const token = tokenIn(authorization);
      if (token === undefined) {
        if (!required && !/^Bearer\b/i.test(authorization)) return undefined;
        failures.check(address);
        throw refuse("scheme", address);
      }
      const known = verified.get(token);
      // Neither the operator nor who was let in before is shut out by the failures of others behind
      // the same address. The operator's token is too long to be found by trying.
      if (known === undefined) {
        if (operatorToken.admits(authorization)) return root;
        failures.check(address);
      }
      if (token === "" || token.length > tokenCharactersMax) throw refuse("foreign", address);
      const shown = known ?? (await verify(token));
      if (typeof shown === "string") throw refuse(shown, address);
      const { urn, claims } = shown;
      const why = await faultOf(shown);
      if (why === undefined) {
        dependencies.noteUse?.({ urn, actor: claims.actor, address });
        return claims.actor;
      }
      verified.delete(token);
      throw refuse(why, address, claims.actor);
    },

    authenticateNow({ authorization, address, connection }) {
      const known = knownAs(authorization, connection);
      if (known === undefined) return undefined;
      const { actor } = known.claims;
      const time = now();
      if (!askedLately(known, time) && !inMemory(known, time)) return undefined;
      if (address !== known.address || time >= (known.toNoteAt ?? 0)) {
        known.address = address;
        known.toNoteAt = time + noteMs;
        dependencies.noteUse?.({ urn: known.urn, actor, address });
      }
      return actor;
    },

    async endOf(authorization) {
      const token = tokenIn(authorization);
      if (token === undefined || operatorToken.admits(authorization)) return undefined;
      const known = verified.get(token) ?? (await verify(token));
      if (typeof known === "string") return refusalFor(known);
      const why = await faultOf(known);
      return why && refusalFor(why, known.claims.actor);
    },

    noteRefusal(fields) {
      dependencies.logger.warn(fields, "request refused");
    },
  };
}
