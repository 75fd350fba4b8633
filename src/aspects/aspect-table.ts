/**
 * Ports of the aspect view: every version of every aspect, its stamps and its run.
 * Writes come from projections/aspects.ts. Contract: test/contract/aspect-table.contract.ts.
 */
import type { EntityState } from "../core/entity-state.ts";
import type { Position, Revision } from "../core/position.ts";
import type { Sink } from "../projector/sink.ts";

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
  /** Value number `version` was told again: new system metadata, the rest stays. */
  | (AspectPlace & { readonly op: "confirm"; readonly version: number; readonly system: string })
  /** The aspect has no value any more; its history and its numbers stay. */
  | (AspectPlace & { readonly op: "remove" })
  /** All aspects of the entity are removed and the entity exists no more. */
  | (AspectPlace & { readonly op: "remove_entity" });

export type AspectSink = Sink<AspectWrite>;

/** One value of one aspect as the table has it. */
export interface StoredValue {
  /** From 1. */
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  /** When it was told, in epoch milliseconds, and by whom, as a urn. */
  readonly time: number;
  readonly actor: string;
  /** SystemMetadata as JSON text. */
  readonly system: string;
}

export interface AspectReader {
  /** The table has every record up to here. */
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

  /** How many entities of each type exist: 0 where aspects were told, but no entity exists (now). */
  countEntities(): Promise<ReadonlyMap<string, number>>;

  /** How many entities have the aspect now, optionally only urns LIKE a pattern (% and _). */
  countAspect(aspect: string, urnLike?: string): Promise<number>;

  /** May be said twice; later calls are `unavailable`. */
  close(): Promise<void>;
}

/**
 * A value with all that the table knows of it, for verification (projector/compare.ts): in byte
 * order of urn and aspect, then by version.
 */
export interface AspectRow extends StoredValue {
  readonly urn: string;
  readonly aspect: string;
  /** Of the record that made the value. */
  readonly position: Position;
  /** Of the last record that told the value. */
  readonly revision: Revision;
  /** Positions of the last record that confirmed it, and of the one that removed it. */
  readonly confirmed: Position | undefined;
  readonly removed: Position | undefined;
  /** Whether the entity exists. */
  readonly exists: boolean;
}
