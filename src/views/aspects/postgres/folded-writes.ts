/**
 * Folds a batch of writes into at most one change per row: a hundred writes of an entity cost one row
 * of a statement. Pure; applying the result equals applying the writes in order.
 */
import type { AspectWrite } from "../aspect-table.ts";

/** A row to insert. */
export interface ValueRow {
  readonly entity: number;
  readonly aspect: number;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  readonly actor: string;
  readonly value: string;
  revision: number;
  system: string;
  confirmed: number | undefined;
  removed: number | undefined;
}

/** A change of an existing row; undefined members stay unchanged. */
export interface ValueChange {
  readonly entity: number;
  readonly aspect: number;
  readonly version: number;
  system: string | undefined;
  confirmed: number | undefined;
  revision: number | undefined;
  removed: number | undefined;
}

export interface EntityChange {
  living: boolean | undefined;
  /** Revision of the last record that no newest value may have; -1 if there is none. */
  revision: number;
}

interface Newest {
  readonly version: number;
  removed: boolean;
}

/** By entity, then by aspect. */
export type NewestValues = Map<number, Map<number, Newest>>;

interface Numbers {
  entity(urn: string): number;
  aspect(name: string): number;
}

interface Folded {
  readonly values: readonly ValueRow[];
  readonly changes: readonly ValueChange[];
  readonly entities: ReadonlyMap<number, EntityChange>;
}

/** Urns of entities whose newest values are needed to fold the writes. */
export function urnsOfRemovals(writes: readonly AspectWrite[]): readonly string[] {
  const urns = new Set<string>();
  for (const { op, urn } of writes) if (op === "remove" || op === "remove_entity") urns.add(urn);
  return [...urns];
}

/** `newest` has the newest values of the entities of urnsOfRemovals; it is modified. */
export function foldWrites(
  writes: readonly AspectWrite[],
  numbers: Numbers,
  newest: NewestValues,
): Folded {
  const values = new Map<string, ValueRow>();
  const changes = new Map<string, ValueChange>();
  const entities = new Map<number, EntityChange>();

  function entityChange(entity: number): EntityChange {
    let change = entities.get(entity);
    if (change === undefined) {
      change = { living: undefined, revision: -1 };
      entities.set(entity, change);
    }
    return change;
  }

  function note(entity: number, revision: number): void {
    const change = entityChange(entity);
    if (revision > change.revision) change.revision = revision;
  }

  function changeOf(entity: number, aspect: number, version: number): ValueChange {
    const key = keyOf(entity, aspect, version);
    let change = changes.get(key);
    if (change === undefined) {
      change = { entity, aspect, version, ...NOTHING };
      changes.set(key, change);
    }
    return change;
  }

  function value(write: Write<"value">): void {
    const { version, position, revision, time, actor, system } = write;
    const entity = numbers.entity(write.urn);
    const aspect = numbers.aspect(write.aspect);
    const key = keyOf(entity, aspect, version);
    values.set(key, {
      entity,
      aspect,
      version,
      position,
      revision,
      time,
      actor,
      system,
      value: write.value,
      confirmed: undefined,
      removed: undefined,
    });
    changes.delete(key);
    if (write.key) entityChange(entity).living = true;
    const known = newest.get(entity);
    if (known !== undefined && version >= (known.get(aspect)?.version ?? 0)) {
      known.set(aspect, { version, removed: false });
    }
  }

  function confirm({ urn, aspect, version, system, position, revision }: Write<"confirm">): void {
    const entity = numbers.entity(urn);
    const number = numbers.aspect(aspect);
    const row = values.get(keyOf(entity, number, version));
    const target = row ?? changeOf(entity, number, version);
    target.system = system;
    target.confirmed = position;
    target.revision = revision;
    // The statement finds out whether a stored row is the newest (changeValues).
    if (row !== undefined) note(entity, revision);
  }

  function remove(entity: number, aspect: number, position: number): void {
    const last = newest.get(entity)?.get(aspect);
    if (last === undefined || last.removed) return;
    last.removed = true;
    const row = values.get(keyOf(entity, aspect, last.version));
    (row ?? changeOf(entity, aspect, last.version)).removed = position;
  }

  function removeEntity(entity: number, position: number): void {
    for (const aspect of newest.get(entity)?.keys() ?? []) remove(entity, aspect, position);
    entityChange(entity).living = false;
  }

  for (const write of writes) {
    if (write.op === "value") value(write);
    else if (write.op === "confirm") confirm(write);
    else {
      const entity = numbers.entity(write.urn);
      if (write.op === "remove") remove(entity, numbers.aspect(write.aspect), write.position);
      else removeEntity(entity, write.position);
      note(entity, write.revision);
    }
  }
  return { values: [...values.values()], changes: [...changes.values()], entities };
}

type Write<Op extends AspectWrite["op"]> = Extract<AspectWrite, { op: Op }>;

const NOTHING = {
  system: undefined,
  confirmed: undefined,
  revision: undefined,
  removed: undefined,
};

const keyOf = (entity: number, aspect: number, version: number): string =>
  `${entity}/${aspect}/${version}`;
