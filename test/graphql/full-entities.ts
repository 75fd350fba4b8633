/**
 * Reads entities whose aspects have every member, of each entity type, with all fields that the mapping fills.
 */
import {
  type DocumentNode,
  execute,
  GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  parse,
} from "graphql";
import { entityTypeOf } from "../../src/core/urn.ts";
import { createEntityLoader } from "../../src/graphql/entity-loader.ts";
import { createLongLists } from "../../src/graphql/long-lists.ts";
import { isEntityTypename } from "../../src/graphql/mapping/convert.ts";
import { entityOf } from "../../src/graphql/queries/entity-source.ts";
import { entityTypesOf, typenames } from "../../src/graphql/schema/entity-types.ts";
import { jsonObject } from "../../src/lib/json.ts";
import type { Model } from "../../src/model/model.ts";
import { anyType, fullRecord, urnOf } from "./full-values.ts";

/** As many variants as there are types of entities for urns of any type. */
const variants = anyType.length;

export interface Filled {
  /** `Type.field` of the fields with a value in some variant. */
  readonly filled: ReadonlySet<string>;
  /** Those without a value in any variant. */
  readonly empty: readonly string[];
  /** Messages of errors. */
  readonly errors: readonly string[];
}

/** `resolved`: returns true for a field with a resolver of its own, which is left out. */
export async function readFullEntities(
  schema: GraphQLSchema,
  model: Model,
  resolved: (type: string, field: string) => boolean,
): Promise<Filled> {
  const asked = new Set<string>();
  const filled = new Set<string>();
  const errors = new Set<string>();
  const read = readerOf(schema, model);
  for (const typename of Object.values(typenames)) {
    const type = schema.getType(typename) as GraphQLObjectType;
    const document = parse(`{ ${typename} { ${selectionOf(type, schema, resolved)} } }`);
    for (let variant = 0; variant < variants; variant++) {
      const result = await read(document, variant);
      for (const { path, message } of result.errors ?? [])
        errors.add(`${path?.join("/")}: ${message}`);
      for (const entity of Object.values(result.data ?? {})) collect(entity, asked, filled);
    }
  }
  return { filled, empty: [...asked.difference(filled)].sort(), errors: [...errors] };
}

/**
 * Selects the fields that the mapping fills, under the name of their type and field; of other entities only
 * the urn.
 */
function selectionOf(
  type: GraphQLObjectType,
  schema: GraphQLSchema,
  resolved: (type: string, field: string) => boolean,
  within: readonly string[] = [],
): string {
  const inner = [...within, type.name];
  const mapped = Object.values(type.getFields()).filter(
    ({ name, args }) => !args.some(isRequiredArgument) && !resolved(type.name, name),
  );
  const fields = mapped.map((field) => {
    const alias = `${type.name}__${field.name}: ${field.name}`;
    const named = getNamedType(field.type);
    if (isLeafType(named)) return alias;
    const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
    const parts = possible.filter(isObjectType).map((one) => {
      if (isEntityTypename(one.name)) return `... on ${one.name} { urn }`;
      if (inner.includes(one.name)) return "";
      return `... on ${one.name} { ${selectionOf(one, schema, resolved, inner)} }`;
    });
    return `${alias} { __typename ${parts.join(" ")} }`;
  });
  return ["__typename", ...fields].join(" ");
}

/** Notes the fields of a result, and those with a value. */
function collect(value: unknown, asked: Set<string>, filled: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collect(one, asked, filled);
  if (!jsonObject(value)) return;
  for (const [alias, own] of Object.entries(value)) {
    collect(own, asked, filled);
    if (!alias.includes("__") || alias === "__typename") continue;
    const field = alias.replace("__", ".");
    asked.add(field);
    if (hasValue(own)) filled.add(field);
  }
}

/** False also for the values that required fields return in place of a missing one. */
function hasValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasValue);
  return value !== null && value !== undefined && value !== "" && value !== 0 && value !== false;
}

/** Runs a query on a root with a field for each entity type. */
function readerOf(schema: GraphQLSchema, model: Model) {
  const roots = Object.entries(typenames).map(([entityType, typename]) => {
    const type = schema.getType(typename) as GraphQLObjectType;
    return [typename, { type, resolve: () => entityOf(urnOf(model, entityType)) }] as const;
  });
  const query = new GraphQLObjectType({ name: "Full", fields: Object.fromEntries(roots) });
  const full = new GraphQLSchema({ query, types: Object.values(schema.getTypeMap()) });
  return (document: DocumentNode, variant: number) => {
    const findEntities = async (urns: readonly string[]) =>
      urns.map((urn) => fullEntity(urn, model, variant));
    const catalog = {
      findEntities,
      search: async () => ({ total: 1, hits: [], facets: [] }),
      listRelationships: async () => ({ start: 0, count: 0, total: 0, relationships: [] }),
    };
    const contextValue = {
      catalog,
      loader: createEntityLoader(
        catalog as unknown as Parameters<typeof createEntityLoader>[0],
        async () => {},
      ),
      longLists: createLongLists(async () => {}),
      entities: { find: async (urn: string) => fullAspects(urn, model, variant) },
      entityTypes: entityTypesOf(model.entities.keys()),
      ...{ actor: urnOf(model, "corpuser"), namespace: "li", now: () => 1 },
    };
    return execute({ schema: full, document, contextValue });
  };
}

function fullAspects(urn: string, model: Model, variant: number): Record<string, object> {
  const entity = model.entities.get(entityTypeOf(urn));
  const names = entity === undefined ? [] : [entity.keyAspect, ...entity.aspects];
  const aspects = names.flatMap((name) => model.aspects.get(name) ?? []);
  return Object.fromEntries(
    aspects
      .filter(({ timeseries }) => !timeseries)
      .map(({ name, record }) => [name, fullRecord(model, record, variant)]),
  );
}

function fullEntity(urn: string, model: Model, variant: number) {
  const system = { runId: "run", lastRunId: "run", lastObserved: 1 };
  const stamp = { system, time: 1, actor: urnOf(model, "corpuser") };
  const aspects = Object.entries(fullAspects(urn, model, variant)).map(([name, value]) => ({
    ...{ name, value: JSON.stringify(value), ...stamp },
  }));
  return { urn, exists: true, aspects };
}
