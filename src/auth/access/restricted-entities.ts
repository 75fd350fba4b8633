/**
 * Restricted entity types and aspects. Where the service requires tokens, only users with a privilege
 * read them; for others they do not exist. They are the secrets of the model (core/secret-aspects.ts)
 * and the recipes of ingestion, which should refer to secrets but may contain them.
 *
 * Sealed ones are hidden from everybody, also without token authentication: the hashes of passwords and
 * the invites, which only sign-in uses.
 */
import type { Restricted } from "../../catalog/access/access-filter.ts";
import type { Proposal } from "../../catalog/catalog.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Model } from "../../model/model.ts";
import {
  type Demand,
  toManageConnections,
  toManageIngestion,
  toManageSettings,
  toManageTokens,
} from "../policies/privileges.ts";

/** No privilege allows reading these. */
const sealed: Demand = [];

/** Restricted entity types, with all of their aspects. */
const ofTypes: Readonly<Record<string, Demand>> = {
  dataHubAccessToken: toManageTokens,
  dataHubSecret: [["MANAGE_SECRETS"]],
  inviteToken: sealed,
};

interface RestrictedAspect {
  /** The entity type that has the aspect. */
  readonly of: string;
  readonly demand: Demand;
}

/** By the aspect's name. */
const ofAspects: Readonly<Record<string, RestrictedAspect>> = {
  corpUserCredentials: { of: "corpuser", demand: sealed },
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

/** True for a proposal that writes a sealed aspect, in any spelling of its names. */
export function isSealed({ entityType, aspectName = "" }: Proposal): boolean {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  return (
    Object.entries(ofTypes).some(([name, demand]) => demand === sealed && same(name, entityType)) ||
    Object.entries(ofAspects).some(
      ([name, rule]) =>
        rule.demand === sealed && same(rule.of, entityType) && same(name, aspectName),
    )
  );
}

export interface RestrictedNames extends Omit<Restricted, "may"> {
  /** The privileges required to read the entity type or aspect. */
  demandFor(name: string): Demand;
}

/**
 * The restricted types and aspects that the model has. `which`: all, or only those that no privilege
 * allows reading.
 */
export function restrictedNames(
  model: Pick<Model, "entities">,
  which: "all" | "sealed" = "all",
): RestrictedNames {
  const counts = (demand: Demand): boolean => which === "all" || demand === sealed;
  const demands = new Map<string, Demand>();
  const entityTypes = new Set<string>();
  const own = new Map<string, Demand>();
  const others = new Set<string>();
  for (const { name, keyAspect, aspects } of model.entities.values()) {
    const ofType = ownValue(ofTypes, name);
    const demand = ofType !== undefined && counts(ofType) ? ofType : undefined;
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
    if (!counts(demand)) continue;
    aspectsOf.set(of, [...(aspectsOf.get(of) ?? []), name]);
    aspects.add(name);
    demands.set(name, demand);
  }
  return { entityTypes, aspects, aspectsOf, demandFor: (name) => demands.get(name) ?? [] };
}
