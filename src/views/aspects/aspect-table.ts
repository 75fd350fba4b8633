/**
 * Ports of the aspect view: every version of every aspect, its stamps and its run.
 * Writes come from projections/aspects.ts. Contract: test/contract/aspect-table.contract.ts.
 */
import type { EntityState } from "../../core/entity-state.ts";
import type { Position, Revision } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";

interface AspectPlace {
  readonly urn: string;
  readonly aspect: string;
  readonly position: Position;
  readonly revision: Revision;
}

export type AspectWrite =
  /** The aspect has value number `version`. */
  | (AspectPlace & {
      readonly op: "value";
      readonly version: number;
      /** JSON text. */
      readonly value: string;
      /** Epoch milliseconds. */
      readonly time: number;
      /** Urn. */
      readonly actor: string;
      /** SystemMetadata as JSON text. */
      readonly system: string;
      /** True for a key aspect: the entity now exists. */
      readonly key: boolean;
      readonly entityType: string;
    })
  /** Value number `version` was confirmed: new system metadata, the rest stays. */
  | (AspectPlace & { readonly op: "confirm"; readonly version: number; readonly system: string })
  /** The current value is removed; history and version numbers stay. */
  | (AspectPlace & { readonly op: "remove" })
  /** All aspects of the entity are removed, and the entity no longer exists. */
  | (AspectPlace & { readonly op: "remove_entity" });

export type AspectSink = Sink<AspectWrite>;

/** One stored value of an aspect. */
export interface StoredValue {
  /** From 1. */
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  /** Time of the write, in epoch milliseconds, and the actor's urn. */
  readonly time: number;
  readonly actor: string;
  /** SystemMetadata as JSON text. */
  readonly system: string;
}

export interface AspectReader {
  /** The table covers every record up to this position. */
  position(): Promise<Position>;

  /** States in the order of the urns; an unknown urn gives unknownEntity(urn). */
  getEntities(urns: readonly string[]): Promise<readonly EntityState[]>;

  /** Value number `version` (from 1), also of a removed aspect. */
  findValue(urn: string, aspect: string, version: number): Promise<StoredValue | undefined>;

  /** Existing entities of a type in byte order of their urns, and how many there are in all. */
  listUrns(
    entityType: string,
    page: { readonly start: number; readonly count: number },
  ): Promise<{ readonly urns: readonly string[]; readonly total: number }>;

  /**
   * The first `count` existing entities of a type after a urn ("": from the beginning), in byte
   * order. The cost does not depend on where the page lies.
   */
  urnsAfter(entityType: string, after: string, count: number): Promise<readonly string[]>;

  /** Number of existing entities by type; 0 for a type that only has deleted ones, or only aspects. */
  countEntities(): Promise<ReadonlyMap<string, number>>;

  /** How many entities have the aspect now, optionally only urns LIKE a pattern (% and _). */
  countAspect(aspect: string, urnLike?: string): Promise<number>;

  /** Idempotent; later calls of other methods reject with `unavailable`. */
  close(): Promise<void>;
}
