/** The result of a rollback, summed up entity by entity. */
import type { Position } from "../../core/position.ts";
import type { Rollback, RunRow } from "../catalog.ts";
import type { EntityRollback, RolledBackRow } from "./rollback-entity.ts";

export interface Tally {
  add(urn: string, rollBack: EntityRollback, written: Position | undefined): void;
  /** Counts the entity as unsafe: its aspect has the value of before the rollback. */
  keep(urn: string, aspect: string): void;
  /** Extends the result's position. */
  reach(position: Position): void;
  result(): Rollback;
}

/** Maximum numbers of rows and of entities with other writers in a response. */
const rowsMax = 100;
const unsafeMax = 1_000;

export function createTally({
  runId,
  hardDelete,
}: {
  readonly runId: string;
  readonly hardDelete: boolean;
}): Tally {
  const aspectRowSummaries: RunRow[] = [];
  const unsafeEntities: { readonly urn: string }[] = [];
  const counts = {
    entitiesAffected: 0,
    entitiesDeleted: 0,
    aspectsReverted: 0,
    aspectsAffected: 0,
    unsafeEntitiesCount: 0,
  };
  let position: Position | undefined;

  function addRow(urn: string, row: RolledBackRow, keyAspect: boolean): void {
    counts.aspectsReverted++;
    if (aspectRowSummaries.length === rowsMax) return;
    const { aspect: aspectName, version, timestamp } = row;
    aspectRowSummaries.push({ runId, urn, aspectName, version, timestamp, keyAspect });
  }

  function addUnsafe(urn: string): void {
    counts.unsafeEntitiesCount++;
    if (unsafeEntities.length < unsafeMax) unsafeEntities.push({ urn });
  }

  function reach(reached: Position): void {
    if (position === undefined || reached > position) position = reached;
  }

  return {
    reach,
    add(urn, { rows, key, others, ends }, written) {
      if (written !== undefined) reach(written);
      for (const row of rows) addRow(urn, row, false);
      if (key !== undefined && ends === "deleted") addRow(urn, key, true);
      if (rows.length > 0 || ends !== undefined) counts.entitiesAffected++;
      if (ends !== undefined) counts.entitiesDeleted++;
      if (others === 0) return;
      addUnsafe(urn);
      if (hardDelete) counts.aspectsAffected += others;
    },
    keep(urn, aspect) {
      counts.aspectsReverted--;
      const isRow = (row: RunRow) => row.urn === urn && row.aspectName === aspect;
      const index = aspectRowSummaries.findIndex(isRow);
      if (index >= 0) aspectRowSummaries.splice(index, 1);
      if (!unsafeEntities.some((one) => one.urn === urn)) addUnsafe(urn);
    },
    result: () => ({ ...counts, aspectRowSummaries, unsafeEntities, position }),
  };
}
