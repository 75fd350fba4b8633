/** The resolvers of all fields. rules.ts authorizes each root field before its resolver runs. */

import { ownValue } from "../../lib/own-value.ts";
import type { Resolver } from "../context.ts";
import { tokenFields, tokenMutations, tokenQueries } from "../mutations/access-tokens.ts";
import {
  accountMutations,
  fileMutations,
  ownershipTypeMutations,
  profileMutations,
} from "../mutations/accounts/accounts.ts";
import { executionMutations } from "../mutations/accounts/execution-requests.ts";
import {
  connectionFields,
  connectionMutations,
  secretMutations,
  secretQueries,
} from "../mutations/accounts/secrets.ts";
import { assetMutations } from "../mutations/asset-mutations.ts";
import { making } from "../mutations/create.ts";
import { sourceFields, sourceMutations, sourceQueries } from "../mutations/ingestion-sources.ts";
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
import { signInMutations, signInQueries } from "../mutations/sign-in.ts";
import { assertionMutations, eventFields } from "../queries/assertions.ts";
import { browsing } from "../queries/browse.ts";
import { entityFields } from "../queries/entity-fields.ts";
import { entityQueries } from "../queries/entity-queries.ts";
import { policyMutations, policyQueries } from "../queries/policies.ts";
import { readFields, readQueries } from "../queries/read-queries.ts";
import { searching } from "../queries/search.ts";
import { me } from "../queries/users.ts";

type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolver>>>>;

/** The fields of types, from several tables. */
function joined(tables: readonly Resolvers[]): Resolvers {
  const all: Record<string, Record<string, Resolver>> = {};
  for (const [typename, fields] of tables.flatMap((table) => Object.entries(table))) {
    all[typename] = { ...ownValue(all, typename), ...fields };
  }
  return all;
}

export const resolvers: Resolvers = {
  Query: {
    me,
    ...readQueries,
    ...tokenQueries,
    ...searching,
    ...browsing,
    ...entityQueries,
    ...sourceQueries,
    ...policyQueries,
    ...secretQueries,
    ...signInQueries,
  },
  Mutation: {
    ...tokenMutations,
    ...assetMutations,
    ...labelling,
    ...making,
    ...sourceMutations,
    ...assertionMutations,
    ...policyMutations,
    ...secretMutations,
    ...signInMutations,
    ...connectionMutations,
    ...accountMutations,
    ...profileMutations,
    ...ownershipTypeMutations,
    ...fileMutations,
    ...executionMutations,
    ...testMutations,
    ...contractMutations,
    ...assertionDeletion,
    ...incidentMutations,
    ...postMutations,
    ...queryMutations,
    ...viewMutations,
    ...pageMutations,
    ...ownSettingsMutations,
    ...globalSettingsMutations,
    ...stepMutations,
  },
  ...joined([
    entityFields,
    ...readFields,
    eventFields as Resolvers,
    sourceFields,
    connectionFields,
    tokenFields,
  ]),
};
