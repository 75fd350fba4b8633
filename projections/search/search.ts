/**
 * Builds search documents. Each entity with a key aspect has one document, a function of its current
 * aspects and of the latest event of each of its timeseries. The document has the fields that the
 * Searchable annotations define (rules.ts), and its urn, type, runs and time of creation.
 *
 * A field that several aspects fill has all their values without duplicates: first those of the key
 * aspect, then of the others in registry order, then of the timeseries. A has-field is true if any is
 * true, a count is the greatest one. So a document does not depend on the order of writes or events
 * (the latest event is the one with the latest time).
 *
 * A document is built without the values that cannot be projected, or that were dropped (ValuePolicy).
 *
 * The size of documents is bounded (document.ts, words.ts). Search does not find values
 * beyond the bounds; the aspect still has them.
 */
import { currentAspect, type EntityState } from "../../src/core/entity-state.ts";
import { assert } from "../../src/core/errors.ts";
import type { FailedValue, ValuePolicy } from "../../src/core/parked-values.ts";
import { ownValue } from "../../src/lib/own-value.ts";
import type { SearchDocument } from "../../src/views/search/search.ts";
import { createDraft, type DocumentDraft, type Slot } from "./document.ts";
import { compileFill, type Fill } from "./fill.ts";
import type { SearchRules } from "./rules.ts";

/** An event of a timeseries: `value` is JSON text, `time` its own, in epoch milliseconds. */
interface LatestEvent {
  readonly time: number;
  readonly value: string;
  /** Position of its record. */
  readonly position?: number;
}

/**
 * Returns a function that builds the document of an entity; undefined if the entity does not exist, or
 * its type is unknown. `latest` has the latest event of each timeseries aspect. Without a policy, the
 * function throws for a value that cannot be projected.
 */
type SearchProjection = (
  state: EntityState,
  entityType: string,
  latest?: ReadonlyMap<string, LatestEvent>,
  policy?: ValuePolicy,
) => (() => SearchDocument) | undefined;

/** The fields that an event of the aspect fills, for any entity type. */
export const fieldsOfEvents = ({ rules }: SearchRules, aspect: string): readonly string[] => [
  ...new Set(
    (ownValue(rules, aspect) ?? []).flatMap(({ field, has, count }) =>
      [field, has, count].filter((name) => name !== undefined),
    ),
  ),
];

/** Maximum number of runs in a document; the newest ones are kept. */
export const runsMax = 25;

export function createSearchProjection(rules: SearchRules): SearchProjection {
  const projections = new Map<string, SearchProjection>();
  return (state, entityType, latest, policy) => {
    let projection = projections.get(entityType);
    if (projection === undefined) {
      if (!Object.hasOwn(rules.fields, entityType)) return undefined;
      projection = createTypeProjection(rules, entityType);
      projections.set(entityType, projection);
    }
    return projection(state, entityType, latest, policy);
  };
}

function createTypeProjection(rules: SearchRules, entityType: string): SearchProjection {
  const key = ownValue(rules.keyAspects, entityType) ?? "";
  const slots = new Map<string, Slot>();
  for (const [number, field] of (ownValue(rules.fields, entityType) ?? []).entries()) {
    slots.set(field.name, { number, field });
  }
  function slotOf(field: string): Slot {
    const slot = slots.get(field);
    assert(slot !== undefined, `the entity type "${entityType}" has no field "${field}"`);
    return slot;
  }
  const ofUrn = slotOf("urn");
  const ofType = slotOf("_entityType");
  const ofCreation = slotOf("systemCreated");
  const ofRuns = slotOf("runId");
  const filling = (name: string): readonly [string, Fill] => {
    return [name, compileFill(name, ownValue(rules.rules, name) ?? [], slotOf)];
  };
  const fills = (ownValue(rules.sources, entityType) ?? []).map(filling);
  const eventFills = (ownValue(rules.events, entityType) ?? []).map(filling);

  /** Calls `fill` with each value until one cannot be projected; returns that one. */
  function fillAll(
    draft: DocumentDraft,
    { state, latest, policy }: Inputs,
    failed: readonly FailedValue[],
  ): FailedValue | undefined {
    const isLeftOut = (name: string, version: number) =>
      (failed.length > 0 && failed.some(({ aspect }) => aspect === name)) ||
      policy?.omits(name, version) === true;
    for (const [name, fill] of fills) {
      const aspect = currentAspect(state, name);
      if (aspect === undefined || isLeftOut(name, aspect.version)) continue;
      const error = tryFill(fill, draft, aspect);
      if (error !== undefined) return { aspect: name, version: aspect.version, error };
    }
    for (const [name, fill] of eventFills) {
      const event = latest?.get(name);
      const version = event?.position ?? 0;
      if (event === undefined || isLeftOut(name, version)) continue;
      const error = tryFill(fill, draft, event);
      if (error !== undefined) return { aspect: name, version, error };
    }
    return undefined;
  }

  /** A failed value may have filled a part of the draft, so a new draft starts without that value. */
  function documentOf(inputs: Inputs, created: number): SearchDocument {
    const { state, policy } = inputs;
    const failed: FailedValue[] = [];
    for (;;) {
      const draft = createDraft();
      draft.add(ofUrn, [state.urn]);
      draft.add(ofType, [entityType]);
      draft.add(ofCreation, [created]);
      draft.add(ofRuns, runsOf(state));
      const failure = fillAll(draft, inputs, failed);
      if (failure === undefined) {
        policy?.reportFailed(failed);
        return draft.document(state.urn, entityType);
      }
      if (policy === undefined) throw failure.error;
      failed.push(failure);
    }
  }

  return (state, _entityType, latest, policy) => {
    const keyAspect = currentAspect(state, key);
    return keyAspect && (() => documentOf({ state, latest, policy }, keyAspect.time));
  };
}

interface Inputs {
  readonly state: EntityState;
  readonly latest: ReadonlyMap<string, LatestEvent> | undefined;
  readonly policy: ValuePolicy | undefined;
}

/** Returns the error; undefined if the value could be projected. */
function tryFill(
  fill: Fill,
  draft: DocumentDraft,
  { value, time }: { readonly value: string; readonly time: number },
): Error | undefined {
  try {
    fill(draft, JSON.parse(value), time);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The runs of the current aspects without duplicates, newest first. */
function runsOf({ aspects }: EntityState): readonly string[] {
  const observed = new Map<string, number>();
  for (const { removed, system } of aspects.values()) {
    if (removed) continue;
    const before = observed.get(system.runId);
    if (before === undefined || before < system.lastObserved) {
      observed.set(system.runId, system.lastObserved);
    }
  }
  if (observed.size === 1) return [...observed.keys()];
  const newest = [...observed].sort(([a, atA], [b, atB]) => atB - atA || (a < b ? -1 : 1));
  return newest.slice(0, runsMax).map(([run]) => run);
}
