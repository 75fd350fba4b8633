/**
 * The layout of the reference's published schemas (the folder `datahub/metadata/schemas` of its
 * Python package) → a part of a model. What it does otherwise than our own:
 *
 * - names carry an infix: com.linkedin.pegasus2avro.common.Status;
 * - a type is defined at its first use in each file, so the same type is met in many files;
 * - the registry lies in the key records' "Aspect": keyForEntity, entityAspects, entityCategory;
 * - legacy snapshots are the union of MetadataChangeEvent.avsc, whose key records lack that;
 * - a union whose members have aliases is a record of optional fields and a "fieldDiscriminator".
 */
import { basename } from "node:path";
import type { EntityEntry, ModelPart, SnapshotEntry } from "./avro-schema.ts";
import { broken, type DefinedType, readSchema } from "./avro-schema.ts";
import type { FieldType } from "./model.ts";
import { WRITTEN_PREFIX, withPrefix } from "./record-names.ts";

interface SchemaFile {
  readonly file: string;
  readonly schema: unknown;
}

type Types = Map<string, DefinedType>;

const INFIX = `${WRITTEN_PREFIX}.pegasus2avro.`;
const SNAPSHOTS = "MetadataChangeEvent.avsc";
/** The package's value for an entity without category. */
const NO_CATEGORY = "_unset_";
const DISCRIMINATOR = "fieldDiscriminator";

export function fromPublished(files: readonly SchemaFile[], prefix: string): ModelPart {
  const rename = (name: string) =>
    name.startsWith(INFIX) ? `${prefix}.${name.slice(INFIX.length)}` : withPrefix(name, prefix);
  // The first definition counts; they are all the same.
  const readAll = (of: readonly SchemaFile[]): Types => {
    const types: Types = new Map();
    const define = (defined: DefinedType) =>
      types.has(defined.type.name) || types.set(defined.type.name, defined);
    for (const { file, schema } of of) readSchema(schema, { file, rename, define });
    return types;
  };
  const types = withAliasUnions(readAll(files.filter(holdsAspect)));
  const events = readAll(files.filter(({ file }) => basename(file) === SNAPSHOTS));
  return {
    types,
    entities: [...types.values()].flatMap(entityOf),
    snapshots: [...events.values()].flatMap((defined) => snapshotOf(defined, types)),
  };
}

const holdsAspect = ({ schema }: SchemaFile): boolean =>
  typeof schema === "object" && schema !== null && "Aspect" in schema;

function entityOf({ aspect, file }: DefinedType): EntityEntry[] {
  if (typeof aspect?.keyForEntity !== "string") return [];
  const { name, keyForEntity, entityCategory, entityAspects } = aspect;
  if (typeof name !== "string" || !Array.isArray(entityAspects)) {
    throw broken(file, `the key of "${keyForEntity}" has no name or no list entityAspects`);
  }
  const category = typeof entityCategory === "string" ? entityCategory : NO_CATEGORY;
  return [
    {
      name: keyForEntity,
      keyAspect: name,
      aspects: entityAspects.map(String),
      category: category === NO_CATEGORY ? undefined : category,
      searchGroup: undefined,
      file,
    },
  ];
}

function snapshotOf({ type, entity, file }: DefinedType, types: Types): SnapshotEntry[] {
  if (typeof entity?.name !== "string" || type.kind !== "record") return [];
  const aspects = type.fields.find((field) => field.name === "aspects")?.type;
  const members =
    aspects?.kind === "array" && aspects.items.kind === "union" ? aspects.items : undefined;
  if (members === undefined) throw broken(file, `snapshot "${type.name}" has no union of aspects`);
  const records = members.members.map((member) => member.key).filter((name) => types.has(name));
  return [{ record: type.name, entity: entity.name, aspects: records, file }];
}

/** Puts the unions back that were published as records with a discriminator. */
function withAliasUnions(types: Types): Types {
  const unions = new Map<string, FieldType>();
  const discriminators = new Set<string>();
  for (const { type } of types.values()) {
    const fields = type.kind === "record" ? type.fields : [];
    const discriminator = fields.find(({ name }) => name === DISCRIMINATOR)?.type;
    if (discriminator?.kind !== "named") continue;
    const members = fields.filter(({ name }) => name !== DISCRIMINATOR);
    const keyed = members.map(({ name, type }) => ({ key: name, type }));
    unions.set(type.name, { kind: "union", members: keyed });
    discriminators.add(discriminator.name);
  }
  const rest = [...types].filter(([name]) => !unions.has(name) && !discriminators.has(name));
  return new Map(rest.map(([name, defined]) => [name, withUnions(defined, unions)]));
}

function withUnions(defined: DefinedType, unions: ReadonlyMap<string, FieldType>): DefinedType {
  const replaced = (type: FieldType): FieldType => {
    switch (type.kind) {
      case "named":
        return unions.get(type.name) ?? type;
      case "array":
        return { kind: "array", items: replaced(type.items) };
      case "map":
        return { kind: "map", values: replaced(type.values) };
      default:
        return type;
    }
  };
  const { type } = defined;
  if (type.kind !== "record") return defined;
  const fields = type.fields.map((field) => ({ ...field, type: replaced(field.type) }));
  return { ...defined, type: { ...type, fields } };
}
