/**
 * A change of one aspect of one entity, decoded from one record of the log.
 *
 * The record is an Avro MetadataChangeLog (avro/log/). Field names are those of DataHub's record.
 * The name of the stream, not the record, contains the urn.
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
  /** Empty in a truncation, which affects every entity of the type, and in a platform event. */
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

/** A change with its position in the log. */
export interface PlacedChange extends Change {
  readonly position: Position;
  readonly revision: Revision;
  /** False for a change from the stream of an entity. */
  readonly timeseries: boolean;
}

/** True if subscribers get the change: it neither confirms a value nor truncates a timeseries. */
export const isEventForSubscribers = ({ changeType, timeseries }: PlacedChange): boolean =>
  timeseries ? changeType === "UPSERT" : changeType !== "RESTATE";

/**
 * True for a change that restores the edges of an aspect (catalog/graph/restore-edges.ts). It
 * repeats the aspect's value, actor, time and run, but does not count as a write of that run.
 */
export const restoresEdges = ({ changeType, value }: Change): boolean =>
  changeType === "RESTATE" && value !== undefined;

/** Run id of a change whose proposal named none. */
export const NO_RUN_ID = "no-run-id-provided";
