/**
 * Conversion of JSON values to the types of the schema, decided once for each field: a urn becomes an
 * entity, a map a list of entries, an audit stamp a time for a field that is a number. A required field
 * without a value takes the empty value of its type, because an error would discard the whole entity:
 * an enum the member OTHER or UNKNOWN, also for a stored value that the enum lacks.
 */
import {
  type GraphQLEnumType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { CatalogError } from "../../core/errors.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { type EntitySource, namedBy } from "../queries/entity-source.ts";
import { shownType, typenames } from "../schema/entity-types.ts";
import { fallbackMembers } from "../schema/type-definitions.ts";
import { MappedAspect } from "./aspect-value.ts";

/**
 * `owner`: urn of the entity that has the value. Returns undefined for a value that the type does not
 * allow.
 */
type Convert = (value: unknown, owner: string) => unknown;

const entityTypenames: ReadonlySet<string> = new Set([
  ...Object.values(typenames),
  "CatalogEntity",
]);

export const isEntityTypename = (name: string): boolean => entityTypenames.has(name);

export function converterTo(type: GraphQLOutputType, schema: GraphQLSchema): Convert {
  if (isNonNullType(type)) {
    const convert = withEmpty(type.ofType, schema);
    return (value, owner) => convert(value, owner) ?? rejectEntity(value, type.ofType);
  }
  if (isListType(type)) return toList(type.ofType, schema);
  if (isEnumType(type)) return toMember(type);
  if (isAbstractType(type)) {
    const possible = new Set(schema.getPossibleTypes(type).map(({ name }) => name));
    return (value, owner) => toAbstract(value, owner, possible);
  }
  if (isObjectType(type)) return toObject(type.name);
  return scalars[type.name as keyof typeof scalars] ?? ((value) => value ?? undefined);
}

/** Converts a value that the type does not allow to the empty value of the type, if it has one. */
function withEmpty(type: GraphQLOutputType, schema: GraphQLSchema): Convert {
  const convert = converterTo(type, schema);
  const empty = emptyOf(type);
  return (value, owner) => convert(value, owner) ?? empty(owner);
}

/** Throws CatalogError `invalid` for an entity of another type, where a field requires one. */
function rejectEntity(value: unknown, type: GraphQLOutputType): undefined {
  const entity = entityIn(value);
  if (entity === undefined) return undefined;
  throw new CatalogError("invalid", `"${entity.urn}" is not of the type ${type}`, {
    hint: "Write the aspect that names it with another urn",
  });
}

/**
 * The member of an enum. Aspects hold entity types by their names in the model, the enum by those of
 * the schema.
 */
const toMember =
  (type: GraphQLEnumType): Convert =>
  (value) =>
    [String(value), ...(type.name === "EntityType" ? [shownType(String(value))] : [])].find(
      (one) => type.getValue(one) !== undefined,
    );

/** Omits items that the type does not allow where it does not allow null, such as edges to other types. */
function toList(ofType: GraphQLOutputType, schema: GraphQLSchema): Convert {
  const omits = isNonNullType(ofType);
  const convert = omits ? withEmpty(ofType.ofType, schema) : converterTo(ofType, schema);
  const item: Convert = (value, owner) =>
    value instanceof Promise ? value.then((one) => convert(one, owner)) : convert(value, owner);
  return (value, owner) => {
    const items = jsonObject(value) ? entriesOf(value) : value;
    if (!Array.isArray(items)) return undefined;
    const converted = items.map((one) => item(one, owner) ?? null);
    return omits ? converted.filter((one) => one !== null) : converted;
  };
}

/** A map as a list of entries, because GraphQL has no maps. */
const entriesOf = (map: JsonObject): readonly JsonObject[] =>
  Object.entries(map).map(([key, value]) => ({ key, value }));

const toObject = (typename: string): Convert => {
  if (isEntityTypename(typename)) {
    return (value) => {
      const entity = entityIn(value);
      return entity?.__typename === typename ? entity : undefined;
    };
  }
  return (value, owner) => {
    if (value instanceof MappedAspect || isTyped(value)) return value;
    return jsonObject(value) ? new MappedAspect(memberOfUnion(value).value, owner) : undefined;
  };
};

function toAbstract(value: unknown, owner: string, possible: ReadonlySet<string>): unknown {
  if (value instanceof MappedAspect) return value;
  const entity = entityIn(value);
  if (entity !== undefined) return possible.has(entity.__typename) ? entity : undefined;
  if (!jsonObject(value)) return undefined;
  const { name, value: member } = memberOfUnion(value);
  return possible.has(name) ? new MappedAspect(member, owner, name) : undefined;
}

const entityIn = (value: unknown): EntitySource | undefined =>
  isTyped(value) ? value : (namedBy(value) ?? undefined);

const isTyped = (value: unknown): value is EntitySource =>
  jsonObject(value) && Object.hasOwn(value, "__typename");

/** A union of the model is an object with one member, named by the record: {"com.x.Foo": {…}}. */
function memberOfUnion(value: JsonObject): { readonly name: string; readonly value: JsonObject } {
  const [only, ...others] = Object.keys(value);
  const inner = only?.includes(".") && others.length === 0 ? value[only] : undefined;
  return jsonObject(inner)
    ? { name: only?.split(".").at(-1) ?? "", value: inner }
    : { name: "", value };
}

const toNumber: Convert = (value) => {
  const number = jsonObject(value) ? value.time : value;
  if (typeof number === "number") return number;
  const parsed = typeof number === "string" && number.trim() !== "" ? Number(number) : Number.NaN;
  return Number.isFinite(parsed) ? parsed : undefined;
};

const toText: Convert = (value) => {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

const scalars = {
  Int: toNumber,
  Long: toNumber,
  Float: toNumber,
  String: toText,
  ID: toText,
  Boolean: ((value) => (typeof value === "boolean" ? value : undefined)) as Convert,
};

const emptyScalars = { Int: 0, Long: 0, Float: 0, String: "", ID: "", Boolean: false };

/** The platform `unknown`, as in DataHub, in the namespace of the owner. */
const unknownPlatform = (owner: string) =>
  namedBy(`urn:${owner.split(":")[1]}:dataPlatform:unknown`) ?? undefined;

/**
 * The value of a required field without one; undefined for a type without an empty value, which is an
 * error.
 */
function emptyOf(type: GraphQLOutputType): (owner: string) => unknown {
  if (isListType(type)) return () => [];
  if (isObjectType(type) && type.name === "DataPlatform") return unknownPlatform;
  if (isObjectType(type) && !isEntityTypename(type.name)) {
    return (owner) => new MappedAspect({}, owner);
  }
  const value = isEnumType(type)
    ? type.getValues().find((one) => fallbackMembers.includes(one.name))?.name
    : emptyScalars[String(type) as keyof typeof emptyScalars];
  return () => value;
}
