/**
 * Rolling back a run: the value that an aspect would have without the run's writes. Pure.
 *
 * The newest write decides. If the run wrote it, the newest write of another run before it holds
 * again; otherwise nothing changes. Writes of rollbacks and derived writes are skipped, because they
 * follow from the others. Writes of a run that was rolled back later do not return.
 */
import type { ChangeType, SystemMetadata } from "./change.ts";
import type { Position } from "./position.ts";

/** Header of a value that a rollback wrote: the run's id, or the registry's mark. */
export const ROLLS_BACK_HEADER = "annals-undoes";

/** Header of other writes of a rollback: the run's id. */
export const ROLLBACK_HEADER = "annals-rollback";

/** Header of a write that follows from a write of another entity: it belongs to no run. */
export const DERIVED_HEADER = "annals-derived";

/** One record of an aspect, without its value. */
export interface RecordedWrite {
  readonly changeType: ChangeType;
  readonly position: Position;
  readonly runId: string;
  /** Number of the value that it wrote, confirmed or deleted. */
  readonly version: number;
  /** Mark of the model registry that it was written with. */
  readonly registry?: string | undefined;
  /** The run, or the registry, that it rolled back. */
  readonly rollsBack?: string | undefined;
  /** It follows from a write of another entity. */
  readonly isDerived?: boolean;
}

/** A model registry of clients: `system.registryName` and `registryVersion` of their writes. */
export interface Registry {
  readonly name: string;
  readonly version: string;
}

/** Stands for a run's id when all writes with a registry are rolled back. */
export const registryMark = ({ name, version }: Registry): string => `registry ${name}:${version}`;

/** Undefined for a write without a registry. */
export const markOf = ({
  registryName: name,
  registryVersion: version,
}: SystemMetadata): string | undefined =>
  name === undefined || version === undefined ? undefined : registryMark({ name, version });

export interface RolledBackRun {
  readonly runId: string;
  /** Later writes of the run are not rolled back. */
  readonly upTo: Position;
  /** True when the write of another run at a position was rolled back later. */
  readonly isRolledBack: (
    runId: string,
    position: Position,
    registry: string | undefined,
  ) => boolean;
}

export interface RolledBack<T extends RecordedWrite> {
  /** The newest write of the run. */
  readonly newest: T;
  /** The write that holds again; undefined: the aspect has no value. */
  readonly restored: T | undefined;
}

/** `writes`: of one aspect, the oldest first. Undefined: the run did not write the current value. */
export function rollBackAspect<T extends RecordedWrite>(
  writes: readonly T[],
  run: RolledBackRun,
): RolledBack<T> | undefined {
  const passed = new Set<string>();
  let newest: T | undefined;
  for (const one of writes.toReversed()) {
    if (one.rollsBack !== undefined) passed.add(one.rollsBack);
    if (one.rollsBack !== undefined || one.isDerived || passed.has(one.runId)) continue;
    if (one.registry !== undefined && passed.has(one.registry)) continue;
    if (one.runId === run.runId && one.position <= run.upTo) {
      newest ??= one;
      continue;
    }
    if (run.isRolledBack(one.runId, one.position, one.registry)) continue;
    if (newest === undefined) return undefined;
    return { newest, restored: one.changeType === "DELETE" ? undefined : one };
  }
  return newest && { newest, restored: undefined };
}
