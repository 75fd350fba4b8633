/**
 * Authenticates bearer tokens. The admin token acts for the root user; every other token was created
 * by this service. The Basic credentials of the system client act for the system.
 *
 *   signature and algorithm → expiry → the token's record exists → its user exists and is active
 *
 * The last two checks read the newest states at each request, unless nothing was written since the
 * previous check. A revoked token is rejected at once.
 */
import type { EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { rootUserId } from "../../core/urn.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import { standingOf } from "../policies/principals.ts";
import type { FailureLimit } from "../rate-limits.ts";
import type { SystemClient } from "../sign-in/system-client.ts";
import type { Stored, StoredEntities } from "../stored-entities.ts";
import { isStored, storedState } from "../stored-state.ts";
import type { OperatorToken } from "./operator-token.ts";
import { type TokenClaims, type TokenFormat, tokenId } from "./token-format.ts";

/** The credentials of a request. */
interface Shown {
  /** The Authorization header. */
  readonly authorization: string;
  /** Remote address of the connection. */
  readonly address: string;
  /** The connection: most connections send the same token with every request. */
  readonly connection?: object | undefined;
}

export interface Authentication {
  /** True when all routes need a token, except open ones. */
  readonly required: boolean;
  /**
   * Urn of the user; undefined for a scheme other than Bearer when tokens are optional. Throws
   * `unauthenticated` and `rate_limited`.
   */
  authenticate(shown: Shown): Promise<string | undefined>;
  /**
   * The synchronous fast path, for a token that was accepted before and whose record and user are in
   * memory or unchanged. Undefined: call `authenticate`.
   */
  authenticateNow(shown: Shown): string | undefined;
  /**
   * Checks the token of a response in flight again, on the newest states. Returns the `unauthenticated`
   * error that ends the response; undefined while the token is valid. Counts no failed attempt.
   */
  endOf(authorization: string): Promise<CatalogError | undefined>;
  /** The user and the expiry of a valid token; undefined for another one. Counts no failed attempt. */
  identityOf(authorization: string): Promise<Identity | undefined>;
  /** True for the credentials of the system client. */
  isSystem(authorization: string): boolean;
  /** Logs a rejection that has another reason than the token. */
  noteRejection(fields: Readonly<Record<string, unknown>>): void;
}

interface Identity {
  readonly actor: string;
  /** Epoch milliseconds; absent for a token that does not expire. */
  readonly expiresAt?: number | undefined;
}

interface Dependencies {
  readonly required: boolean;
  readonly operatorToken: Pick<OperatorToken, "admits">;
  /** Absent: no Basic credentials are accepted. */
  readonly systemClient?: Pick<SystemClient, "admits"> | undefined;
  readonly format: TokenFormat;
  readonly entities: StoredEntities;
  /** The newest state of an entity that is in memory. */
  readonly peek?: ((urn: string) => EntityState | undefined) | undefined;
  /** Changes with every write that this node knows of; undefined when unknown. */
  readonly entitiesVersion?: (() => number | undefined) | undefined;
  readonly failures: FailureLimit;
  readonly namespace: string;
  readonly now: () => number;
  /** Maximum age of tokens in milliseconds; absent: until they expire. */
  readonly lifeMax?: number | undefined;
  /** Called for each accepted use of a token. */
  readonly noteUse?: ((use: { urn: string; actor: string; address: string }) => void) | undefined;
  readonly logger: { warn(fields: object, message: string): void };
}

/** Cached tokens with a verified signature; signatures do not change. */
const verifiedMax = 1_000;
/** Maximum time to trust an unchanged `entitiesVersion`: a node that misses writes must check again. */
const askedMsMax = 1_000;
/** Minimum time between notes of uses of one token from one address. */
const noteMs = 10_000;
/** Tokens of this service have about 400. */
const tokenCharactersMax = 4_096;
const BEARER = /^Bearer(?: |$)/i;

/** A token with a valid signature, and the states that last admitted it. */
interface Verified {
  readonly urn: string;
  readonly claims: TokenClaims;
  record?: EntityState;
  user?: EntityState;
  /** End of the validity by these states, in epoch milliseconds. */
  until?: number;
  /** The entitiesVersion at the last check, and the end of its validity. */
  lastCheck?: { readonly entitiesVersion: number; readonly until: number } | undefined;
  /** Address of the last noted use, and the time from which the next one is noted. */
  address?: string;
  toNoteAt?: number;
}

/** Undefined when the header carries no bearer token. */
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
  system: "the Basic credentials are not those of the system client",
} as const;

export function createAuthentication(dependencies: Dependencies): Authentication {
  const { required, operatorToken, format, entities, failures, namespace, now } = dependencies;
  const { peek = () => undefined, systemClient = { admits: () => false } } = dependencies;
  const root = `urn:${namespace}:corpuser:${rootUserId}`;
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;
  const prefix = `urn:${namespace}:dataHubAccessToken:`;
  const verified = boundedCache<string, Verified>(verifiedMax);
  /** The last token of each connection. Comparing tokens takes a hundredth of a lookup. */
  const lastOfConnection = new WeakMap<
    object,
    { readonly text: string; readonly known: Verified }
  >();

  function countedRejection(
    why: keyof typeof reasons,
    address: string,
    actor?: string,
  ): CatalogError {
    failures.count(address);
    dependencies.logger.warn({ reason: why, address, actor }, "token refused");
    return rejectionFor(why, actor);
  }

  const rejectionFor = (why: keyof typeof reasons, actor?: string): CatalogError =>
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

  /** Checks the newest states. The reason to reject the token; undefined when it is valid. */
  async function faultOf(known: Verified): Promise<keyof typeof reasons | undefined> {
    const { actor, expiresAt = Number.POSITIVE_INFINITY } = known.claims;
    const [begun, entitiesVersion] = [now(), dependencies.entitiesVersion?.()];
    known.lastCheck = undefined;
    if (expiresAt <= begun) return "expired";
    const record = await entities.find(known.urn);
    if (record?.dataHubAccessTokenInfo === undefined) return "revoked";
    const old = oldAt(record);
    if (old <= now()) return "old";
    const standing = standingOf(await entities.find(actor));
    if (standing !== "active") return standing;
    const until = Math.min(expiresAt, old, begun + askedMsMax);
    if (entitiesVersion !== undefined) known.lastCheck = { entitiesVersion, until };
    return undefined;
  }

  /** True when nothing was written since the states that admitted the token. */
  const askedLately = ({ lastCheck }: Verified, time: number): boolean =>
    lastCheck !== undefined &&
    lastCheck.until > time &&
    lastCheck.entitiesVersion === dependencies.entitiesVersion?.();

  /** True when its record and user are in memory and admit it. */
  function inMemory(known: Verified, time: number): boolean {
    const entitiesVersion = dependencies.entitiesVersion?.();
    const record = peek(known.urn);
    const user = peek(known.claims.actor);
    if (record === undefined || user === undefined) return false;
    // States are immutable, so the result for these two still holds.
    if (record !== known.record || user !== known.user) {
      const until = untilOf(known, record, user);
      if (until === undefined) return false;
      known.until = until;
      known.record = record;
      known.user = user;
    }
    const { until = 0 } = known;
    if (time >= until) return false;
    if (entitiesVersion !== undefined) {
      known.lastCheck = { entitiesVersion, until: Math.min(until, time + askedMsMax) };
    }
    return true;
  }

  /**
   * Time at which the token exceeds the maximum age, also for tokens that were created with a higher
   * maximum. A token without a creation time exceeds it at once.
   */
  function oldAt({ dataHubAccessTokenInfo }: Stored): number {
    if (dependencies.lifeMax === undefined) return Number.POSITIVE_INFINITY;
    const { createdAt } = (dataHubAccessTokenInfo ?? {}) as { readonly createdAt?: number };
    return createdAt === undefined ? Number.NEGATIVE_INFINITY : createdAt + dependencies.lifeMax;
  }

  function knownAs(text: string, connection: object | undefined): Verified | undefined {
    const last = connection && lastOfConnection.get(connection);
    if (last?.text === text) return last.known;
    if (!text.startsWith("Bearer ")) return undefined;
    const known = verified.get(text.slice("Bearer ".length));
    if (known !== undefined && connection !== undefined)
      lastOfConnection.set(connection, { text, known });
    return known;
  }

  /** End of the validity by these states; undefined when they reject the token. */
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
        const basic = /^Basic /i.test(authorization);
        if (basic && systemClient.admits(authorization)) return systemActor;
        if (!required && !/^Bearer\b/i.test(authorization)) return undefined;
        failures.check(address);
        throw countedRejection(basic ? "system" : "scheme", address);
      }
      const known = verified.get(token);
      // Failures of others behind the same address affect neither the admin token nor cached tokens.
      // The admin token is too long to be guessed.
      if (known === undefined) {
        if (operatorToken.admits(authorization)) return root;
        failures.check(address);
      }
      if (token === "" || token.length > tokenCharactersMax)
        throw countedRejection("foreign", address);
      const shown = known ?? (await verify(token));
      if (typeof shown === "string") throw countedRejection(shown, address);
      const { urn, claims } = shown;
      const why = await faultOf(shown);
      if (why === undefined) {
        dependencies.noteUse?.({ urn, actor: claims.actor, address });
        return claims.actor;
      }
      verified.delete(token);
      throw countedRejection(why, address, claims.actor);
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
      if (typeof known === "string") return rejectionFor(known);
      const why = await faultOf(known);
      return why && rejectionFor(why, known.claims.actor);
    },

    async identityOf(authorization) {
      const token = tokenIn(authorization) ?? "";
      if (operatorToken.admits(authorization)) return { actor: root };
      if (token === "" || token.length > tokenCharactersMax) return undefined;
      const known = verified.get(token) ?? (await verify(token));
      if (typeof known === "string" || (await faultOf(known)) !== undefined) return undefined;
      const { actor, expiresAt = Number.POSITIVE_INFINITY } = known.claims;
      const until = Math.min(expiresAt, oldAt((await entities.find(known.urn)) ?? {}));
      return { actor, expiresAt: Number.isFinite(until) ? until : undefined };
    },

    isSystem: (authorization) => systemClient.admits(authorization),

    noteRejection(fields) {
      dependencies.logger.warn(fields, "request refused");
    },
  };
}
