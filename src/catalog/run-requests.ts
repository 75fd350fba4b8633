/** What is asked of runs of ingestion: part of what a door may ask (catalog.ts). */
import type { Registry } from "../core/undo.ts";
import type { Envelope } from "./entity-reads.ts";
import type { Caller, Written } from "./writes.ts";

/** A run of ingestion, as the log tells of it. */
export interface RunSummary {
  readonly runId: string;
  /** Records that it wrote and that nobody rolled back. */
  readonly rows: number;
  /** Of the last one, in epoch milliseconds. */
  readonly timestamp: number;
}

/** What a run told of one aspect, at one time. */
export interface RunRow {
  readonly runId: string;
  readonly urn: string;
  readonly aspectName: string;
  /** When it was told, in epoch milliseconds. */
  readonly timestamp: number;
  /** Number of the value; 0 of an event. */
  readonly version: number;
  readonly keyAspect: boolean;
  readonly aspect?: Envelope | undefined;
}

/** Of a run, or of all that was told with a model registry. */
export type RollbackRequest = {
  readonly dryRun: boolean;
  /** Deletes the entities that the run brought into being, instead of hiding them. */
  readonly hardDelete: boolean;
} & (
  | { readonly runId: string; readonly registry?: undefined }
  | { readonly registry: Registry; readonly runId?: undefined }
);

export interface Rollback extends Written {
  /** Some of what is undone. */
  readonly aspectRowSummaries: readonly RunRow[];
  readonly entitiesAffected: number;
  /** Entities that are deleted, or hidden. */
  readonly entitiesDeleted: number;
  readonly aspectsReverted: number;
  /** Aspects that others told and that go with a deleted entity. */
  readonly aspectsAffected: number;
  /** Entities that the run brought into being and of which others told. */
  readonly unsafeEntitiesCount: number;
  readonly unsafeEntities: readonly { readonly urn: string }[];
}

export interface RunCatalog {
  /** Runs, the one that told last first. `includeSoft`: those that were rolled back, too. */
  listRuns(page: {
    readonly pageOffset?: number | undefined;
    /** 100 when absent. */
    readonly pageSize?: number | undefined;
    readonly includeSoft?: boolean | undefined;
  }): Promise<readonly RunSummary[]>;
  /**
   * What a run told, in its order; without what was told of an entity before it was deleted for good,
   * and, unless `includeSoft`, of one that is soft-deleted now, and what was rolled back. None of an
   * unknown run.
   */
  describeRun(query: {
    readonly runId: string;
    readonly start: number;
    readonly count: number;
    readonly includeSoft?: boolean | undefined;
    readonly includeAspect?: boolean | undefined;
  }): Promise<readonly RunRow[]>;
  /**
   * Makes each entity what it would be if the run had told nothing of it, by further records: values
   * that others told before are there again, what others told since stays. Entities that the run
   * brought into being, and of which nobody else told anything, are hidden. A registry is undone as
   * a run would be that had told all that was told with it until now. An unknown run comes to
   * nothing; several rollbacks of one run come to one. `admit` is asked about the entities first, and
   * `onDeleted` is told of each that is deleted.
   */
  rollbackRun(
    request: RollbackRequest,
    caller: Caller,
    admit?: (urns: readonly string[]) => Promise<void>,
    onDeleted?: (urn: string) => void,
  ): Promise<Rollback>;
}
