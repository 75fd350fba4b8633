/**
 * Read permissions of one caller (auth/policies/policy-filter.ts creates them). With read authorization on, every
 * read goes through ports filtered by them (filtered-readers.ts), so hidden entities behave as if they
 * did not exist.
 */
import type { EntityState } from "../../core/entity-state.ts";
import type { Condition } from "../../views/search/search.ts";

export interface AccessFilter {
  /** True if everything is visible; the other members are then not used. */
  readonly everything: boolean;
  /** Condition on the documents of visible entities. */
  readonly condition: Condition;
  /**
   * Condition on documents of entities that are visible only if `isVisible` returns true,
   * because a condition cannot express the rule. Undefined if there are none.
   */
  readonly toCheck: Condition | undefined;
  /**
   * True if the entity is visible in its newest state. An entity that never existed has only its
   * urn.
   */
  isVisible(state: EntityState): boolean;
  /** True if the entity is visible whatever its state, also before a deletion. */
  alwaysVisible(urn: string): boolean;
}

/**
 * Called for each read, because policies may have changed. Without a promise if the filter is
 * cached.
 */
export type ResolveFilter = () => Promise<AccessFilter> | AccessFilter;

/** Entity types and aspects that are restricted to the users who manage them. */
export interface Restricted {
  /** Names of restricted entity types. */
  readonly entityTypes: ReadonlySet<string>;
  /** Names of restricted aspects, by entity type, for the other types. */
  readonly aspectsOf: ReadonlyMap<string, readonly string[]>;
  /** All restricted aspects, including those that only restricted types have. */
  readonly aspects: ReadonlySet<string>;
  /** True if the caller may see the restricted entity type or aspect. */
  may(name: string): Promise<boolean>;
}

/** The restrictions of one caller. */
export interface AccessContext {
  readonly restricted?: Restricted | undefined;
  /** Absent: everything else is visible. */
  readonly resolveFilter?: ResolveFilter | undefined;
}
