/**
 * Compares the mapping with the model: walks the fields of the schema and the aspects together, down from each
 * entity type. Finds the mapped paths that the model does not have.
 */
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isObjectType,
} from "graphql";
import { isEntityTypename } from "../../src/graphql/mapping/convert.ts";
import { entityMappings, valueMappings } from "../../src/graphql/mapping/tables/all.ts";
import { propertiesAspectOf, typenames } from "../../src/graphql/schema/entity-types.ts";
import { ownValue } from "../../src/lib/own-value.ts";
import type { FieldType, Model } from "../../src/model/model.ts";

export interface Coverage {
  /** `Type.field: path` of mapped paths that are not in the model. */
  readonly wrong: readonly string[];
  /** `Enum.SYMBOL` of symbols of the model that an enum of the schema lacks. */
  readonly unserved: readonly string[];
}

/** `resolved`: returns true for a field with a resolver of its own. */
export function coverageOf(
  schema: GraphQLSchema,
  model: Model,
  resolved: (type: string, field: string) => boolean,
): Coverage {
  const wrong = new Set<string>();
  const unserved = new Set<string>();
  const filled = new Set<string>();
  const walked = new Set<string>();

  function fieldsOf(name: string) {
    const type = schema.getType(name);
    return isObjectType(type) ? Object.values(type.getFields()) : [];
  }

  /** Compares the enums of fields with those of their values. */
  function compareSymbols(type: GraphQLNamedType, one: FieldType): void {
    const named = one.kind === "named" ? model.types.get(one.name) : undefined;
    if (!isEnumType(type) || named?.kind !== "enum") return;
    for (const symbol of named.symbols) {
      if (!type.getValue(symbol)) unserved.add(`${type.name}.${symbol}`);
    }
  }

  function walk(type: GraphQLNamedType, found: readonly FieldType[]): void {
    for (const one of found) {
      compareSymbols(type, one);
      const record = recordOf(one, model);
      if (isAbstractType(type)) {
        for (const possible of schema.getPossibleTypes(type)) walk(possible, [one]);
      } else if (isObjectType(type) && record !== undefined) walkRecord(type.name, record);
    }
  }

  function walkRecord(typename: string, record: string): void {
    if (isEntityTypename(typename) || walked.has(`${typename} ${record}`)) return;
    walked.add(`${typename} ${record}`);
    const mappings = ownValue(valueMappings, typename) ?? {};
    for (const { name, type } of fieldsOf(typename)) {
      const mapped = ownValue(mappings, name) ?? name;
      if (typeof mapped === "function" || name === "associatedUrn" || resolved(typename, name)) {
        filled.add(`${typename}.${name}`);
        continue;
      }
      const found = membersAt([{ kind: "named", name: record }], mapped.split("/"), model);
      if (found.length === 0) {
        if (Object.hasOwn(mappings, name)) wrong.add(`${typename}.${name}: ${record} ${mapped}`);
        continue;
      }
      filled.add(`${typename}.${name}`);
      walk(getNamedType(type), found);
    }
  }

  for (const [entityType, typename] of Object.entries(typenames)) {
    const entity = model.entities.get(entityType);
    if (entity === undefined) continue;
    const mappings = { ...entityMappings.Entity, ...ownValue(entityMappings, typename) };
    for (const { name, type } of fieldsOf(typename)) {
      const field = `${typename}.${name}`;
      const mapped = ownValue(mappings, name);
      if (name === "urn" || name === "type" || resolved(typename, name)) continue;
      if (typeof mapped === "function") {
        const record = ownValue(entityRecords, name);
        const aspect = record === undefined ? undefined : record(entityType);
        if (aspect !== undefined) walk(getNamedType(type), aspectTypes(aspect, model));
        continue;
      }
      if (mapped === undefined) continue;
      const [aspect = "", ...path] = mapped.split("/");
      const own = Object.hasOwn(ownValue(entityMappings, typename) ?? {}, name);
      if (aspect === "key") {
        const key = entity.keyFields.find((one) => one.name === path[0]);
        if (key === undefined) wrong.add(`${field}: ${mapped}`);
        continue;
      }
      const has = entity.aspects.includes(aspect);
      const found = has ? membersAt(aspectTypes(aspect, model), path, model) : [];
      if (found.length > 0) walk(getNamedType(type), found);
      else if (own) wrong.add(`${field}: ${mapped}`);
    }
  }
  // Functions of the mapping also return values of the enum with the same name.
  for (const [name, named] of model.types) {
    const type = schema.getType(name.split(".").at(-1) ?? "");
    if (type !== undefined && named.kind === "enum") compareSymbols(type, { kind: "named", name });
  }
  return {
    unserved: [...unserved].sort(),
    wrong: [...wrong].filter((field) => !filled.has(field.split(":")[0] ?? "")).sort(),
  };
}

/** Aspects behind the fields that a function computes from one aspect. */
const entityRecords: Readonly<Record<string, (entityType: string) => string | undefined>> = {
  properties: propertiesAspectOf,
};

function aspectTypes(aspect: string, model: Model): readonly FieldType[] {
  const record = model.aspects.get(aspect)?.record;
  return record === undefined ? [] : [{ kind: "named", name: record }];
}

/** The types at a path of members; through lists, maps and the members of unions. */
function membersAt(
  types: readonly FieldType[],
  path: readonly string[],
  model: Model,
): readonly FieldType[] {
  let found = types.flatMap((type) => itemsOf(type));
  for (const name of path) {
    found = found.flatMap((type) => {
      const record = recordOf(type, model);
      const named = record === undefined ? undefined : model.types.get(record);
      const fields = named?.kind === "record" ? named.fields : [];
      return fields.filter((one) => one.name === name).flatMap((one) => itemsOf(one.type));
    });
  }
  return found;
}

function itemsOf(type: FieldType): readonly FieldType[] {
  if (type.kind === "array") return itemsOf(type.items);
  if (type.kind === "map") return [type];
  if (type.kind === "union") return type.members.flatMap((member) => itemsOf(member.type));
  return [type];
}

function recordOf(type: FieldType, model: Model): string | undefined {
  if (type.kind !== "named") return undefined;
  return model.types.get(type.name)?.kind === "record" ? type.name : undefined;
}
