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
  type PrivilegeAlternatives,
  toManageConnections,
  toManageIngestion,
  toManageSettings,
  toManageTokens,
} from "../policies/privileges.ts";

/** No privilege allows reading these. */
const sealed: PrivilegeAlternatives = [];

/** Restricted entity types, with all of their aspects. */
const ofTypes: Readonly<Record<string, PrivilegeAlternatives>> = {
  dataHubAccessToken: toManageTokens,
  dataHubSecret: [["MANAGE_SECRETS"]],
  inviteToken: sealed,
};

interface RestrictedAspect {
  /** The entity type that has the aspect. */
  readonly of: string;
  readonly alternatives: PrivilegeAlternatives;
}

/** By the aspect's name. */
const ofAspects: Readonly<Record<string, RestrictedAspect>> = {
  corpUserCredentials: { of: "corpuser", alternatives: sealed },
  globalSettingsInfo: { of: "globalSettings", alternatives: toManageSettings },
  dataHubConnectionDetails: { of: "dataHubConnection", alternatives: toManageConnections },
  mcpServerProperties: { of: "service", alternatives: toManageConnections },
  dataHubIngestionSourceInfo: { of: "dataHubIngestionSource", alternatives: toManageIngestion },
  dataHubExecutionRequestInput: { of: "dataHubExecutionRequest", alternatives: toManageIngestion },
  dataHubExecutionRequestResult: { of: "dataHubExecutionRequest", alternatives: toManageIngestion },
};

/** The privilege required to read an aspect of an unrestricted entity type; undefined when none is. */
export const alternativesOfAspect = (
  entityType: string,
  aspect: string,
): PrivilegeAlternatives | undefined => {
  const rule = ownValue(ofAspects, aspect);
  return rule?.of === entityType ? rule.alternatives : undefined;
};

/** Sealed entity types and aspects in lower case: proposals may spell names in any case. */
const sealedTypes = new Set(
  Object.entries(ofTypes).flatMap(([name, alternatives]) =>
    alternatives === sealed ? [name.toLowerCase()] : [],
  ),
);
const sealedAspects = new Set(
  Object.entries(ofAspects).flatMap(([name, { of, alternatives }]) =>
    alternatives === sealed ? [`${of} ${name}`.toLowerCase()] : [],
  ),
);

/** True for a proposal that writes a sealed aspect, in any spelling of its names. */
export const isSealed = ({ entityType, aspectName = "" }: Proposal): boolean =>
  sealedTypes.has(entityType.toLowerCase()) ||
  sealedAspects.has(`${entityType} ${aspectName}`.toLowerCase());

export interface RestrictedNames extends Omit<Restricted, "may"> {
  /** The privileges required to read the entity type or aspect. */
  alternativesFor(name: string): PrivilegeAlternatives;
}

/**
 * The restricted types and aspects that the model has. `which`: all, or only those that no privilege
 * allows reading.
 */
export function restrictedNames(
  model: Pick<Model, "entities">,
  which: "all" | "sealed" = "all",
): RestrictedNames {
  const counts = (alternatives: PrivilegeAlternatives): boolean =>
    which === "all" || alternatives === sealed;
  const alternativesBy = new Map<string, PrivilegeAlternatives>();
  const entityTypes = new Set<string>();
  const own = new Map<string, PrivilegeAlternatives>();
  const others = new Set<string>();
  for (const { name, keyAspect, aspects } of model.entities.values()) {
    const ofType = ownValue(ofTypes, name);
    const alternatives = ofType !== undefined && counts(ofType) ? ofType : undefined;
    if (alternatives !== undefined) alternativesBy.set(name, alternatives);
    if (alternatives !== undefined) entityTypes.add(name);
    for (const aspect of [keyAspect, ...aspects]) {
      if (alternatives === undefined) others.add(aspect);
      else own.set(aspect, alternatives);
    }
  }
  const aspects = new Set<string>();
  for (const [name, alternatives] of own) {
    if (others.has(name)) continue;
    aspects.add(name);
    alternativesBy.set(name, alternatives);
  }
  const aspectsOf = new Map<string, string[]>();
  for (const [name, { of, alternatives }] of Object.entries(ofAspects)) {
    if (!counts(alternatives)) continue;
    aspectsOf.set(of, [...(aspectsOf.get(of) ?? []), name]);
    aspects.add(name);
    alternativesBy.set(name, alternatives);
  }
  return {
    entityTypes,
    aspects,
    aspectsOf,
    alternativesFor: (name) => alternativesBy.get(name) ?? [],
  };
}
