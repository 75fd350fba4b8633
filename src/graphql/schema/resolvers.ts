/** The resolvers of all fields. root-fields.ts authorizes each root field before its resolver runs. */

import { ownValue } from "../../lib/own-value.ts";
import type { Resolver } from "../context.ts";
import { tokenFields } from "../mutations/access-tokens.ts";
import { connectionFields } from "../mutations/accounts/secrets.ts";
import { sourceFields } from "../mutations/ingestion-sources.ts";
import { eventFields } from "../queries/assertions.ts";
import { entityFields } from "../queries/entity-fields.ts";
import { readFields } from "../queries/read-queries.ts";
import { rootResolvers } from "./root-fields.ts";

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
  ...rootResolvers,
  ...joined([
    entityFields,
    ...readFields,
    eventFields as Resolvers,
    sourceFields,
    connectionFields,
    tokenFields,
  ]),
};
