/** Types, rules and resolvers put together; fails at the start when one of them misses a field. */
import {
  buildASTSchema,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isObjectType,
  isScalarType,
} from "graphql";
import { assert, CatalogError } from "../core/errors.ts";
import { ownValue } from "../core/own-value.ts";
import { resolvers } from "./resolvers.ts";
import { type Rule, rules } from "./rules.ts";
import { typeDefinitions } from "./type-definitions.ts";
import type { Viewer } from "./viewer.ts";

type Resolve = GraphQLFieldResolver<unknown, Viewer>;

/** `entityTypes`: members of the enum of that name. */
export function createSchema(entityTypes: readonly string[]): GraphQLSchema {
  const schema = buildASTSchema(typeDefinitions(entityTypes));
  for (const [typeName, own] of Object.entries(resolvers)) {
    for (const [name, resolve] of Object.entries(own)) {
      // Safe lookup: `resolvers` is a closed list.
      const field = fieldsOf(schema, typeName)[name];
      assert(field !== undefined, `${typeName} has a field ${name}`);
      // Each is written for the source and the arguments of its own field, and is called with those:
      // the schema checks arguments, and a source is what the field around it has answered.
      field.resolve = resolve as unknown as Resolve;
    }
  }
  for (const [typeName, ofType] of Object.entries(rules)) {
    for (const field of Object.values(fieldsOf(schema, typeName))) {
      const rule = ownValue(ofType, field.name);
      const { resolve } = field;
      assert(rule !== undefined && resolve !== undefined, `${typeName}.${field.name} has a rule`);
      field.resolve = ruled(rule, resolve);
    }
  }
  const long = schema.getType("Long");
  assert(isScalarType(long), "there is a type Long");
  long.serialize = wholeNumber;
  return schema;
}

function fieldsOf(schema: GraphQLSchema, name: string) {
  const type = schema.getType(name);
  return isObjectType(type) ? type.getFields() : {};
}

const ruled =
  (rule: Rule, resolve: Resolve): Resolve =>
  async (source, args, viewer, info) => {
    const action = info.fieldName;
    if (await rule.allows(args, viewer)) {
      const result = await resolve(source, args, viewer, info);
      if (rule.audited === true) viewer.audited({ action, outcome: "allowed", urn: urnOf(result) });
      return result;
    }
    viewer.audited({ action, outcome: "refused", detail: `It needs ${rule.needs}` });
    // Word for word what clients know. What it needs is told to the audit trail.
    throw new CatalogError("forbidden", "Unauthorized to perform this action", {
      hint: "Please contact your DataHub administrator.",
    });
  };

/** Of the token that was made; arguments are not told, since a token might be among them. */
const urnOf = (result: unknown): string | undefined =>
  (result as { readonly metadata?: { readonly urn: string } } | null)?.metadata?.urn;

function wholeNumber(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError(`${String(value)} is no Long`);
}
