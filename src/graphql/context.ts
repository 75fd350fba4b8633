/** The context of the resolvers and rules of one request. */

import type { AuditEntry } from "../auth/audit.ts";
import type { Authority } from "../auth/policies/authority.ts";
import type { SignIn } from "../auth/sign-in/sign-in.ts";
import type { StoredEntities } from "../auth/stored-entities.ts";
import type { AccessTokens } from "../auth/tokens/access-tokens.ts";
import type { SecretCipher } from "../auth/tokens/secret-cipher.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Position } from "../core/position.ts";
import type { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import type { EntityLoader } from "./entity-loader.ts";
import type { LongLists } from "./long-lists.ts";
import type { EntityTypes } from "./schema/entity-types.ts";

export interface ServerContext {
  readonly entityTypes: EntityTypes;
  readonly authority: Authority;
  readonly tokens: AccessTokens;
  readonly secrets: SecretCipher;
  readonly entities: StoredEntities;
  readonly signIn: SignIn;
  readonly namespace: string;
  /** Version of the service. */
  readonly version: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** When a token was last used, in epoch milliseconds, to the hour. */
  readonly lastUse: (urn: string) => Promise<number | undefined>;
  /** Serializes moves of entities that have parents. */
  readonly moving: ConcurrencyLimit;
}

export interface Viewer extends ServerContext {
  /** With the viewer's read permissions. */
  readonly catalog: Catalog;
  readonly loader: EntityLoader;
  readonly longLists: LongLists;
  /** Urn of the caller; undefined for anonymous requests. */
  readonly actor: string | undefined;
  /** Notes an operation or rejection that leaves no other record. */
  readonly audited: (note: Pick<AuditEntry, "action" | "outcome" | "urn" | "detail">) => void;
  /** Called with the log position of each write. */
  readonly wrote: (position: Position | undefined) => void;
}

/** Resolves a field; `source` is the result of the enclosing field's resolver. */
export type Resolver = (source: never, args: never, viewer: Viewer) => unknown;

/** Resolves a field of Query or Mutation, which has no source. */
export type RootResolver = (args: never, viewer: Viewer) => unknown;

/** The arguments of most root fields. */
export interface InputArgs<Input> {
  readonly input: Input;
}

/** The arguments of a field that changes an entity. */
export interface UpdateArgs<Input> extends InputArgs<Input> {
  readonly urn: string;
}
