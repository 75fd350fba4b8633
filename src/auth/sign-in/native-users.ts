/**
 * Users with a password in the catalog: signing up, checking and resetting passwords. The aspect
 * `corpUserCredentials` holds the hash of the password and that of the reset token; no interface reads
 * or writes it (sealed-writes.ts).
 */

import { timingSafeEqual } from "node:crypto";
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { entityTypeOf, parseUrn, rootUserId, withNamespace } from "../../core/urn.ts";
import { isOvertaken, upsert } from "../../core/write/upsert.ts";
import { dayMs } from "../../lib/calendar.ts";
import type { AttemptLimit } from "../rate-limits.ts";
import type { StoredEntities } from "../stored-entities.ts";
import { hashOfSecret, type Invites, newSecret } from "./invites.ts";
import { denialOf, type LoginDenial } from "./login-denial.ts";
import type { PasswordHashes } from "./password-hash.ts";
import { readAspect } from "./stored-aspect.ts";

export interface NewUser {
  readonly urn: string;
  readonly fullName: string;
  readonly email: string;
  readonly password: string;
  readonly inviteToken: string;
  readonly title?: string | undefined;
}

export interface Attempt {
  /** Urn of the user. */
  readonly user: string;
  readonly password: string;
  readonly address: string;
}

export interface NativeUsers {
  /** Throws `invalid` for an unknown invite or a short password, `conflict` for an existing user. */
  signUp(user: NewUser): Promise<Position | undefined>;
  /**
   * Checks a password. Takes as long for an unknown user. Throws `rate_limited` after too many failed
   * attempts.
   */
  verify(attempt: Attempt): Promise<Verdict>;
  /**
   * Creates a token that sets a new password once, within a day. Throws `not_found` for a user without
   * a password.
   */
  createResetToken(user: string, by: string): Promise<NewResetToken>;
  /** Throws `invalid` for a token that is unknown, expired or used, and for a short password. */
  reset(user: string, password: string, resetToken: string): Promise<void>;
}

interface Verdict {
  readonly matches: boolean;
  /** May be set for a matching password, too: a suspended user may not sign in. */
  readonly denial: LoginDenial | undefined;
}

interface NewResetToken {
  readonly token: string;
  readonly position: Position | undefined;
}

interface Dependencies {
  readonly catalog: Pick<Catalog, "ingest" | "findAspect">;
  readonly entities: StoredEntities;
  readonly hashes: PasswordHashes;
  readonly invites: Invites;
  readonly attempts: AttemptLimit;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
}

interface Credentials {
  readonly salt: string;
  readonly hashedPassword: string;
  readonly passwordResetToken?: string;
  readonly passwordResetTokenExpirationTimeMillis?: number;
}

const CREDENTIALS = "corpUserCredentials";
const resetMs = dayMs;
const passwordCharactersMin = 8;
const passwordCharactersMax = 1_000;
/** Ids that a user may not have. */
const reservedIds: ReadonlySet<string> = new Set(["UNKNOWN"]);

export function createNativeUsers(dependencies: Dependencies): NativeUsers {
  const { catalog, entities, hashes, invites, attempts } = dependencies;
  const { namespace, systemActor, now } = dependencies;
  const own = { actor: systemActor };

  const credentialsOf = (urn: string) => readAspect<Credentials>(catalog, urn, CREDENTIALS);

  async function withPassword(password: string): Promise<Credentials> {
    checkPassword(password);
    const hashedPassword = await hashes.hash(password);
    return { salt: hashedPassword.split("$")[3] ?? "", hashedPassword };
  }

  /** Replaces a hash with older parameters, unless another write changes the aspect in between. */
  async function renew(urn: string, password: string, version: number, old: Credentials) {
    const hashedPassword = await hashes.hash(password);
    const renewed = { ...old, salt: hashedPassword.split("$")[3] ?? "", hashedPassword };
    try {
      await catalog.ingest([upsert(urn, CREDENTIALS, renewed, version)], own);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
  }

  return {
    async signUp({ urn: given, fullName, email, password, inviteToken, title }) {
      const urn = userUrn(given, namespace);
      checkPassword(password);
      const invite = await invites.check(inviteToken, urn);
      // Nobody becomes the root user, even if its entity was deleted.
      const isRoot = parseUrn(urn).id === rootUserId;
      if (isRoot || (await entities.find(urn)) !== undefined) {
        throw new CatalogError("conflict", "This user already exists! Cannot create a new user.");
      }
      const credentials = await withPassword(password);
      await invites.use(inviteToken, urn);
      const time = now();
      const status = { status: "ACTIVE", lastModified: { time, actor: systemActor } };
      const info = { active: true, fullName, displayName: fullName, email, title };
      const roles = invite.role === undefined ? [] : [invite.role];
      const proposals = [
        create(urn, "corpUserInfo", info),
        upsert(urn, "corpUserStatus", status),
        upsert(urn, CREDENTIALS, credentials),
        ...(roles.length === 0 ? [] : [upsert(urn, "roleMembership", { roles })]),
      ];
      return (await catalog.ingest(proposals, own)).position;
    },

    async verify({ user, password, address }) {
      const takeBack = attempts.take({ user, address });
      const stored = await entities.find(user);
      const { value, version } = await credentialsOf(user);
      const short = password.slice(0, passwordCharactersMax + 1);
      const matches = await hashes.verify(short, value?.hashedPassword);
      if (matches) takeBack();
      if (matches && value && hashes.outdated(value.hashedPassword)) {
        await renew(user, short, version, value);
      }
      const denial = denialOf(stored);
      return { matches, denial: matches ? denial : (denial ?? "INVALID_CREDENTIALS") };
    },

    async createResetToken(user, by) {
      const { value, version } = await credentialsOf(user);
      if (value === undefined || denialOf(await entities.find(user)) === "SOFT_DELETED") {
        throw new CatalogError(
          "not_found",
          `Failed to generate password reset token for user: ${user}`,
          { hint: "The user has no password in this catalog" },
        );
      }
      const token = newSecret();
      const changed: Credentials = {
        ...value,
        passwordResetToken: hashOfSecret(token),
        passwordResetTokenExpirationTimeMillis: now() + resetMs,
      };
      const proposal = upsert(user, CREDENTIALS, changed, version);
      const { position } = await catalog.ingest([proposal], { actor: by });
      return { token, position };
    },

    async reset(user, password, resetToken) {
      checkPassword(password);
      const { value, version } = await credentialsOf(user);
      const expected = Buffer.from(value?.passwordResetToken ?? "-".repeat(43));
      const given = Buffer.from(hashOfSecret(resetToken.slice(0, 200)));
      const ends = value?.passwordResetTokenExpirationTimeMillis ?? 0;
      const same = given.length === expected.length && timingSafeEqual(given, expected);
      if (!same || ends <= now()) throw unknownResetToken();
      const denial = denialOf(await entities.find(user));
      if (denial === "SUSPENDED" || denial === "SOFT_DELETED") throw unknownResetToken();
      // The new value has no reset token. The condition on the version lets one of several requests succeed.
      const credentials = await withPassword(password);
      try {
        await catalog.ingest([upsert(user, CREDENTIALS, credentials, version)], own);
      } catch (error) {
        throw isOvertaken(error) ? unknownResetToken() : error;
      }
    },
  };
}

/** Creates the entity together with the aspect; fails if the entity exists. */
const create = (urn: string, aspectName: string, value: object): Proposal => ({
  ...upsert(urn, aspectName, value),
  changeType: "CREATE_ENTITY",
});

function checkPassword(password: string): void {
  if (password.length >= passwordCharactersMin && password.length <= passwordCharactersMax) return;
  throw new CatalogError("invalid", `the password has ${password.length} characters`, {
    hint: `A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters`,
  });
}

/**
 * The urn in the namespace. Throws `malformed` unless it is the urn of a user, and not one of the
 * service itself.
 */
export function userUrn(given: string, namespace: string): string {
  const urn = withNamespace(given, namespace);
  const known = entityTypeOf(urn) === "corpuser" ? parseUrn(urn).id : "";
  if (known !== "" && !known.startsWith("__") && !reservedIds.has(known)) return urn;
  throw new CatalogError("malformed", `"${given.slice(0, 120)}" is not the urn of a user`, {
    hint: `Send urn:${namespace}:corpuser:<name>`,
  });
}

const unknownResetToken = (): CatalogError =>
  new CatalogError("invalid", "the reset token is not valid", {
    hint: "It is unknown, has expired or was used. Ask an administrator for a new one",
  });
