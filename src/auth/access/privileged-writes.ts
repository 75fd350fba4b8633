/**
 * The catalog with token authentication: writes to access control (policies, roles, tokens, the state
 * and memberships of users), to secrets and to the recipes that executors run, rollbacks, platform
 * events and polls of topics need privileges. All other writes pass.
 *
 * The check comes before validation and uses the model's own names, so that another spelling of a
 * name does not bypass it.
 */
import type { Caller, Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { REQUIRED } from "../../core/write/required-privileges.ts";
import { objectOf, parsedValue } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Model } from "../../model/model.ts";
import type { About, Authority } from "../policies/authority.ts";
import {
  alternativesText,
  type PrivilegeAlternatives,
  toManageConnections,
  toManageIngestion,
  toManageSettings,
  toManageTokens,
  toManageUsers,
} from "../policies/privileges.ts";
import type { StoredEntities } from "../stored-entities.ts";
import { alternativesOfAspect } from "./restricted-entities.ts";

interface Rule {
  readonly alternatives: PrivilegeAlternatives;
  /** Absent: every aspect. The rule always covers deleting the entity. */
  readonly aspects?: readonly string[];
  /** The requirements of a mutation replace them. */
  readonly yieldsToMutations?: boolean;
  /**
   * Aspects in which DataHub's command line reports its runs, which needs no privilege; the first
   * names the executor.
   */
  readonly reports?: readonly [string, ...string[]];
}

const memberships = ["roleMembership", "groupMembership", "nativeGroupMembership"];

/**
 * The executor that DataHub's command line names in reports of its own runs, with the token of any
 * user. No executor runs such a source or request.
 */
const COMMAND_LINE = "__datahub_cli_";

/** The executor of a source or of a request. */
function executorOf(value: unknown): unknown {
  const { executorId, config } = objectOf(value);
  return executorId ?? objectOf(config).executorId;
}

const toRollBack: PrivilegeAlternatives = [["DELETE_ENTITY"], ["MANAGE_SYSTEM_OPERATIONS"]];

const toProduceEvents: PrivilegeAlternatives = [["PRODUCE_PLATFORM_EVENT_PRIVILEGE"]];

const toPoll: Readonly<
  Record<Parameters<Catalog["pollChanges"]>[0]["kind"], PrivilegeAlternatives>
> = {
  events: [["GET_PLATFORM_EVENTS"]],
  versioned: [["GET_METADATA_CHANGE_LOG_EVENTS"]],
  timeseries: [["GET_METADATA_CHANGE_LOG_EVENTS"]],
};

/** By entity type. */
export const privilegedTypes: Readonly<Record<string, Rule>> = {
  dataHubPolicy: { alternatives: [["MANAGE_POLICIES"]] },
  dataHubRole: { alternatives: [["MANAGE_POLICIES"]] },
  dataHubAccessToken: { alternatives: toManageTokens },
  dataHubSecret: { alternatives: [["MANAGE_SECRETS"]] },
  inviteToken: { alternatives: toManageUsers },
  globalSettings: { alternatives: toManageSettings, yieldsToMutations: true },
  dataHubConnection: { alternatives: toManageConnections, aspects: ["dataHubConnectionDetails"] },
  service: { alternatives: toManageConnections, aspects: ["mcpServerProperties"] },
  dataHubIngestionSource: {
    alternatives: toManageIngestion,
    aspects: ["dataHubIngestionSourceInfo"],
    reports: ["dataHubIngestionSourceInfo"],
  },
  dataHubExecutionRequest: {
    alternatives: toManageIngestion,
    aspects: [
      "dataHubExecutionRequestInput",
      "dataHubExecutionRequestSignal",
      "dataHubExecutionRequestResult",
    ],
    reports: ["dataHubExecutionRequestInput", "dataHubExecutionRequestResult"],
  },
  corpuser: {
    alternatives: toManageUsers,
    aspects: ["status", "corpUserStatus", "corpUserCredentials", "subTypes", ...memberships],
  },
  corpGroup: { alternatives: toManageUsers, aspects: ["status", "ownership", ...memberships] },
};

interface Dependencies {
  readonly authority: Authority;
  readonly model: Pick<Model, "findEntity">;
  readonly entities: Pick<StoredEntities, "find">;
  readonly namespace: string;
}

export function authorizePrivilegedWrites(catalog: Catalog, dependencies: Dependencies): Catalog {
  const { authority, entities, model, namespace } = dependencies;

  async function requirePrivilege(
    { actor }: Caller,
    alternatives: PrivilegeAlternatives,
    { hint, about }: { readonly hint: string; readonly about?: About },
  ): Promise<void> {
    if (await authority.allows(actor, alternatives, about)) return;
    const message = `this needs the privilege ${alternativesText(alternatives)}`;
    throw new CatalogError("forbidden", message, { hint });
  }

  async function admit(caller: Caller, asked: readonly PrivilegeQuery[]): Promise<void> {
    // Several proposals for one entity need one check.
    const questions = new Map(asked.map((one) => [`${one.entityType} ${one.urn}`, one]));
    for (const { entityType, urn, rule } of questions.values()) {
      const about = { entityType, urn: urn && withNamespace(urn, namespace) };
      await requirePrivilege(caller, alternativesFor(caller, rule), {
        about,
        hint: `Ask an administrator, or leave "${entityType}" out of the request`,
      });
    }
  }

  async function admitted(caller: Caller, asked: readonly PrivilegeQuery[]): Promise<void> {
    const needed: PrivilegeQuery[] = [];
    for (const one of asked) if (!(await isReport(one))) needed.push(one);
    await admit(caller, needed);
  }

  function askedBy(proposal: Proposal): PrivilegeQuery | undefined {
    const { entityType, entityUrn, aspectName, changeType } = proposal;
    const entity = model.findEntity(entityType);
    if (entity === undefined) return undefined;
    const asked = { entityType: entity.name, urn: entityUrn };
    const rule = ownValue(privilegedTypes, entity.name);
    const deletes = changeType === "DELETE" && aspectName === entity.keyAspect;
    const bears = deletes || rule?.aspects?.includes(aspectName ?? "") !== false;
    if (rule !== undefined && bears) return { ...asked, rule, proposal };
    // The response to a patch shows the value that the patch results in.
    const alternatives =
      changeType === "PATCH" && alternativesOfAspect(entity.name, aspectName ?? "");
    return alternatives ? { ...asked, rule: { alternatives } } : undefined;
  }

  /** True for a report of the command line that does not replace the data of an executor. */
  async function isReport({ urn, rule, proposal }: PrivilegeQuery): Promise<boolean> {
    const [first] = rule.reports ?? [];
    const { changeType, aspectName = "", aspect } = proposal ?? {};
    if (first === undefined || urn === undefined || rule.reports?.includes(aspectName) !== true)
      return false;
    if (changeType === "PATCH" || changeType === "DELETE") return false;
    if (aspectName === first && executorOf(parsedValue(aspect?.value)) !== COMMAND_LINE)
      return false;
    const stored = (await entities.find(withNamespace(urn, namespace)))?.[first];
    return stored === undefined || executorOf(stored) === COMMAND_LINE;
  }

  /** The rule for a whole entity; the urn may have any namespace. */
  function askedOf(urn: string): readonly PrivilegeQuery[] {
    const entity = model.findEntity(entityTypeOf(urn));
    const rule = entity && ownValue(privilegedTypes, entity.name);
    return rule === undefined ? [] : [{ entityType: entity?.name ?? "", urn, rule }];
  }

  const ingest: Catalog["ingest"] = (proposals, caller) => {
    const asked: PrivilegeQuery[] = [];
    for (const proposal of proposals) {
      const one = askedBy(proposal);
      if (one !== undefined) asked.push(one);
    }
    if (asked.length === 0) return catalog.ingest(proposals, caller);
    return admitted(caller, asked).then(() => catalog.ingest(proposals, caller));
  };

  return {
    ...catalog,
    ingest,
    async delete(request, caller) {
      await admit(caller, askedOf(request.urn));
      return catalog.delete(request, caller);
    },
    async rollbackRun(request, caller) {
      // Here, below all interfaces.
      await requirePrivilege(caller, toRollBack, {
        hint: "Ask an administrator to roll back the run",
      });
      return catalog.rollbackRun(request, caller, (urns) => admit(caller, urns.flatMap(askedOf)));
    },
    async producePlatformEvent(event, caller) {
      await requirePrivilege(caller, toProduceEvents, {
        hint: "Ask an administrator for the privilege",
      });
      return catalog.producePlatformEvent(event, caller);
    },
    async pollChanges(query, caller) {
      await requirePrivilege(caller, toPoll[query.kind], {
        hint: "Ask an administrator for the privilege, or read /changes",
      });
      return catalog.pollChanges(query, caller);
    },
    async deleteReferences(request, caller) {
      await admit(caller, askedOf(request.urn));
      return catalog.deleteReferences(request, caller);
    },
  };
}

/** The platform privileges that a mutation requires, where they replace those of the rule. */
function alternativesFor(
  caller: Caller,
  { alternatives, yieldsToMutations }: Rule,
): PrivilegeAlternatives {
  const required = caller[REQUIRED];
  if (yieldsToMutations !== true || required === undefined || required === "none")
    return alternatives;
  return required.flatMap(({ privileges }) => privileges) as PrivilegeAlternatives;
}

interface PrivilegeQuery {
  readonly entityType: string;
  readonly urn: string | undefined;
  readonly rule: Rule;
  /** Absent for a whole entity. */
  readonly proposal?: Proposal;
}
