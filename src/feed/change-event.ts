/**
 * An event for subscribers: a change that set or removed the value of an aspect, with the previous
 * value, or a platform event of a producer. A change that only confirms a value is not an event.
 */
import type { PlacedChange, SystemMetadata } from "../core/change.ts";

/** The previous value of an aspect, with its last system metadata. */
export interface PreviousValue {
  /** JSON text. */
  readonly value: string;
  readonly system: SystemMetadata;
}

export interface ChangeEvent {
  readonly change: PlacedChange;
  /** Absent if there was none, if it was not requested, and for timeseries. */
  readonly previous?: PreviousValue | undefined;
  /** For the event of a run: its current `dataProcessInstanceRelationships`, as JSON text. */
  readonly relationships?: string | undefined;
}

/** The content type of values in events. */
export const JSON_TYPE = "application/json";

/** The MetadataChangeLog of an event. `bytesOf`: the value of an aspect as the encoding has bytes. */
export function changeLogOf({ change, previous }: ChangeEvent, bytesOf: (json: string) => unknown) {
  const aspectOf = (json: string | undefined) =>
    json === undefined ? undefined : { value: bytesOf(json), contentType: JSON_TYPE };
  return {
    entityType: change.entityType,
    entityUrn: change.urn,
    changeType: change.changeType,
    aspectName: change.aspect,
    aspect: aspectOf(change.value),
    systemMetadata: change.system,
    headers: change.headers,
    previousAspectValue: aspectOf(previous?.value),
    previousSystemMetadata: previous?.system,
    created: change.created,
  };
}
