/**
 * The current state of an entity: the fold of its stream. The decider reads it, the aspect table
 * stores it.
 */
import type { SystemMetadata } from "./change.ts";
import { EMPTY_STREAM, type Revision } from "./position.ts";

/** The newest value of one aspect. A delete sets `removed` and keeps the version. */
export interface AspectState {
  readonly name: string;
  /** Number of the newest value, from 1. */
  readonly version: number;
  /** JSON text of the newest value. */
  readonly value: string;
  /** Stamp of the newest value: epoch milliseconds and actor urn. */
  readonly time: number;
  readonly actor: string;
  readonly system: SystemMetadata;
  readonly removed: boolean;
}

export interface EntityState {
  readonly urn: string;
  /** Revision of the last record of the entity's stream; -1 when it has none. */
  readonly revision: Revision;
  /** By name; contains every aspect that has or had a value. */
  readonly aspects: ReadonlyMap<string, AspectState>;
}

export const unknownEntity = (urn: string): EntityState => ({
  urn,
  revision: EMPTY_STREAM,
  aspects: new Map(),
});

/** The aspect; undefined if it has no current value. */
export function currentAspect(state: EntityState, name: string): AspectState | undefined {
  const aspect = state.aspects.get(name);
  return aspect === undefined || aspect.removed ? undefined : aspect;
}
