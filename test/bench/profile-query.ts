/**
 * A query as large as the largest of DataHub's web application, which ask for the profile of an entity:
 * the fields of a dataset and of its siblings, the values of aspects in full, and other entities as cards.
 */
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { isEntityTypename } from "../../src/graphql/mapping/convert.ts";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypesOf } from "../../src/graphql/schema/entity-types.ts";
import { loadModel } from "../../src/model/load-model.ts";

type Field = GraphQLField<unknown, unknown>;

/** Arguments of the fields that need some. */
const argumentsOf: Readonly<Record<string, string>> = {
  relationships: '(input: {types: ["DownstreamOf"], direction: INCOMING, count: 10})',
  runs: "(direction: OUTGOING, count: 10)",
  siblingsSearch: '(input: {query: "*", count: 5})',
  usageStats: "(range: MONTH)",
};

/** Twins of other fields, and a field that the application asks for in a query of its own. */
const leftOut = ["schema", "globalTags", "forms"];

/** The types that the query asks for where any entity may stand. */
const cards = [
  ...["Dataset", "Chart", "Dashboard", "DataJob", "DataFlow", "Container", "CorpUser", "CorpGroup"],
  ...["GlossaryTerm", "Tag", "Domain", "DataProduct", "MLModel", "DataPlatform", "Document"],
];

/** The text of the query, which has the variable `urn`. */
export function profileQuery(): string {
  const schema = createSchema(entityTypesOf(loadModel().entities.keys()).members);
  const isAlike = fieldsAlikeIn(schema);
  const fragments = new Map<string, string>();

  /** The selection of a fragment, which is written on its first use; undefined within itself. */
  function spread(name: string, type: string, write: () => string): string | undefined {
    if (fragments.get(name) === "") return undefined;
    if (!fragments.has(name)) {
      fragments.set(name, "");
      fragments.set(name, `fragment ${name} on ${type} ${write()}`);
    }
    return `{ ...${name} }`;
  }

  const fieldsIn = (
    type: GraphQLObjectType,
    select: (type: GraphQLNamedType) => string | undefined,
    included: (field: Field) => boolean = () => true,
  ) =>
    `{\n__typename\n${Object.values(type.getFields())
      .map((field) => (included(field) ? fieldWith(field, select) : undefined))
      .filter((text) => text !== undefined)
      .join("\n")}\n}`;

  /** A value in full. */
  function value(type: GraphQLNamedType): string | undefined {
    if (isLeafType(type)) return "";
    if (isObjectType(type)) {
      if (isEntityTypename(type.name)) return card(type);
      return spread(`${type.name}Fields`, type.name, () => fieldsIn(type, value));
    }
    if (!isAbstractType(type)) return undefined;
    const own = isInterfaceType(type) ? "urn type" : "";
    const possible = membersOf(type, schema).map((one) => [one.name, value(one)]);
    const each = possible.flatMap(([name, text]) =>
      text === undefined ? [] : [`... on ${name} ${text}`],
    );
    return `{ __typename ${own} ${each.join("\n")} }`;
  }

  /** The scalars of an entity and of its values. */
  const card = (type: GraphQLObjectType): string | undefined =>
    spread(`${type.name}Card`, type.name, () =>
      fieldsIn(type, scalarsIn, (field) => field.args.length === 0 && isAlike(field)),
    );

  function scalarsIn(type: GraphQLNamedType): string | undefined {
    if (isLeafType(type)) return "";
    if (!isObjectType(type)) return undefined;
    if (isEntityTypename(type.name)) return "{ urn type }";
    const scalars = Object.values(type.getFields()).filter(
      (one) => isLeafType(getNamedType(one.type)) && isAlike(one),
    );
    return scalars.length === 0 ? undefined : `{ ${scalars.map(({ name }) => name).join(" ")} }`;
  }

  const dataset = schema.getType("Dataset");
  if (!isObjectType(dataset)) throw new Error("the schema has no type Dataset");
  const sibling = spread("SiblingDataset", "Dataset", () => fieldsIn(dataset, value));
  const profile = `{ dataset(urn: $urn) {
    ...SiblingDataset
    siblingsSearch${argumentsOf.siblingsSearch} { searchResults { entity { ... on Dataset ${sibling} } } } } }`;
  return [`query getDataset($urn: String!) ${profile}`, ...fragments.values()].join("\n");
}

const membersOf = (type: GraphQLNamedType, schema: GraphQLSchema): readonly GraphQLObjectType[] => {
  const possible = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  return isInterfaceType(type) ? possible.filter(({ name }) => cards.includes(name)) : possible;
};

/**
 * Returns true for a field whose type is the same in each type that has it, or different objects: others may
 * not stand beside each other.
 */
function fieldsAlikeIn(schema: GraphQLSchema): (field: Field) => boolean {
  const types = new Map<string, Set<string>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    for (const field of Object.values(type.getFields())) {
      const shape = isLeafType(getNamedType(field.type))
        ? String(field.type)
        : String(field.type).replace(/\w+/, "object");
      types.set(field.name, (types.get(field.name) ?? new Set()).add(shape));
    }
  }
  return ({ name }) => types.get(name)?.size === 1;
}

/** A field with its arguments and selection; undefined for a field that the query leaves out. */
function fieldWith(
  { name, args, type, deprecationReason }: Field,
  select: (type: GraphQLNamedType) => string | undefined,
): string | undefined {
  const given = argumentsOf[name] ?? "";
  if (leftOut.includes(name) || deprecationReason) return undefined;
  if (args.some(isRequiredArgument) && given === "") return undefined;
  const selected = select(getNamedType(type));
  return selected === undefined ? undefined : `${name}${args.length > 0 ? given : ""} ${selected}`;
}
