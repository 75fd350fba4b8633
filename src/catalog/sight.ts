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
  /** By the newest state; of an entity that is not there, by its urn. */
  sees(state: EntityState): boolean;
}

/** Asked for each read: policies may have changed. */
export type Look = () => Promise<Sight>;
