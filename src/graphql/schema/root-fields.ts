/**
 * The fields of Query and Mutation by families: their resolvers, and the rule that authorizes them before
 * they run.
 */
import { toManageConnections, toManageIngestion } from "../../auth/policies/privileges.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Resolver, RootResolver } from "../context.ts";
import { tokenMutations, tokenQueries } from "../mutations/access-tokens.ts";
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
import { labelMutations } from "../mutations/labels.ts";
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
import { signInMutations, signInQueries } from "../mutations/sign-in.ts";
import { assertionMutations } from "../queries/assertions.ts";
import { browsing } from "../queries/browse.ts";
import { entityQueries } from "../queries/entity-queries.ts";
import { policyMutations, policyQueries } from "../queries/policies.ts";
import { readQueries } from "../queries/read-queries.ts";
import { searching } from "../queries/search.ts";
import { me } from "../queries/users.ts";
import { needing, type Rule } from "./rule.ts";
import { me as authenticated, letIn, tokenRules, writes } from "./rules.ts";
import { signInRules } from "./sign-in-rules.ts";

type Fields<Value> = Readonly<Record<string, Value>>;
type Root = "Query" | "Mutation";

interface Family {
  /** Of all fields of the family. */
  readonly rule?: Rule;
  /** Of each field, in families whose fields differ. */
  readonly rules?: Fields<Rule>;
  readonly Query?: Fields<RootResolver>;
  readonly Mutation?: Fields<RootResolver>;
}

const announcements = needing([["CREATE_GLOBAL_ANNOUNCEMENTS"], ["MANAGE_GLOBAL_ANNOUNCEMENTS"]]);

const families: readonly Family[] = [
  { rule: authenticated, Query: { me } },
  { rules: tokenRules, Query: tokenQueries, Mutation: tokenMutations },
  { rules: signInRules, Query: signInQueries, Mutation: signInMutations },
  { rule: letIn, Query: readQueries },
  { rule: letIn, Query: searching },
  { rule: letIn, Query: browsing },
  { rule: letIn, Query: entityQueries },
  { rule: letIn, Query: sourceQueries },
  { rule: needing([["MANAGE_POLICIES"]]), Query: policyQueries, Mutation: policyMutations },
  { rule: needing([["MANAGE_SECRETS"]]), Query: secretQueries, Mutation: secretMutations },
  { rule: needing(toManageConnections), Mutation: connectionMutations },
  { rule: needing(toManageIngestion), Mutation: executionMutations },
  { rule: needing([["MANAGE_SERVICE_ACCOUNTS"]]), Mutation: accountMutations },
  { rule: needing([["MANAGE_GLOBAL_OWNERSHIP_TYPES"]]), Mutation: ownershipTypeMutations },
  { rule: needing([["MANAGE_TESTS"]]), Mutation: testMutations },
  { rule: announcements, Mutation: postMutations },
  { rule: writes, Mutation: assetMutations },
  { rule: writes, Mutation: labelMutations },
  { rule: writes, Mutation: making },
  { rule: writes, Mutation: sourceMutations },
  { rule: writes, Mutation: assertionMutations },
  { rule: writes, Mutation: assertionDeletion },
  { rule: writes, Mutation: contractMutations },
  { rule: writes, Mutation: incidentMutations },
  { rule: writes, Mutation: queryMutations },
  { rule: writes, Mutation: viewMutations },
  { rule: writes, Mutation: pageMutations },
  { rule: writes, Mutation: profileMutations },
  { rule: writes, Mutation: ownSettingsMutations },
  { rule: writes, Mutation: globalSettingsMutations },
  { rule: writes, Mutation: stepMutations },
  { rule: writes, Mutation: fileMutations },
];

const withoutSource =
  (resolve: RootResolver): Resolver =>
  (_, args, viewer) =>
    resolve(args, viewer);

const resolversOf = (root: Root): Fields<Resolver> =>
  Object.fromEntries(
    families.flatMap((family) =>
      Object.entries(family[root] ?? {}).map(([name, resolve]) => [name, withoutSource(resolve)]),
    ),
  );

const rulesOf = (root: Root): Fields<Rule> =>
  Object.fromEntries(
    families.flatMap(({ rule, rules = {}, ...family }) =>
      Object.keys(family[root] ?? {}).flatMap((name) => {
        const own = rule ?? ownValue(rules, name);
        return own === undefined ? [] : [[name, own] as const];
      }),
    ),
  );

export const rootResolvers = { Query: resolversOf("Query"), Mutation: resolversOf("Mutation") };

export const rules = { Query: rulesOf("Query"), Mutation: rulesOf("Mutation") };
