/**
 * The type definitions, from the files in schema/. These omit the fields of CatalogEntity that all
 * entity types share: a type lists its own fields, and shared ones that it declares with another type.
 */
import { readFileSync } from "node:fs";
import {
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
} from "graphql";
import { assert } from "../../core/errors.ts";
import { typenames } from "./entity-types.ts";

/** In the order of the served schema; the enum EntityType comes after the first. */
const [first, ...rest] = [
  "access-tokens",
  "entities",
  "search",
  "browse",
  "labels",
  "create-and-delete",
  "ingestion-sources",
  "assertions",
  "policies",
] as const;

/** `entityTypes`: the members of the enum EntityType. */
export function typeDefinitions(entityTypes: readonly string[]): DocumentNode {
  const members = `enum EntityType {\n  ${entityTypes.join("\n  ")}\n}`;
  const { kind, definitions } = parse([textOf(first), members, ...rest.map(textOf)].join("\n"));
  const shared = definitions.find(isCatalogEntity)?.fields;
  assert(shared !== undefined, "schema/entities.graphql defines CatalogEntity");
  return { kind, definitions: definitions.map((one) => withFields(one, shared)) };
}

const textOf = (name: string): string =>
  readFileSync(new URL(`./${name}.graphql`, import.meta.url), "utf8");

const isCatalogEntity = (one: DefinitionNode): one is ObjectTypeDefinitionNode =>
  one.kind === Kind.OBJECT_TYPE_DEFINITION && one.name.value === "CatalogEntity";

const entityTypenames: ReadonlySet<string> = new Set(Object.values(typenames));

/** An entity type with the shared fields before its own; any other definition unchanged. */
function withFields(
  definition: DefinitionNode,
  shared: readonly FieldDefinitionNode[],
): DefinitionNode {
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return definition;
  if (!entityTypenames.has(definition.name.value)) return definition;
  const own = new Map((definition.fields ?? []).map((field) => [field.name.value, field]));
  const names = new Set(shared.map(({ name }) => name.value));
  return {
    ...definition,
    fields: [
      ...shared.map((field) => own.get(field.name.value) ?? field),
      ...[...own.values()].filter(({ name }) => !names.has(name.value)),
    ],
  };
}
