/**
 * Access tokens as entities of the catalog: ordinary proposals create and revoke them, so the log
 * records who created which token for whom, and when it was revoked. The catalog stores a hash of the
 * token and its metadata; the token itself is returned once and stored nowhere.
 */
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { lifetimeOf, type TokenDuration } from "../../lib/token-durations.ts";
import { standingOf } from "../policies/principals.ts";
import type { Stored, StoredEntities } from "../stored-entities.ts";
import { type TokenFormat, type TokenType, tokenId } from "./token-format.ts";

export interface TokenRecord {
  readonly urn: string;
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  /** The user that the token acts for. */
  readonly actorUrn: string;
  /** The user that created it. */
  readonly ownerUrn: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
}

interface NewToken {
  readonly type: TokenType;
  readonly actor: string;
  readonly duration: TokenDuration;
  readonly name: string;
  readonly description?: string | undefined;
}

interface MadeToken {
  readonly token: string;
  readonly record: TokenRecord;
  /** Position of the record in the log. */
  readonly position: Position | undefined;
}

export interface AccessTokens {
  /**
   * Creates a missing user, too. Throws `invalid` for a removed or suspended user, and for a duration
   * above the maximum.
   */
  create(request: NewToken, owner: string): Promise<MadeToken>;
  /** All tokens that are not revoked, also expired ones. */
  list(): Promise<readonly TokenRecord[]>;
  /** Undefined for an unknown or revoked token. */
  find(id: string): Promise<TokenRecord | undefined>;
  /** The record of a valid token of this service. */
  read(token: string): Promise<TokenRecord | undefined>;
  /** Effective when it returns. Returns the position in the log. Throws `not_found`. */
  revoke(id: string, by: string): Promise<Position>;
}

interface Dependencies {
  readonly catalog: Pick<Catalog, "ingest" | "delete">;
  readonly entities: StoredEntities;
  readonly format: TokenFormat;
  readonly namespace: string;
  readonly durationMax: TokenDuration;
  readonly now: () => number;
}

const INFO = "dataHubAccessTokenInfo";
const ID = /^[\w+/=-]{1,100}$/;

export function createAccessTokens(dependencies: Dependencies): AccessTokens {
  const { catalog, entities, format, now } = dependencies;
  const prefix = `urn:${dependencies.namespace}:dataHubAccessToken:`;

  async function find(id: string): Promise<TokenRecord | undefined> {
    if (!ID.test(id)) return undefined;
    return recordOf(prefix, prefix + id, await entities.find(prefix + id));
  }

  return {
    find,

    async create({ type, actor, duration, name, description }, owner) {
      const lifetime = lifetimeOf(duration);
      const lifetimeMax = lifetimeOf(dependencies.durationMax) ?? Number.POSITIVE_INFINITY;
      if ((lifetime ?? Number.POSITIVE_INFINITY) > lifetimeMax) {
        throw new CatalogError(
          "invalid",
          `the duration ${duration} is longer than tokens may last`,
          {
            hint: `Send ${dependencies.durationMax} or a shorter duration`,
          },
        );
      }
      const user = await entities.find(actor);
      const standing = standingOf(user);
      if (standing === "removed" || standing === "suspended") {
        throw new CatalogError("invalid", `user "${actor}" is ${standing}`, {
          hint: "Reinstate the user first",
        });
      }
      if (type === "SERVICE_ACCOUNT" && !serviceAccount(user)) {
        throw new CatalogError("invalid", `"${actor}" is not a service account`, {
          hint: "Give the user the subtype SERVICE_ACCOUNT, or create a PERSONAL token",
        });
      }
      const createdAt = now();
      const expiresAt = lifetime === undefined ? undefined : createdAt + lifetime;
      const token = await format.sign({ type, actor, expiresAt }, createdAt);
      const id = tokenId(token);
      const info = { name, actorUrn: actor, ownerUrn: owner, createdAt, expiresAt, description };
      const about = upsert("dataHubAccessToken", prefix + id, INFO, info);
      const username = actor.slice(actor.indexOf(":corpuser:") + ":corpuser:".length);
      const key = upsert("corpuser", actor, "corpUserKey", { username });
      const proposals = standing === "unknown" ? [key, about] : [about];
      const { position } = await catalog.ingest(proposals, { actor: owner });
      return { token, record: { urn: prefix + id, id, ...info }, position };
    },

    async list() {
      const found = [...(await entities.list("dataHubAccessToken"))];
      return found.flatMap(([urn, stored]) => recordOf(prefix, urn, stored) ?? []);
    },

    async read(token) {
      const verdict = await format.verify(token, now());
      return verdict.ok ? find(tokenId(token)) : undefined;
    },

    async revoke(id, by) {
      const known = await find(id);
      const gone = known && (await catalog.delete({ urn: known.urn }, { actor: by }));
      if (gone?.position === undefined) {
        throw new CatalogError("not_found", "Access token no longer exists");
      }
      return gone.position;
    },
  };
}

function recordOf(prefix: string, urn: string, stored?: Stored): TokenRecord | undefined {
  const info = stored?.[INFO] as Omit<TokenRecord, "urn" | "id"> | undefined;
  return info && { urn, id: urn.slice(prefix.length), ...info };
}

const upsert = (
  entityType: string,
  entityUrn: string,
  aspectName: string,
  value: object,
): Proposal => ({
  entityType,
  entityUrn,
  changeType: "UPSERT",
  aspectName,
  aspect: { value: JSON.stringify(value), contentType: "application/json" },
});

function serviceAccount(user: Stored | undefined): boolean {
  const kinds = (user?.subTypes as { typeNames?: readonly string[] } | undefined)?.typeNames;
  return kinds?.includes("SERVICE_ACCOUNT") === true;
}
