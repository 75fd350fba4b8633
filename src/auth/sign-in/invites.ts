/**
 * Invite tokens. A token is valid for one user and for a limited time, and gives its role, if it has
 * one. The catalog stores a hash of the token; the token itself is returned once.
 *
 * A used invite stays until it expires: DataHub's web application accepts the role after the sign-up,
 * with the same token.
 */

import { createHash, randomBytes } from "node:crypto";
import type { Catalog } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { isOvertaken, upsert } from "../../core/write/upsert.ts";
import { dayMs } from "../../lib/calendar.ts";
import type { StoredEntities } from "../stored-entities.ts";
import { readAspect } from "./stored-aspect.ts";

export interface Invites {
  /**
   * Creates an invite. Returns the token, and the position of its record. Throws `invalid` for an
   * unknown role.
   */
  create(role: string | undefined, by: string): Promise<NewInvite>;
  /** Throws `invalid` for a token that is unknown, expired, or used by another user. */
  check(token: string, user: string): Promise<Invite>;
  /** Checks the token like `check`, and reserves the invite for the user. */
  use(token: string, user: string): Promise<Invite>;
}

interface NewInvite {
  readonly token: string;
  readonly position: Position | undefined;
}

interface Invite {
  readonly role: string | undefined;
  /** True if the user has used it before. */
  readonly used: boolean;
}

interface Dependencies {
  readonly catalog: Pick<Catalog, "ingest" | "findAspect" | "delete">;
  readonly entities: StoredEntities;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
  readonly logger: { warn(fields: object, message: string): void };
}

interface Stored {
  readonly token: string;
  readonly role?: string;
  readonly expiresAt?: number;
  readonly usedBy?: string;
}

const INVITE = "inviteToken";
const lifeMs = 7 * dayMs;
/** 32 characters. */
const TOKEN_BYTES = 24;

export const newSecret = (): string => randomBytes(TOKEN_BYTES).toString("base64url");

export const hashOfSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("base64url");

export function createInvites(dependencies: Dependencies): Invites {
  const { catalog, entities, namespace, systemActor, now, logger } = dependencies;
  const urnOf = (token: string): string =>
    `urn:${namespace}:inviteToken:${hashOfSecret(token.slice(0, 200))}`;

  async function find(token: string, user: string) {
    const urn = urnOf(token);
    const { value, version } = await readAspect<Stored>(catalog, urn, INVITE);
    const valid = value !== undefined && (value.expiresAt ?? 0) > now();
    if (!valid || (value.usedBy ?? user) !== user) throw unknownInvite();
    return { urn, value, version };
  }

  async function removeExpired(): Promise<void> {
    for (const [urn, { inviteToken }] of await entities.list(INVITE)) {
      const { expiresAt = 0 } = (inviteToken ?? {}) as Partial<Stored>;
      if (expiresAt <= now()) await catalog.delete({ urn }, { actor: systemActor });
    }
  }

  return {
    async create(role, by) {
      if (role !== undefined && (await entities.find(role))?.dataHubRoleInfo === undefined) {
        throw new CatalogError("invalid", `the role "${role}" does not exist`, {
          hint: "The query listRoles lists the roles",
        });
      }
      const token = newSecret();
      const value: Stored = { token: hashOfSecret(token), expiresAt: now() + lifeMs };
      const stored = role === undefined ? value : { ...value, role };
      const { position } = await catalog.ingest([upsert(urnOf(token), INVITE, stored, -1)], {
        actor: by,
      });
      removeExpired().catch((err) => logger.warn({ err }, "expired invites not removed"));
      return { token, position };
    },

    async check(token, user) {
      const { value } = await find(token, user);
      return { role: value.role, used: value.usedBy === user };
    },

    async use(token, user) {
      const { urn, value, version } = await find(token, user);
      if (value.usedBy === user) return { role: value.role, used: true };
      try {
        const used: Stored = { ...value, usedBy: user };
        await catalog.ingest([upsert(urn, INVITE, used, version)], { actor: systemActor });
      } catch (error) {
        throw isOvertaken(error) ? unknownInvite() : error;
      }
      return { role: value.role, used: false };
    },
  };
}

const unknownInvite = (): CatalogError =>
  new CatalogError("invalid", "the invite token is not valid", {
    hint: "It is unknown, has expired or was used. Ask an administrator for a new one",
  });
