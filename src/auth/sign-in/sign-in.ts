/** Sign-in with passwords, invites and sessions, with its records in the audit trail. */

import type { Catalog } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { upsert } from "../../core/write/upsert.ts";
import type { TokenDuration } from "../../lib/token-durations.ts";
import type { AuditTrail } from "../audit.ts";
import { createAttemptLimit } from "../rate-limits.ts";
import type { StoredEntities } from "../stored-entities.ts";
import type { AccessTokens } from "../tokens/access-tokens.ts";
import { createInvites, type Invites } from "./invites.ts";
import type { LoginDenial } from "./login-denial.ts";
import {
  type Attempt,
  createNativeUsers,
  type NativeUsers,
  type NewUser,
  userUrn,
} from "./native-users.ts";
import { createPasswordHashes, type PasswordHashes } from "./password-hash.ts";
import { type Begun, createSessions, type Sessions } from "./sessions.ts";
import { readAspect } from "./stored-aspect.ts";

export interface SignIn {
  readonly users: Pick<NativeUsers, "createResetToken">;
  readonly sessions: Pick<Sessions, "end">;
  readonly invites: Pick<Invites, "create">;
  /**
   * Checks a password. `user`: a urn or a user name. Throws `rate_limited` after too many failed
   * attempts.
   */
  verify(attempt: Login): ReturnType<NativeUsers["verify"]>;
  /** Begins a session for a user whom the caller has authenticated. */
  beginSession(login: Omit<Login, "password">): Promise<Begun>;
  /** Checks a password and begins a session. Throws `unauthenticated`. */
  logIn(login: Login): Promise<StartedSession>;
  /** Creates a user with an invite. `urn`: a urn or a user name. */
  signUp(user: NewUser): Promise<Position | undefined>;
  /** Creates a user with an invite and begins a session. */
  signUpAndLogIn(user: NewUser, address: string): Promise<StartedSession>;
  /** Sets a new password with a reset token and begins a session. */
  resetAndLogIn(login: Omit<Login, "source">, resetToken: string): Promise<StartedSession>;
  /** Sets a new password and ends the sessions of the user. */
  resetPassword(user: string, password: string, resetToken: string): Promise<void>;
  /**
   * Adds the role of an invite to the caller's roles. Returns the position of the write; undefined
   * without one.
   */
  acceptRole(inviteToken: string, actor: string): Promise<Position | undefined>;
  /** The stored settings of single sign-on, with its secret: for the system client only. */
  ssoSettings(): Promise<SsoSettings | undefined>;
}

export interface Login extends Attempt {
  /** How the user signs in, as the audit trail names it: PASSWORD_LOGIN. */
  readonly source: string;
}

export interface StartedSession {
  readonly token: string;
  readonly expiresAt: number | undefined;
  /** Position of the record that created the user. */
  readonly position?: Position | undefined;
}

interface SsoSettings {
  readonly baseUrl: string;
  readonly oidcSettings?: Readonly<Record<string, unknown>>;
}

interface Dependencies {
  /** The unrestricted catalog. */
  readonly catalog: Pick<Catalog, "ingest" | "findAspect" | "delete">;
  readonly entities: StoredEntities;
  readonly tokens: AccessTokens;
  readonly audit: Pick<AuditTrail, "record">;
  readonly namespace: string;
  readonly tokenDurationMax: TokenDuration;
  readonly hashes?: PasswordHashes | undefined;
  readonly now: () => number;
  readonly logger: { warn(fields: object, message: string): void };
}

export function createSignIn(dependencies: Dependencies): SignIn {
  const { catalog, entities, namespace, audit, now } = dependencies;
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;
  const common = { ...dependencies, systemActor };
  const invites = createInvites(common);
  const sessions = createSessions({ ...common, durationMax: dependencies.tokenDurationMax });
  const users = createNativeUsers({
    ...common,
    invites,
    hashes: dependencies.hashes ?? createPasswordHashes(),
    attempts: createAttemptLimit(now),
  });

  const urnOf = (user: string): string =>
    userUrn(user.startsWith("urn:") ? user : `urn:${namespace}:corpuser:${user}`, namespace);

  function note(login: Omit<Login, "password">, denial: LoginDenial | undefined): void {
    const { user, address, source } = login;
    const outcome = denial === undefined ? "allowed" : "refused";
    const detail = denial === undefined ? source : `${source} ${denial}`;
    audit.record({ action: "logIn", outcome, actor: user, address, detail });
  }

  async function verify(login: Login): ReturnType<NativeUsers["verify"]> {
    const user = urnOf(login.user);
    const verdict = await users.verify({ ...login, user });
    if (verdict.denial !== undefined) note({ ...login, user }, verdict.denial);
    return verdict;
  }

  async function beginSession(login: Omit<Login, "password">): Promise<Begun> {
    const user = urnOf(login.user);
    const begun = await sessions.begin(user);
    note({ ...login, user }, "denial" in begun ? begun.denial : undefined);
    return begun;
  }

  async function started(login: Omit<Login, "password">): Promise<StartedSession> {
    const begun = await beginSession(login);
    if ("denial" in begun) throw denied(begun.denial);
    return begun;
  }

  const signUp = (user: NewUser) => users.signUp({ ...user, urn: urnOf(user.urn) });

  async function resetPassword(user: string, password: string, resetToken: string): Promise<void> {
    const urn = urnOf(user);
    await users.reset(urn, password, resetToken);
    await sessions.endAll(urn);
  }

  return {
    users,
    sessions,
    invites,
    verify,
    beginSession,
    signUp,
    resetPassword,

    async logIn(login) {
      const { matches, denial } = await verify(login);
      if (!matches) throw wrongPassword();
      if (denial !== undefined) throw denied(denial);
      return await started(login);
    },

    async signUpAndLogIn(user, address) {
      const position = await signUp(user);
      const session = await started({ user: user.urn, address, source: "SIGN_UP_LINK_LOGIN" });
      return { ...session, position };
    },

    async resetAndLogIn({ user, password, address }, resetToken) {
      await resetPassword(user, password, resetToken);
      return await started({ user, address, source: "PASSWORD_RESET" });
    },

    async acceptRole(inviteToken, actor) {
      const { role } = await invites.use(inviteToken, actor);
      if (role === undefined) return undefined;
      const { value, version } = await readAspect<{ roles?: readonly string[] }>(
        catalog,
        actor,
        "roleMembership",
      );
      const { roles = [] } = value ?? {};
      if (roles.includes(role)) return undefined;
      const changed = upsert(actor, "roleMembership", { roles: [...roles, role] }, version);
      return (await catalog.ingest([changed], { actor })).position;
    },

    async ssoSettings() {
      const settings = await entities.find(`urn:${namespace}:globalSettings:0`);
      return (settings?.globalSettingsInfo as { sso?: SsoSettings } | undefined)?.sso;
    },
  };
}

const wrongPassword = (): CatalogError =>
  new CatalogError("unauthenticated", "the user name or the password is wrong");

const denied = (denial: LoginDenial): CatalogError =>
  new CatalogError("unauthenticated", `the user may not sign in: ${denial}`, {
    hint: "Ask an administrator",
  });
