/**
 * How the search view follows from the log: one document for each entity, the fold of its aspects
 * and of the latest event of each of its timeseries.
 *
 *   an entity with a key aspect   its document: what the Searchable annotations say of its aspects
 *                                 (search-rules.ts), its urn, type, runs and time of creation
 *   any other                     none
 *
 * A field that several places tell has the values of all, each once: first those of the key aspect,
 * then of the others in registry order, then of the timeseries. Of has-fields true wins, of counts
 * the greatest. So nothing depends on which aspect was written last, nor on the order in which events
 * were told (the latest is the one of the latest time), and a document is the same whenever it is made.
 *
 * Documents are bounded, whatever the aspects hold (search-document.ts, search-words.ts). What goes
 * beyond is not found, and still read with its aspect.
 */
import { currentAspect, type EntityState } from "../src/core/entity-state.ts";
import { assert } from "../src/core/errors.ts";
import { ownValue } from "../src/core/own-value.ts";
import type { SearchDocument } from "../src/search/search.ts";
import { createDraft, type Slot } from "./search-document.ts";
import { compileFill, type Fill } from "./search-fill.ts";
import type { SearchRules } from "./search-rules.ts";

/** An event of a timeseries: `value` is JSON text, `time` its own, in epoch milliseconds. */
export interface LatestEvent {
  readonly time: number;
  readonly value: string;
}

/**
 * What makes the document of an entity, of which `latest` has the latest event of each timeseries
 * aspect; undefined when the entity is not there, or its type not known. It throws for a value that
 * is not of its aspect.
 */
export type SearchProjection = (
  state: EntityState,
  entityType: string,
  latest?: ReadonlyMap<string, LatestEvent>,
) => (() => SearchDocument) | undefined;

/** The fields that an event of the aspect fills, whatever the entity type. */
export const fieldsOfEvents = ({ rules }: SearchRules, aspect: string): readonly string[] => [
  ...new Set(
    (ownValue(rules, aspect) ?? []).flatMap(({ field, has, count }) =>
      [field, has, count].filter((name) => name !== undefined),
    ),
  ),
];

/** Most runs of a document, the newest ones. */
export const runsMax = 25;

export function createSearchProjection(rules: SearchRules): SearchProjection {
  const projections = new Map<string, SearchProjection>();
  return (state, entityType, latest) => {
    let projection = projections.get(entityType);
    if (projection === undefined) {
      if (!Object.hasOwn(rules.fields, entityType)) return undefined;
      projection = createTypeProjection(rules, entityType);
      projections.set(entityType, projection);
    }
    return projection(state, entityType, latest);
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
  const fills = (ownValue(rules.tellers, entityType) ?? []).map(filling);
  const eventFills = (ownValue(rules.events, entityType) ?? []).map(filling);

  function documentOf(
    state: EntityState,
    created: number,
    latest: ReadonlyMap<string, LatestEvent> | undefined,
  ): SearchDocument {
    const draft = createDraft();
    draft.add(ofUrn, [state.urn]);
    draft.add(ofType, [entityType]);
    draft.add(ofCreation, [created]);
    draft.add(ofRuns, runsOf(state));
    for (const [name, fill] of fills) {
      const aspect = currentAspect(state, name);
      if (aspect !== undefined) fill(draft, JSON.parse(aspect.value), aspect.time);
    }
    for (const [name, fill] of eventFills) {
      const event = latest?.get(name);
      if (event !== undefined) fill(draft, JSON.parse(event.value), event.time);
    }
    return draft.document(state.urn, entityType);
  }

  return (state, _entityType, latest) => {
    const keyAspect = currentAspect(state, key);
    return keyAspect && (() => documentOf(state, keyAspect.time, latest));
  };
}

/** Those of the current aspects, each once, newest first. */
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
