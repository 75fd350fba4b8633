/** A valid call of any operation of the schema, with the required arguments only. */
import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from "graphql";

/** A literal of the type: the first member of an enum, empty lists, `x` for a text. */
function literalOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(type.ofType);
  if (isListType(type)) return "[]";
  if (isEnumType(type)) return type.getValues()[0]?.name ?? "";
  if (isInputObjectType(type)) return `{${valuesOf(Object.values(type.getFields()))}}`;
  return { Int: "1", Long: "1", Float: "1", Boolean: "true" }[type.name] ?? '"x"';
}

const valuesOf = (values: readonly { readonly name: string; readonly type: GraphQLInputType }[]) =>
  values
    .filter(({ type }) => isNonNullType(type))
    .map(({ name, type }) => `${name}: ${literalOf(type)}`)
    .join(", ");

export function minimalCall(
  operation: "query" | "mutation",
  { name, args, type }: GraphQLField<unknown, unknown>,
): string {
  const given = valuesOf(args);
  const selected = isLeafType(getNamedType(type)) ? "" : " { __typename }";
  return `${operation} { ${name}${given === "" ? "" : `(${given})`}${selected} }`;
}
