/**
 * The resolver of each field of the schema: a function of its own, or one built from the mapping. A field with
 * an entity loads it, if the query asks for more than its urn, so that the fields of the entity need no
 * promises.
 */
import {
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from "graphql";
import { jsonObject } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import { inPieces, isLong, type LongLists } from "../long-lists.ts";
import type { EntitySource } from "../queries/entity-source.ts";
import { MappedAspect } from "./aspect-value.ts";
import { converterTo, isEntityTypename } from "./convert.ts";
import { type EntityFields, memberAt, memberOf, type ValueFields } from "./mapping.ts";
import { entityMappings, valueMappings } from "./tables/all.ts";

type Resolve = GraphQLFieldResolver<unknown, Viewer>;

/**
 * Sets the resolver of every field. The result of a resolver that a field already has is converted to
 * its type.
 */
export function resolveFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    const read = isEntityTypename(type.name) ? entityReader(type) : valueReader(type);
    for (const field of Object.values(type.getFields())) {
      const value = field.resolve === undefined ? read(field.name) : ofJson(field.resolve);
      const convert = converterTo(field.type, schema);
      const named = getNamedType(field.type);
      const isList = isListType(getNullableType(field.type));
      const mayNameEntities = isAbstractType(named) || isEntityTypename(named.name);
      field.resolve = (source, args, viewer, info) => {
        const owner = ownerOf(source);
        const loads = mayNameEntities && asksForMoreThanUrn(info);
        const convertOne = (one: unknown) =>
          loads ? withEntities(convert(one, owner), viewer) : convert(one, owner);
        const shown = isList
          ? (one: unknown) => shownList(one, convertOne, viewer.longLists)
          : convertOne;
        const found = value(source, args, viewer, info);
        return found instanceof Promise ? found.then(shown) : shown(found);
      };
    }
  }
}

/** A list of the items of a list or map. */
function shownList(
  value: unknown,
  convert: (value: unknown) => unknown,
  longLists: LongLists,
): unknown {
  const items = jsonObject(value) ? Object.keys(value) : value;
  if (!Array.isArray(items) || !isLong(items.length)) return convert(value);
  return longLists.admit(items.length).then(() => {
    const converted = convert(value);
    return Array.isArray(converted) ? inPieces(converted) : converted;
  });
}

/** The value, with the entities that it names loaded. */
function withEntities(value: unknown, viewer: Viewer): unknown {
  if (value instanceof Promise) return value.then((one) => withEntities(one, viewer));
  if (Array.isArray(value)) return value.map((one) => withEntities(one, viewer));
  if (!isEntitySource(value)) return value;
  return viewer.loader.load(value.urn).then((loaded) => ({ ...value, loaded }));
}

const isEntitySource = (value: unknown): value is EntitySource =>
  typeof value === "object" &&
  value !== null &&
  !(value instanceof MappedAspect) &&
  isEntityTypename(String((value as Partial<EntitySource>).__typename));

/** Calls a resolver with the JSON value of the source. */
const ofJson =
  (resolve: Resolve): Resolve =>
  (source, ...rest) =>
    resolve(source instanceof MappedAspect ? source.json : source, ...rest);

/**
 * Urn of the entity to which a source belongs; empty for other sources. The result of a root field has no
 * owner, so its own urn counts.
 */
function ownerOf(source: unknown): string {
  if (source instanceof MappedAspect && source.owner !== "") return source.owner;
  const value = source instanceof MappedAspect ? source.json : source;
  const urn = memberOf(value, "urn") ?? memberOf(value, "associatedUrn");
  return typeof urn === "string" ? urn : "";
}

function entityReader(type: GraphQLObjectType): (field: string) => Resolve {
  const fields: EntityFields = { ...entityMappings.Entity, ...ownValue(entityMappings, type.name) };
  return (name) => {
    const mapped = ownValue(fields, name);
    const read = typeof mapped === "function" ? mapped : pathReader(mapped);
    return (source, _, viewer) => {
      const entity = source as EntitySource;
      // Fields of the source itself, such as the urn, need no read.
      const own = memberOf(entity, name);
      if (own !== undefined) return typeof own === "function" ? own() : own;
      if (read === undefined) return null;
      if (entity.loaded !== undefined) return read(entity.loaded, viewer);
      return viewer.loader.load(entity.urn).then((loaded) => read(loaded, viewer));
    };
  };
}

function pathReader(mapped: string | undefined) {
  if (mapped === undefined) return undefined;
  const [aspect = "", ...path] = mapped.split("/");
  return aspect === "key"
    ? (entity: LoadedEntity) => memberAt(entity.key(), path)
    : (entity: LoadedEntity) => memberAt(entity.aspect(aspect), path);
}

function valueReader(type: GraphQLObjectType): (field: string) => Resolve {
  const fields: ValueFields = ownValue(valueMappings, type.name) ?? {};
  return (name) => {
    const mapped = ownValue(fields, name) ?? name;
    const path = typeof mapped === "string" ? mapped.split("/") : [];
    return (source, _, viewer) => {
      const json = source instanceof MappedAspect ? source.json : source;
      // Results of resolvers have the names of the schema. A function computes the field on request.
      const own = memberOf(json, name);
      if (typeof own === "function") return own();
      if (typeof mapped === "function") {
        return mapped((json ?? {}) as Record<string, unknown>, ownerOf(source), viewer);
      }
      const found = mapped === name ? own : memberAt(json, path);
      if (found !== undefined) return found;
      return name === "associatedUrn" ? ownerOf(source) : own;
    };
  };
}

/** Fields that the urn answers. */
const fromUrn: ReadonlySet<string> = new Set(["__typename", "urn", "type"]);

/** By field of a document; documents of repeated queries are cached. */
const answers = new WeakMap<FieldNode, boolean>();

/** True if the field selects anything of its entities that their urns do not answer. */
function asksForMoreThanUrn({
  fieldNodes,
  fragments,
}: Pick<GraphQLResolveInfo, "fieldNodes" | "fragments">): boolean {
  return fieldNodes.some((node) => {
    let answer = answers.get(node);
    if (answer === undefined) {
      answer = selectsMore(node.selectionSet, fragments);
      answers.set(node, answer);
    }
    return answer;
  });
}

/** Valid documents have no cycles of fragments. */
const selectsMore = (
  set: SelectionSetNode | undefined,
  fragments: GraphQLResolveInfo["fragments"],
): boolean =>
  set?.selections.some((selection) => {
    if (selection.kind === Kind.FIELD) return !fromUrn.has(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      return selectsMore(selection.selectionSet, fragments);
    }
    // Safe lookup: in a valid document, each spread names a fragment.
    return selectsMore(fragments[selection.name.value]?.selectionSet, fragments);
  }) ?? false;
