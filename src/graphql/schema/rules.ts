/** Authorization of GraphQL: one rule for each field of Query and Mutation; create-schema.ts checks this. */
import {
  type Demand,
  privileges,
  shownDemand,
  toGenerateTokens,
  toManageConnections,
  toManageIngestion,
  toManageTokens,
} from "../../auth/policies/privileges.ts";
import { withNamespace } from "../../core/urn.ts";
import type { TokenDuration } from "../../lib/token-durations.ts";
import type { Viewer } from "../context.ts";
import {
  accountMutations,
  fileMutations,
  ownershipTypeMutations,
  profileMutations,
} from "../mutations/accounts/accounts.ts";
import { executionMutations } from "../mutations/accounts/execution-requests.ts";
import {
  connectionMutations,
  secretMutations,
  secretQueries,
} from "../mutations/accounts/secrets.ts";
import { assetMutations } from "../mutations/asset-mutations.ts";
import { making } from "../mutations/create.ts";
import { sourceMutations, sourceQueries } from "../mutations/ingestion-sources.ts";
import { labelling } from "../mutations/labels.ts";
import {
  assertionDeletion,
  contractMutations,
  testMutations,
} from "../mutations/quality/contracts-and-tests.ts";
import { incidentMutations } from "../mutations/quality/incidents.ts";
import { pageMutations } from "../mutations/settings/home-page.ts";
import { postMutations, queryMutations } from "../mutations/settings/posts-and-queries.ts";
import {
  globalSettingsMutations,
  ownSettingsMutations,
  stepMutations,
} from "../mutations/settings/user-settings.ts";
import { viewMutations } from "../mutations/settings/views.ts";
import { assertionMutations } from "../queries/assertions.ts";
import { browsing } from "../queries/browse.ts";
import { entityQueries } from "../queries/entity-queries.ts";
import { policyMutations, policyQueries } from "../queries/policies.ts";
import { readQueries } from "../queries/read-queries.ts";
import { searching } from "../queries/search.ts";
import { type FacetFilter, ownValuesOf } from "../queries/token-filter.ts";
import type { Rule } from "./rule.ts";
import { signInRules } from "./sign-in-rules.ts";

export type { Rule } from "./rule.ts";

const manage = privileges.MANAGE_ACCESS_TOKENS;
const generate = privileges.GENERATE_PERSONAL_ACCESS_TOKENS;

const mayManage = ({ authority, actor }: Viewer): Promise<boolean> =>
  authority.allows(actor, toManageTokens, { entityType: "dataHubAccessToken" });

/** True when the caller may create tokens of this duration; of any when absent. */
const mayGenerate = ({ authority, actor }: Viewer, duration?: TokenDuration): Promise<boolean> =>
  authority.allows(actor, toGenerateTokens(duration));

const me: Rule = {
  needs: "an authenticated caller: a bearer token or an actor header",
  allows: async (_, { actor }) => actor !== undefined,
};

/** As for any read: every admitted caller may ask and gets the visible entities. */
export const letIn: Rule = { needs: "admission to the service", allows: async () => true };

/** The catalog authorizes writes, as for every API (auth/access/privileged-writes.ts). */
export const writes: Rule = {
  needs: "the privileges of the same write over REST",
  allows: async () => true,
};

/** Any of these privileges. */
const needing = (demand: Demand): Rule => ({
  audited: true,
  needs: `the privilege ${shownDemand(demand)}`,
  allows: (_, { authority, actor }) => authority.allows(actor, demand),
});

const policies = needing([["MANAGE_POLICIES"]]);
const secrets = needing([["MANAGE_SECRETS"]]);
const announcements = needing([["CREATE_GLOBAL_ANNOUNCEMENTS"], ["MANAGE_GLOBAL_ANNOUNCEMENTS"]]);

const withRule = (rule: Rule, names: readonly string[]): Readonly<Record<string, Rule>> =>
  Object.fromEntries(names.map((name) => [name, rule]));

const listAccessTokens: Rule = {
  audited: true,
  needs: `the privilege ${manage}, or ${generate} for a list that is filtered by the caller's own urn`,
  async allows(args, viewer) {
    const { filters } = args.input as { filters?: readonly FacetFilter[] | null };
    const own = (filters ?? []).some((filter) => {
      const [value, ...others] = ownValuesOf(filter, viewer.namespace);
      return value !== undefined && value === viewer.actor && others.length === 0;
    });
    return (own && (await mayGenerate(viewer))) || mayManage(viewer);
  },
};

const getAccessTokenMetadata: Rule = {
  audited: true,
  needs: `the privilege ${manage}`,
  allows: (_, viewer) => mayManage(viewer),
};

interface TokenInput {
  readonly type: string;
  readonly actorUrn: string;
  readonly duration: TokenDuration;
}

const createAccessToken: Rule = {
  audited: true,
  needs: `the privilege ${generate} (for as long as asked) for oneself, ${manage} for others, ${privileges.MANAGE_SERVICE_ACCOUNTS} for service accounts`,
  async allows(args, viewer) {
    const { type, actorUrn, duration } = args.input as TokenInput;
    if (type === "SERVICE_ACCOUNT") {
      return viewer.authority.allows(viewer.actor, [["MANAGE_SERVICE_ACCOUNTS"]]);
    }
    const own = withNamespace(actorUrn, viewer.namespace) === viewer.actor;
    return (own && (await mayGenerate(viewer, duration))) || mayManage(viewer);
  },
};

/** The deprecated query creates only personal tokens of the caller, whatever privileges the caller has. */
const getAccessToken: Rule = {
  audited: true,
  needs: `the privilege ${generate} (for the requested duration), and the caller's own urn as actorUrn`,
  async allows(args, viewer) {
    const { type, actorUrn, duration } = args.input as TokenInput;
    const own = withNamespace(actorUrn, viewer.namespace) === viewer.actor;
    return type === "PERSONAL" && own && mayGenerate(viewer, duration);
  },
};

const revokeAccessToken: Rule = {
  audited: true,
  needs: `to own the token, or the privilege ${manage}`,
  async allows({ tokenId }, viewer) {
    const owner = (await viewer.tokens.find(String(tokenId)))?.ownerUrn;
    return (owner !== undefined && owner === viewer.actor) || mayManage(viewer);
  },
};

export const rules: Readonly<Record<"Query" | "Mutation", Readonly<Record<string, Rule>>>> = {
  Query: {
    me,
    listAccessTokens,
    getAccessTokenMetadata,
    getAccessToken,
    ...withRule(letIn, Object.keys(readQueries)),
    ...withRule(letIn, Object.keys(searching)),
    ...withRule(letIn, Object.keys(browsing)),
    ...withRule(letIn, Object.keys(entityQueries)),
    ...withRule(letIn, Object.keys(sourceQueries)),
    ...withRule(policies, Object.keys(policyQueries)),
    ...withRule(secrets, Object.keys(secretQueries)),
    ...signInRules.Query,
  },
  Mutation: {
    createAccessToken,
    revokeAccessToken,
    ...withRule(writes, Object.keys(assetMutations)),
    ...withRule(writes, Object.keys(labelling)),
    ...withRule(writes, Object.keys(making)),
    ...withRule(writes, Object.keys(sourceMutations)),
    ...withRule(writes, Object.keys(assertionMutations)),
    ...withRule(policies, Object.keys(policyMutations)),
    ...withRule(secrets, Object.keys(secretMutations)),
    ...signInRules.Mutation,
    ...withRule(needing(toManageConnections), Object.keys(connectionMutations)),
    ...withRule(needing([["MANAGE_SERVICE_ACCOUNTS"]]), Object.keys(accountMutations)),
    ...withRule(needing([["MANAGE_GLOBAL_OWNERSHIP_TYPES"]]), Object.keys(ownershipTypeMutations)),
    ...withRule(needing(toManageIngestion), Object.keys(executionMutations)),
    ...withRule(needing([["MANAGE_TESTS"]]), Object.keys(testMutations)),
    ...withRule(announcements, Object.keys(postMutations)),
    ...withRule(writes, Object.keys(fileMutations)),
    ...withRule(writes, Object.keys(profileMutations)),
    ...withRule(writes, Object.keys(contractMutations)),
    ...withRule(writes, Object.keys(assertionDeletion)),
    ...withRule(writes, Object.keys(incidentMutations)),
    ...withRule(writes, Object.keys(pageMutations)),
    ...withRule(writes, Object.keys(queryMutations)),
    ...withRule(writes, Object.keys(globalSettingsMutations)),
    ...withRule(writes, Object.keys(ownSettingsMutations)),
    ...withRule(writes, Object.keys(stepMutations)),
    ...withRule(writes, Object.keys(viewMutations)),
  },
};
