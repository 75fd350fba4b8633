/** What the resolvers and rules of one request work with. */
import type { AccessTokens } from "../auth/access-tokens.ts";
import type { AuditNote } from "../auth/audit.ts";
import type { Authority } from "../auth/authority.ts";
import type { StoredEntities } from "../auth/stored-entities.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { InTurn } from "../core/in-turn.ts";
import type { Position } from "../core/position.ts";
import type { EntityLoader } from "./entity-loader.ts";
import type { EntityTypes } from "./entity-types.ts";

export interface Surroundings {
  readonly entityTypes: EntityTypes;
  readonly authority: Authority;
  readonly tokens: AccessTokens;
  readonly entities: StoredEntities;
  readonly namespace: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** When a token was last used, in epoch milliseconds, to the hour. */
  readonly lastUse: (urn: string) => Promise<number | undefined>;
  /** Moves of what has parents, one after the other. */
  readonly moving: InTurn;
}

export interface Viewer extends Surroundings {
  /** As the user who asks sees it. */
  readonly catalog: Catalog;
  readonly loader: EntityLoader;
  /** Urn of the user who asks; undefined: nobody is known to. */
  readonly actor: string | undefined;
  /** To be told what was done or refused, where that leaves no other record. */
  readonly audited: (note: Pick<AuditNote, "action" | "outcome" | "urn" | "detail">) => void;
  /** To be told where the log holds what a field wrote. */
  readonly wrote: (position: Position | undefined) => void;
}

/** Answers a field. What a parent's resolver answered comes as the source. */
export type Resolver = (source: never, args: never, viewer: Viewer) => unknown;
