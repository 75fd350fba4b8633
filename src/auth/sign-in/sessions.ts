/**
 * Sessions of users who sign in with a password or through single sign-on: access tokens of the type
 * SESSION, which the system actor owns. Like every access token, a session ends when it is revoked, and
 * when its user is suspended or deleted.
 */
import { CatalogError } from "../../core/errors.ts";
import { lifetimeOf, type TokenDuration } from "../../lib/token-durations.ts";
import type { StoredEntities } from "../stored-entities.ts";
import type { AccessTokens, TokenRecord } from "../tokens/access-tokens.ts";
import { denialOf, type LoginDenial } from "./login-denial.ts";

export interface Sessions {
  /**
   * Creates a token of the user that is valid for a day at most. Returns a denial for a user who may
   * not sign in.
   */
  begin(user: string): Promise<Begun>;
  /** Revokes the token if it is that of a session; other tokens stay valid. */
  end(token: string): Promise<void>;
  /** Ends all sessions of the user. */
  endAll(user: string): Promise<void>;
}

export type Begun =
  | { readonly token: string; readonly expiresAt: number | undefined }
  | { readonly denial: LoginDenial };

interface Dependencies {
  readonly tokens: AccessTokens;
  readonly entities: StoredEntities;
  readonly systemActor: string;
  readonly durationMax: TokenDuration;
  readonly now: () => number;
  readonly logger: { warn(fields: object, message: string): void };
}

const duration: TokenDuration = "ONE_DAY";
/** Time between two removals of the records of expired sessions. */
const sweepMs = 3_600_000;

export function createSessions(dependencies: Dependencies): Sessions {
  const { tokens, entities, systemActor, now, logger, durationMax } = dependencies;
  const longest = lifetimeOf(durationMax) ?? Number.POSITIVE_INFINITY;
  const own: TokenDuration = longest < (lifetimeOf(duration) ?? 0) ? durationMax : duration;
  let sweptAt = 0;

  const isSession = ({ ownerUrn }: TokenRecord): boolean => ownerUrn === systemActor;

  /** Another request may have ended the session meanwhile. */
  async function revoke({ id }: TokenRecord): Promise<void> {
    try {
      await tokens.revoke(id, systemActor);
    } catch (error) {
      if (!(error instanceof CatalogError && error.code === "not_found")) throw error;
    }
  }

  async function revokeEach(which: (record: TokenRecord) => boolean): Promise<void> {
    for (const record of await tokens.list()) {
      if (isSession(record) && which(record)) await revoke(record);
    }
  }

  function sweep(): void {
    if (now() - sweptAt < sweepMs) return;
    sweptAt = now();
    revokeEach(({ expiresAt = 0 }) => expiresAt <= now()).catch((err) =>
      logger.warn({ err }, "expired sessions not removed"),
    );
  }

  return {
    async begin(user) {
      const denial = denialOf(await entities.find(user));
      if (denial !== undefined) return { denial };
      const request = { type: "SESSION", actor: user, duration: own, name: "session" } as const;
      const { token, record } = await tokens.create(request, systemActor);
      sweep();
      return { token, expiresAt: record.expiresAt };
    },

    async end(token) {
      const record = await tokens.read(token);
      if (record !== undefined && isSession(record)) await revoke(record);
    },

    endAll: (user) => revokeEach(({ actorUrn }) => actorUrn === user),
  };
}
