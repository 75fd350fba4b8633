/**
 * A change: what one record of the log says happened to one aspect of one entity.
 *
 * It is the decoded form of the Avro record MetadataChangeLog (avro/log/). Field names follow the
 * reference's record; the urn is not in the record but in the name of its stream.
 */
import type { Position, Revision } from "./position.ts";

/**
 * UPSERT: the aspect has a new value. RESTATE: a proposal repeats the current value (no `value`;
 * `system.version` names the version that it confirms). DELETE: the aspect is deleted; for a key
 * aspect: the entity with all its aspects and timeseries.
 */
export type ChangeType = "UPSERT" | "RESTATE" | "DELETE";

export interface AuditStamp {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly actor: string;
}

/** Run and time of the write; `version` is the version that this change made or confirmed. */
export interface SystemMetadata {
  readonly lastObserved: number;
  readonly runId: string;
  readonly lastRunId?: string | undefined;
  readonly pipelineName?: string | undefined;
  readonly registryName?: string | undefined;
  readonly registryVersion?: string | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly version?: string | undefined;
  readonly schemaVersion?: number | undefined;
  readonly aspectCreated?: AuditStamp | undefined;
  readonly aspectModified?: AuditStamp | undefined;
}

export interface Change {
  /** Empty in a truncation: it is of every entity of the type. Also empty in a platform event. */
  readonly urn: string;
  readonly entityType: string;
  readonly aspect: string;
  readonly changeType: ChangeType;
  /**
   * The aspect as JSON text, normalised by the validator. With UPSERT, and with the RESTATE that
   * restores the edges of an aspect.
   */
  readonly value?: string | undefined;
  readonly created: AuditStamp;
  readonly system: SystemMetadata;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A change with its place in the log. */
export interface PlacedChange extends Change {
  readonly position: Position;
  readonly revision: Revision;
  /** False when it comes from the stream of an entity. */
  readonly timeseries: boolean;
}

/** Subscribers get the change: not a confirmed value, and not the truncation of a timeseries. */
export const isNews = ({ changeType, timeseries }: PlacedChange): boolean =>
  timeseries ? changeType === "UPSERT" : changeType !== "RESTATE";

/**
 * True for a change that restores the edges that an aspect states (catalog/graph/restore-edges.ts). It
 * repeats the aspect's value, actor, time and run, and belongs to no run itself.
 */
export const restoresEdges = ({ changeType, value }: Change): boolean =>
  changeType === "RESTATE" && value !== undefined;

/** Run id of a change whose proposal named none. */
export const NO_RUN_ID = "no-run-id-provided";
