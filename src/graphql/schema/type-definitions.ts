/**
 * The type definitions: the files in sdl/, and the enum EntityType, whose members the model gives.
 * Enums of required fields have a member for values that they lack (see convert.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import {
  type DefinitionNode,
  type DocumentNode,
  type EnumTypeDefinitionNode,
  Kind,
  parse,
  type TypeNode,
} from "graphql";

const directory = new URL("./sdl/", import.meta.url);

/** Members of enums for values that the enum lacks, the preferred one first. */
export const fallbackMembers: readonly string[] = ["OTHER", "UNKNOWN"];

/** `entityTypes`: the members of the enum EntityType. */
export function typeDefinitions(entityTypes: readonly string[]): DocumentNode {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".graphql"))
    .sort();
  const texts = files.map((name) => readFileSync(new URL(name, directory), "utf8"));
  const document = parse(
    `${texts.join("\n")}\nenum EntityType {\n  ${entityTypes.join("\n  ")}\n}`,
    { noLocation: true },
  );
  const required = new Set(document.definitions.flatMap(requiredTypes));
  return {
    ...document,
    definitions: document.definitions.map((definition) =>
      definition.kind === Kind.ENUM_TYPE_DEFINITION && required.has(definition.name.value)
        ? withFallback(definition)
        : definition,
    ),
  };
}

/** The types of which the fields of an object type must have a value, also as items of lists. */
function requiredTypes(definition: DefinitionNode): readonly string[] {
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
  return (definition.fields ?? []).flatMap(({ type }) => requiredIn(type));
}

function requiredIn(type: TypeNode, required = false): readonly string[] {
  if (type.kind === Kind.NAMED_TYPE) return required ? [type.name.value] : [];
  return requiredIn(type.type, type.kind === Kind.NON_NULL_TYPE);
}

function withFallback(definition: EnumTypeDefinitionNode): EnumTypeDefinitionNode {
  const { values = [] } = definition;
  if (values.some(({ name }) => fallbackMembers.includes(name.value))) return definition;
  const name = { kind: Kind.NAME, value: "UNKNOWN" } as const;
  return { ...definition, values: [...values, { kind: Kind.ENUM_VALUE_DEFINITION, name }] };
}
