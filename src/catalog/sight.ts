/**
 * What of the catalog somebody may see (auth/sights.ts says it). Where reads are authorised, every
 * use case that reads works on ports that show nothing else (seen-ports.ts): what may not be seen is
 * to all of them as if it were not there.
 */
import type { EntityState } from "../core/entity-state.ts";
import type { Condition } from "../search/search.ts";

export interface Sight {
  /** Nothing is hidden: nothing else is asked. */
  readonly everything: boolean;
  /** What the documents of entities that may be seen fulfil. */
  readonly condition: Condition;
  /**
   * What documents fulfil whose entities may be seen, too, where `sees` says so: what no condition
   * can say. Undefined: none.
   */
  readonly perhaps: Condition | undefined;
  /** By the newest state; of an entity that never was there, by its urn. */
  sees(state: EntityState): boolean;
  /** Whether it sees the entity whatever there is of it: what it was before it was deleted, too. */
  seesAlways(urn: string): boolean;
}

/** Asked for each read: policies may have changed. At once where it is known. */
export type Look = () => Promise<Sight> | Sight;

/** What is shown to those alone who manage it, whatever else they see. */
export interface Withheld {
  /** Names of entity types of which nothing is shown. */
  readonly entityTypes: ReadonlySet<string>;
  /** By other entity types: names of aspects that are not shown. */
  readonly aspectsOf: ReadonlyMap<string, readonly string[]>;
  /** All those aspects, and those that only the withheld types have. */
  readonly aspects: ReadonlySet<string>;
  /** Whether all the same who asks may see the entity type or the aspect of that name. */
  may(name: string): Promise<boolean>;
}

/** Through what somebody sees who may not see everything. */
export interface Eyes {
  readonly withheld?: Withheld | undefined;
  /** Absent: everything else is seen. */
  readonly look?: Look | undefined;
}
