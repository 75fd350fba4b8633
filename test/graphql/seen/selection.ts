/**
 * Selections of all fields of a type, and the fields of a result that have a value. Of other entities,
 * a selection has the urn only.
 */
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { isEntityTypename } from "../../../src/graphql/mapping/convert.ts";
import { jsonObject } from "../../../src/lib/json.ts";
import { ownValue } from "../../../src/lib/own-value.ts";
import { fieldArguments } from "./calls.ts";

/** The service rejects larger documents. */
const wordsMax = 1_500;
const aliasesMax = 90;

/** Selections that have all fields of the type together. */
export function selectionsOf(type: GraphQLObjectType, schema: GraphQLSchema): readonly string[] {
  const groups: string[] = [];
  let words = wordsMax;
  let aliases = 0;
  for (const field of fieldsOf(type, schema, [])) {
    const own = field.match(/\w+/g)?.length ?? 0;
    const ownAliases = field.match(/__\w+:/g)?.length ?? 0;
    words += own;
    aliases += ownAliases;
    if (words <= wordsMax && aliases <= aliasesMax) {
      groups.push(`${groups.pop() ?? ""} ${field}`);
    } else {
      groups.push(`__typename ${field}`);
      words = own;
      aliases = ownAliases;
    }
  }
  return groups;
}

function fieldsOf(
  type: GraphQLObjectType,
  schema: GraphQLSchema,
  within: readonly string[],
): readonly string[] {
  const inner = [...within, type.name];
  return Object.values(type.getFields()).flatMap((field) => {
    const args = argumentsOf(type, field);
    if (args === undefined) return [];
    const below = partsOf(getNamedType(field.type), schema, inner);
    return below === undefined ? [] : [`${field.name}${args}${below}`];
  });
}

/** Undefined for a field whose required arguments are missing. */
function argumentsOf(
  type: GraphQLObjectType,
  { name, args }: GraphQLField<unknown, unknown>,
): string | undefined {
  const own = ownValue(fieldArguments, `${type.name}.${name}`) ?? ownValue(fieldArguments, name);
  if (own !== undefined && args.length > 0) return `(${own})`;
  return args.some(isRequiredArgument) ? undefined : "";
}

/** The selection of a field's type; undefined for a type within itself. */
function partsOf(
  named: GraphQLNamedType,
  schema: GraphQLSchema,
  within: readonly string[],
): string | undefined {
  if (isLeafType(named)) return "";
  const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  if (possible.some((one) => isEntityTypename(one.name))) return entityPart(named);
  const members = possible.filter(isObjectType).filter(({ name }) => !within.includes(name));
  if (members.length === 0) return undefined;
  const [only, ...others] = members;
  if (only !== undefined && others.length === 0 && !isAbstractType(named)) {
    return ` { __typename ${fieldsOf(only, schema, within).join(" ")} }`;
  }
  const parts = members.map((one) => {
    const own = fieldsOf(one, schema, within).map((field) => {
      const [name = ""] = field.match(/^\w+/) ?? [];
      return `${one.name}__${name}: ${field}`;
    });
    return own.length === 0 ? "" : `... on ${one.name} { ${own.join(" ")} }`;
  });
  return ` { __typename ${parts.join(" ")} }`;
}

const entityPart = (named: GraphQLNamedType): string =>
  isObjectType(named) || named.name === "Entity"
    ? " { __typename urn type }"
    : " { __typename ... on Entity { urn type } }";

/** Adds `Type.field` of the fields with a value. */
export function collect(value: unknown, seen: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collect(one, seen);
  if (!jsonObject(value)) return;
  for (const [alias, own] of Object.entries(value)) {
    if (alias === "__typename") continue;
    collect(own, seen);
    const field = `${value.__typename}.${alias.split("__").at(-1)}`;
    if (hasValue(own)) seen.add(field);
  }
}

/** False also for the values that required fields return in place of a missing one. */
export function hasValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasValue);
  return value !== null && value !== undefined && value !== "" && value !== 0 && value !== false;
}
