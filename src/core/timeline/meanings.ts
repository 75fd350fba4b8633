/** The meanings of a change of the log: those of its aspect, or of the event of a run. Pure. */
import type { AuditStamp, PlacedChange } from "../change.ts";
import { runEvent } from "./run-events.ts";
import { type SemanticChange, semanticChanges } from "./semantic-changes.ts";

/** A semantic change with its audit stamp. */
export interface Meaning extends SemanticChange {
  /** Entity type of the changed aspect's entity. */
  readonly entityType: string;
  readonly created: AuditStamp;
}

interface ChangeWithPrevious {
  readonly change: PlacedChange;
  readonly previous?: { readonly value: string } | undefined;
  /** JSON text, for the event of a run. */
  readonly relationships?: string | undefined;
}

/** `keyAspect`: the key aspect of the entity type. */
export function meaningsOf(
  { change, previous, relationships }: ChangeWithPrevious,
  keyAspect: string | undefined,
): readonly Meaning[] {
  const { urn, aspect, entityType, value, created } = change;
  const after = value === undefined ? undefined : JSON.parse(value);
  if (change.timeseries) {
    if (after === undefined) return [];
    const event = runEvent(urn, aspect, after, relationships && JSON.parse(relationships));
    return event === undefined ? [] : [{ ...event, entityType, created }];
  }
  const before = previous && JSON.parse(previous.value);
  const isKey = keyAspect === aspect;
  return semanticChanges({ urn, aspect, isKey, before, after }).map((one) => ({
    ...one,
    entityType,
    created,
  }));
}
