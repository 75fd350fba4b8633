/**
 * What is seen by those alone who manage it, wherever tokens are asked for: what is known of access
 * tokens, and what other services keep here of their secrets. Everybody else finds nothing there.
 */
import type { Withheld } from "../catalog/sight.ts";
import { ownValue } from "../core/own-value.ts";
import type { Model } from "../model/model.ts";
import { type Demand, toManageTokens, toManageUsers } from "./privileges.ts";

/** By entity type: nothing of it is shown. */
const ofTypes: Readonly<Record<string, Demand>> = {
  dataHubAccessToken: toManageTokens,
  dataHubSecret: [["MANAGE_SECRETS"]],
  inviteToken: toManageUsers,
};

/** By aspect, with the entity type that has it. */
const ofAspects: Readonly<Record<string, { readonly of: string; readonly demand: Demand }>> = {
  corpUserCredentials: { of: "corpuser", demand: toManageUsers },
};

export interface WithheldNames extends Omit<Withheld, "may"> {
  /** What is needed to see the entity type or the aspect of that name. */
  demandFor(name: string): Demand;
}

/** As far as the model has them. */
export function withheldNames(model: Pick<Model, "entities">): WithheldNames {
  const demands = new Map<string, Demand>();
  const entityTypes = new Set<string>();
  const own = new Map<string, Demand>();
  const others = new Set<string>();
  for (const { name, keyAspect, aspects } of model.entities.values()) {
    const demand = ownValue(ofTypes, name);
    if (demand !== undefined) demands.set(name, demand);
    if (demand !== undefined) entityTypes.add(name);
    for (const aspect of [keyAspect, ...aspects]) {
      if (demand === undefined) others.add(aspect);
      else own.set(aspect, demand);
    }
  }
  const aspects = new Set<string>();
  for (const [name, demand] of own) {
    if (others.has(name)) continue;
    aspects.add(name);
    demands.set(name, demand);
  }
  const aspectsOf = new Map<string, string[]>();
  for (const [name, { of, demand }] of Object.entries(ofAspects)) {
    aspectsOf.set(of, [...(aspectsOf.get(of) ?? []), name]);
    aspects.add(name);
    demands.set(name, demand);
  }
  return { entityTypes, aspects, aspectsOf, demandFor: (name) => demands.get(name) ?? [] };
}
