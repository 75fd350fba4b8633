/** Users, accounts of services, and what they may do. */

import { includesActor, inScope, isActive, type Policy } from "../../../auth/policies/policy.ts";
import { findResource } from "../../../auth/policies/principals.ts";
import { toManageUsers } from "../../../auth/policies/privileges.ts";
import { CatalogError } from "../../../core/errors.ts";
import { withNamespace } from "../../../core/urn.ts";
import { stringsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { may, rejectWithout } from "../access/privilege-checks.ts";
import { withCriteria } from "../discovery/views.ts";
import type { SearchPageInput } from "../pages.ts";
import { type SearchInput, searched } from "../search.ts";
import { searchUrns, serviceAccount } from "./search-lists.ts";

async function searchUsers({ input }: InputArgs<SearchInput>, viewer: Viewer) {
  await rejectWithout(viewer, toManageUsers);
  return searched({ ...input, types: ["CORP_USER"] }, viewer, (request) => ({
    ...request,
    filter: withCriteria(request.filter, [{ ...serviceAccount, negated: true }]),
  }));
}

async function listServiceAccounts({ input }: InputArgs<SearchPageInput>, viewer: Viewer) {
  await rejectWithout(viewer, [["MANAGE_SERVICE_ACCOUNTS"]]);
  const start = input.start ?? 0;
  const count = input.count ?? 10;
  const filter = withCriteria(undefined, [serviceAccount]);
  const request = { entities: ["corpuser"], input: input.query ?? "*", filter };
  const { urns, total } = await searchUrns(request, { start, count }, viewer);
  const serviceAccounts = await Promise.all(urns.map((urn) => accountOf(urn, viewer)));
  return { start, count, total, serviceAccounts: serviceAccounts.filter((one) => one !== null) };
}

/** Null for a user that is not a service account. */
async function accountOf(urn: string, { loader }: Viewer) {
  const { aspect, found, exists } = await loader.load(urn);
  const types = stringsIn(aspect("subTypes")?.typeNames);
  if (!exists || !types.includes("SERVICE_ACCOUNT")) return null;
  const info = aspect("corpUserInfo");
  const written = found?.aspects.find(({ name }) => name === "corpUserInfo");
  const [key] = found?.aspects ?? [];
  return {
    urn,
    type: "CORP_USER",
    __typename: "ServiceAccount",
    name: urn.split(":").slice(3).join(":"),
    displayName: info?.displayName,
    description: info?.title,
    createdBy: key?.actor,
    createdAt: key?.time,
    updatedAt: written?.time,
    defaultView: memberAt(aspect("corpUserSettings"), ["views", "defaultView"]),
  };
}

async function getServiceAccount({ urn }: { urn: string }, viewer: Viewer) {
  await rejectWithout(viewer, [["MANAGE_SERVICE_ACCOUNTS"]]);
  const account = await accountOf(urn, viewer);
  if (account !== null) return account;
  throw new CatalogError("invalid", `"${urn.slice(0, 200)}" is not a service account`, {
    hint: "List them with listServiceAccounts",
  });
}

interface GrantedInput {
  readonly actorUrn: string;
  readonly resourceSpec?: Maybe<{ readonly resourceType: string; readonly resourceUrn: string }>;
  readonly includeEvaluationDetails?: Maybe<boolean>;
}

const named = (policy: Policy): string => String(memberAt(policy, ["displayName"]) ?? "");

async function getGrantedPrivileges({ input }: InputArgs<GrantedInput>, viewer: Viewer) {
  const { authority, entities, entityTypes, namespace } = viewer;
  const actor = withNamespace(input.actorUrn, namespace);
  const manages = await may(viewer, [["MANAGE_POLICIES"]]);
  if (actor !== viewer.actor && !manages) await rejectWithout(viewer, [["MANAGE_POLICIES"]]);
  const context = await authority.authContext(actor);
  const { resourceType, resourceUrn } = input.resourceSpec ?? {};
  const type = resourceType === undefined ? undefined : entityTypes.find(resourceType);
  const resource = type && (await findResource(entities, resourceUrn, type));
  const policies = context?.policies ?? [];
  const granting = policies.filter(
    (policy) =>
      isActive(policy) &&
      context !== undefined &&
      includesActor(policy.actors, context.principal, resource || undefined) &&
      inScope(policy, resource || undefined),
  );
  const details = granting.map((policy) => ({
    policyName: named(policy),
    reason: "The policy is active, and its actors and resources match.",
  }));
  return {
    privileges: [...new Set(granting.flatMap(({ privileges }) => privileges))],
    evaluationDetails: manages && input.includeEvaluationDetails ? details : null,
  };
}

async function debugAccess({ userUrn }: { userUrn: string }, viewer: Viewer) {
  await rejectWithout(viewer, toManageUsers);
  const { authority, entities, namespace } = viewer;
  const user = withNamespace(userUrn, namespace);
  const context = await authority.authContext(user);
  const groups = context?.principal.groups ?? [];
  const rolesOf = async (urn: string) =>
    stringsIn(memberAt((await entities.find(urn))?.roleMembership, ["roles"]));
  const viaGroups = await Promise.all(
    groups.map(async (group) => ({ group, roles: await rolesOf(group) })),
  );
  const held = (context?.policies ?? []).filter(
    (policy) =>
      isActive(policy) &&
      context !== undefined &&
      includesActor(policy.actors, context.principal, undefined),
  );
  return {
    roles: await rolesOf(user),
    groups,
    groupsWithRoles: viaGroups.filter(({ roles }) => roles.length > 0).map(({ group }) => group),
    rolesViaGroups: [...new Set(viaGroups.flatMap(({ roles }) => roles))],
    allRoles: [...new Set(context?.principal.roles)],
    policies: held.map(named),
    privileges: [...new Set(held.flatMap(({ privileges }) => privileges))],
  };
}

export const peopleQueries = {
  searchUsers,
  listServiceAccounts,
  getServiceAccount,
  getGrantedPrivileges,
  debugAccess,
};
