/** Entities for tests of the search projection, as the aspect view has them. */

import { compileSearchRules } from "../../projections/search/rules.ts";
import { createSearchProjection } from "../../projections/search/search.ts";
import type { AspectState, EntityState } from "../../src/core/entity-state.ts";
import { revision } from "../../src/core/position.ts";
import { keyValue } from "../../src/model/entity-key.ts";
import type { SearchDocument } from "../../src/views/search/search.ts";
import { aspectNamed, defaultModel } from "../model/default-model.ts";

export const rules = compileSearchRules(defaultModel);
export const projection = createSearchProjection(rules);

/** The document, projected at once. */
export const project = (...args: Parameters<typeof projection>): SearchDocument | undefined =>
  projection(...args)?.();

/** When the aspects of `stateOf` last changed. */
export const changedAt = 1_700_000_000_000;

export function aspectState(
  name: string,
  value: unknown,
  more: Partial<AspectState> = {},
): AspectState {
  const system = { lastObserved: changedAt + 1, runId: "run-1" };
  const stamp = { time: changedAt, actor: "urn:li:corpuser:ada" };
  const text = JSON.stringify(value);
  return { name, version: 1, value: text, ...stamp, system, removed: false, ...more };
}

export const entityTypeOf = (urn: string): string => urn.split(":")[2] ?? "";

/** An entity with its key and the aspects, checked and normalized as the catalog does it. */
export function stateOf(
  urn: string,
  aspects: Readonly<Record<string, unknown>> = {},
  more: readonly AspectState[] = [],
): EntityState {
  const entity = defaultModel.entities.get(entityTypeOf(urn));
  if (entity === undefined) throw new Error(`the model has no entity of ${urn}`);
  const states = [aspectState(entity.keyAspect, keyValue(entity, urn))];
  for (const [name, value] of Object.entries(aspects)) {
    const checked = defaultModel.check(aspectNamed(name), JSON.parse(JSON.stringify(value)));
    if (!checked.ok) throw new Error(JSON.stringify(checked.validationErrors));
    states.push(aspectState(name, checked.value));
  }
  const all = [...states, ...more].map((state) => [state.name, state] as const);
  return { urn, revision: revision(all.length), aspects: new Map(all) };
}

/** The document of `stateOf`. */
export function documentOf(...args: Parameters<typeof stateOf>): SearchDocument {
  const document = project(stateOf(...args), entityTypeOf(args[0]));
  if (document === undefined) throw new Error(`${args[0]} has no document`);
  return document;
}
