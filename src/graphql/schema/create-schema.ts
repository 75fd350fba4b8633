/** Combines types, rules and resolvers. The start fails when a field has no rule or resolver. */
import {
  buildASTSchema,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  isScalarType,
} from "graphql";
import { assert, CatalogError } from "../../core/errors.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Resolver, Viewer } from "../context.ts";
import { isEntityTypename } from "../mapping/convert.ts";
import { resolveFields } from "../mapping/resolve-fields.ts";
import { resolvers } from "./resolvers.ts";
import { rules } from "./root-fields.ts";
import type { Rule } from "./rule.ts";
import { typeDefinitions } from "./type-definitions.ts";

type Resolve = GraphQLFieldResolver<unknown, Viewer>;

/** `entityTypes`: members of the enum EntityType. */
export function createSchema(entityTypes: readonly string[]): GraphQLSchema {
  // The definitions change with the release only, and a test validates them.
  const valid = { assumeValid: true, assumeValidSDL: true };
  const schema = buildASTSchema(typeDefinitions(entityTypes), valid);
  const { Entity = {}, ...ofTypes } = resolvers;
  for (const type of schema.getPossibleTypes(entityInterface(schema))) {
    for (const [name, resolve] of Object.entries(Entity)) {
      // Safe lookup: `resolvers` is a closed list.
      const field = type.getFields()[name];
      if (field !== undefined && isEntityTypename(type.name)) field.resolve = typed(resolve);
    }
  }
  for (const [typeName, own] of Object.entries(ofTypes)) {
    for (const [name, resolve] of Object.entries(own)) {
      // Safe lookup: `resolvers` is a closed list.
      const field = fieldsOf(schema, typeName)[name];
      assert(field !== undefined, `${typeName} has a field ${name}`);
      field.resolve = typed(resolve);
    }
  }
  for (const [typeName, ofType] of Object.entries(rules)) {
    for (const field of Object.values(fieldsOf(schema, typeName))) {
      const rule = ownValue(ofType, field.name);
      const { resolve } = field;
      assert(rule !== undefined && resolve !== undefined, `${typeName}.${field.name} has a rule`);
      field.resolve = withRule(rule, resolve);
    }
  }
  resolveFields(schema);
  const long = schema.getType("Long");
  assert(isScalarType(long), "there is a type Long");
  long.serialize = wholeNumber;
  return schema;
}

/**
 * The schema checks arguments, and the source is the result of the enclosing field's resolver, so that
 * each resolver is called with the types that it declares.
 */
const typed = (resolve: Resolver): Resolve => resolve as unknown as Resolve;

function entityInterface(schema: GraphQLSchema) {
  const type = schema.getType("Entity");
  assert(isInterfaceType(type), "there is an interface Entity");
  return type;
}

function fieldsOf(schema: GraphQLSchema, name: string) {
  const type = schema.getType(name);
  return isObjectType(type) ? type.getFields() : {};
}

const withRule =
  (rule: Rule, resolve: Resolve): Resolve =>
  async (source, args, viewer, info) => {
    const action = info.fieldName;
    if (await rule.allows(args, viewer)) {
      const result = await resolve(source, args, viewer, info);
      if (rule.audited === true) viewer.audited({ action, outcome: "allowed", urn: urnOf(result) });
      return result;
    }
    viewer.audited({ action, outcome: "refused", detail: `It needs ${rule.needs}` });
    // Clients compare this message, so it does not name the privilege.
    throw new CatalogError("forbidden", "Unauthorized to perform this action", {
      hint: "Please contact your DataHub administrator.",
      needs: rule.needs,
    });
  };

/** The urn of a created token. The audit trail omits arguments, because a token may be among them. */
const urnOf = (result: unknown): string | undefined =>
  (result as { readonly metadata?: { readonly urn: string } } | null)?.metadata?.urn;

function wholeNumber(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError(`${String(value)} is no Long`);
}
