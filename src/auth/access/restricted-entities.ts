/**
 * Restricted entity types and aspects. Where the service requires tokens, only users with a privilege
 * read them; for others they do not exist. They are the secrets of the model (core/secret-aspects.ts)
 * and the recipes of ingestion, which should refer to secrets but may contain them.
 */
import type { Restricted } from "../../catalog/access/access-filter.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Model } from "../../model/model.ts";
import {
  type Demand,
  toManageConnections,
  toManageIngestion,
  toManageSettings,
  toManageTokens,
  toManageUsers,
} from "../policies/privileges.ts";

/** By entity type: nothing of it is shown. */
const ofTypes: Readonly<Record<string, Demand>> = {
  dataHubAccessToken: toManageTokens,
  dataHubSecret: [["MANAGE_SECRETS"]],
  inviteToken: toManageUsers,
};

interface RestrictedAspect {
  /** The entity type that has the aspect. */
  readonly of: string;
  readonly demand: Demand;
}

/** By the aspect's name. */
const ofAspects: Readonly<Record<string, RestrictedAspect>> = {
  corpUserCredentials: { of: "corpuser", demand: toManageUsers },
  globalSettingsInfo: { of: "globalSettings", demand: toManageSettings },
  dataHubConnectionDetails: { of: "dataHubConnection", demand: toManageConnections },
  mcpServerProperties: { of: "service", demand: toManageConnections },
  dataHubIngestionSourceInfo: { of: "dataHubIngestionSource", demand: toManageIngestion },
  dataHubExecutionRequestInput: { of: "dataHubExecutionRequest", demand: toManageIngestion },
  dataHubExecutionRequestResult: { of: "dataHubExecutionRequest", demand: toManageIngestion },
};

/** The privilege required to read an aspect of an unrestricted entity type; undefined when none is. */
export const demandOfAspect = (entityType: string, aspect: string): Demand | undefined => {
  const rule = ownValue(ofAspects, aspect);
  return rule?.of === entityType ? rule.demand : undefined;
};

export interface RestrictedNames extends Omit<Restricted, "may"> {
  /** The privileges required to read the entity type or aspect. */
  demandFor(name: string): Demand;
}

/** As far as the model has them. */
export function restrictedNames(model: Pick<Model, "entities">): RestrictedNames {
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
