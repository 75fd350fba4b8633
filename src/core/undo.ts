/**
 * Undoing a run: what an aspect would be if the run had never told of it. Pure.
 *
 * The newest telling decides. Where it is the run's own, the newest one before it that is another's
 * holds again; where it is not, nothing changes. What earlier undoings wrote says nothing of its own:
 * it followed from the rest. What a run told that was undone since does not come back.
 */
import type { ChangeType, SystemMetadata } from "./change.ts";
import type { Position } from "./position.ts";

/** Header of what an undoing wrote in place of what was told: the run's id, or the registry's mark. */
export const UNDOES_HEADER = "annals-undoes";

/** Header of what a rollback decided beyond undoing, hiding and deleting: the run's id. */
export const ROLLBACK_HEADER = "annals-rollback";

/** One record about one aspect, without its value. */
export interface Telling {
  readonly changeType: ChangeType;
  readonly position: Position;
  readonly runId: string;
  /** Number of the value that it made, confirmed or took away. */
  readonly version: number;
  /** Mark of the model registry that it was told with. */
  readonly registry?: string | undefined;
  /** The run, or the registry, that it undid. */
  readonly undoes?: string | undefined;
}

/** A model registry of clients: `system.registryName` and `registryVersion` of what they tell. */
export interface Registry {
  readonly name: string;
  readonly version: string;
}

/** In the place of a run's id, where all that was told with a registry is undone. */
export const registryMark = ({ name, version }: Registry): string => `registry ${name}:${version}`;

/** Undefined: it was told with none. */
export const markOf = ({
  registryName: name,
  registryVersion: version,
}: SystemMetadata): string | undefined =>
  name === undefined || version === undefined ? undefined : registryMark({ name, version });

export interface UndoneRun {
  readonly runId: string;
  /** What the run tells after this is not undone. */
  readonly upTo: Position;
  /** Whether what another run told at a position, with a registry or none, was undone since. */
  readonly isUndone: (runId: string, position: Position, registry: string | undefined) => boolean;
}

export interface Undone<T extends Telling> {
  /** The newest of what the run told. */
  readonly told: T;
  /** What holds again; undefined: the aspect has no value. */
  readonly restored: T | undefined;
}

/** `tellings`: of one aspect, the oldest first. Undefined: the run has no part in what it is. */
export function undoAspect<T extends Telling>(
  tellings: readonly T[],
  run: UndoneRun,
): Undone<T> | undefined {
  const passed = new Set<string>();
  let told: T | undefined;
  for (const one of tellings.toReversed()) {
    if (one.undoes !== undefined) passed.add(one.undoes);
    if (one.undoes !== undefined || passed.has(one.runId)) continue;
    if (one.registry !== undefined && passed.has(one.registry)) continue;
    if (one.runId === run.runId && one.position <= run.upTo) {
      told ??= one;
      continue;
    }
    if (run.isUndone(one.runId, one.position, one.registry)) continue;
    if (told === undefined) return undefined;
    return { told, restored: one.changeType === "DELETE" ? undefined : one };
  }
  return told && { told, restored: undefined };
}
