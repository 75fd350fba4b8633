/** Requests about ingestion runs: part of the catalog's interface (catalog.ts). */
import type { Registry } from "../../core/rollback.ts";
import type { Envelope } from "../read/entity-reads.ts";
import type { Caller, Written } from "../write/writes.ts";

/** An ingestion run. */
export interface RunSummary {
  readonly runId: string;
  /** Number of its records that are not rolled back. */
  readonly rows: number;
  /** Time of the last record, in epoch milliseconds. */
  readonly timestamp: number;
}

/** One record of a run. */
export interface RunRow {
  readonly runId: string;
  readonly urn: string;
  readonly aspectName: string;
  /** Time of the write, in epoch milliseconds. */
  readonly timestamp: number;
  /** Version of the value; 0 for an event. */
  readonly version: number;
  readonly keyAspect: boolean;
  readonly aspect?: Envelope | undefined;
}

/** Rollback of a run or of all records written with a model registry. */
export type RollbackRequest = {
  readonly dryRun: boolean;
  /** Deletes the entities that the run created, instead of soft-deleting them. */
  readonly hardDelete: boolean;
} & (
  | { readonly runId: string; readonly registry?: undefined }
  | { readonly registry: Registry; readonly runId?: undefined }
);

export interface Rollback extends Written {
  /** Some of the rolled back rows. */
  readonly aspectRowSummaries: readonly RunRow[];
  readonly entitiesAffected: number;
  /** Number of deleted or soft-deleted entities. */
  readonly entitiesDeleted: number;
  readonly aspectsReverted: number;
  /** Number of aspects by other writers that are removed with a deleted entity. */
  readonly aspectsAffected: number;
  /**
   * Number of entities that the run created and that have other writers, and of versions that keep
   * their value because another version of the set has the earlier sort id or label.
   */
  readonly unsafeEntitiesCount: number;
  readonly unsafeEntities: readonly { readonly urn: string }[];
}

export interface RunCatalog {
  /** Runs, latest first. `includeSoft`: including rolled back runs. */
  listRuns(page: {
    readonly pageOffset?: number | undefined;
    /** 100 when absent. */
    readonly pageSize?: number | undefined;
    readonly includeSoft?: boolean | undefined;
  }): Promise<readonly RunSummary[]>;
  /**
   * Records of a run, in order. Omits records before a hard delete of their entity and, unless
   * `includeSoft`, rolled back records and those of soft-deleted entities. Empty for an unknown
   * run.
   */
  describeRun(query: {
    readonly runId: string;
    readonly start: number;
    readonly count: number;
    readonly includeSoft?: boolean | undefined;
    readonly includeAspect?: boolean | undefined;
  }): Promise<readonly RunRow[]>;
  /**
   * Restores each entity to its state without the run, by further records: earlier values of other
   * writers return, later ones stay. Entities that the run created and that have no other writers
   * are soft-deleted. A registry is rolled back like a run with all records written with it so far.
   * An unknown run changes nothing, and neither does a second rollback. `admit` is called with the
   * entities first, `onDeleted` for each deleted entity.
   */
  rollbackRun(
    request: RollbackRequest,
    caller: Caller,
    admit?: (urns: readonly string[]) => Promise<void>,
    onDeleted?: (urn: string) => void,
  ): Promise<Rollback>;
}
