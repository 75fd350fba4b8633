/** The resolvers of all fields. rules.ts authorizes each root field before its resolver runs. */
import { tokenFields, tokenMutations, tokenQueries } from "./access-tokens.ts";
import { assertionMutations, eventFields } from "./assertions.ts";
import { browsing } from "./browsing.ts";
import { entityFields } from "./entity-fields.ts";
import { entityQueries } from "./entity-queries.ts";
import { sourceFields, sourceMutations, sourceQueries } from "./ingestion-sources.ts";
import { labelling } from "./labelling.ts";
import { making } from "./making.ts";
import { policyMutations, policyQueries } from "./policies.ts";
import { searching } from "./searching.ts";
import { me } from "./users.ts";
import type { Resolver } from "./viewer.ts";

type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolver>>>>;

const { Assertion, Dataset, ...otherEntities } = entityFields;

export const resolvers: Resolvers = {
  Query: {
    me,
    ...tokenQueries,
    ...searching,
    ...browsing,
    ...entityQueries,
    ...sourceQueries,
    ...policyQueries,
  },
  Mutation: {
    ...tokenMutations,
    ...labelling,
    ...making,
    ...sourceMutations,
    ...assertionMutations,
    ...policyMutations,
  },
  ...otherEntities,
  Assertion: { ...Assertion, ...eventFields.Assertion } as Resolvers[string],
  Dataset: { ...Dataset, ...eventFields.Dataset } as Resolvers[string],
  ...sourceFields,
  ...tokenFields,
};
