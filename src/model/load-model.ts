/**
 * Directories of Avro schemas → the model. The first directory is the whole model; each further one
 * is merged over it: a type of a name that is there replaces it, an entity that is there gains the
 * aspects named. Every name that is given out carries the configured prefix, every urn among the
 * defaults the configured namespace.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { CatalogError } from "../core/errors.ts";
import { sortedMembers } from "../lib/json.ts";
import type { EntityEntry, ModelPart, SnapshotEntry } from "./avro-schema.ts";
import { broken, type DefinedType } from "./avro-schema.ts";
import { checkFields, checkTimeseries, keyOfEntity, namesIn } from "./coherence.ts";
import { createValidator } from "./create-validator.ts";
import type { Aspect, Entity, Model, NamedType, Snapshot } from "./model.ts";
import { readDirectory } from "./read-directory.ts";
import { createNameIndex, WRITTEN_PREFIX } from "./record-names.ts";
import { createUrnChecks } from "./urn-check.ts";
import { rulesOfField } from "./urn-rules.ts";

/** The model that comes with the project. */
export const defaultModelDirectory = fileURLToPath(new URL("../../avro", import.meta.url));

/** Aspects that DataHub's model lacks: those of OpenLineage events. */
const ownExtensionDirectory = `${defaultModelDirectory}/extension`;

/** The directories of a model: the project's own one has its extension. */
export const modelDirectories = (
  model: string,
  extensions: readonly string[],
): readonly string[] => [
  model,
  ...(model === defaultModelDirectory ? [ownExtensionDirectory] : []),
  ...extensions,
];

export interface ModelOptions {
  /** Read in order, each merged over those before it. [defaultModelDirectory] when absent. */
  readonly directories?: readonly string[];
  /** In front of every record name of the model; `com.linkedin` when absent. */
  readonly prefix?: string;
  /** Of every urn in the values that leave the validator; `li` when absent. */
  readonly namespace?: string;
}

/** Throws CatalogError `invalid` naming file and type when the model does not hold together. */
export function loadModel(options: ModelOptions = {}): Model {
  const { directories = [defaultModelDirectory], namespace = "li" } = options;
  const { prefix = WRITTEN_PREFIX } = options;
  checkSettings(prefix, namespace);
  const part = directories
    .map((directory) => readDirectory(directory, prefix))
    .reduce(merge, { types: new Map(), entities: [], snapshots: [] });
  return settle(part, prefix, namespace);
}

function checkSettings(prefix: string, namespace: string): void {
  if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(prefix)) {
    throw new CatalogError("invalid", `record prefix "${prefix}" is not a dotted name`, {
      hint: "A prefix looks like com.linkedin or org.acme.metadata",
    });
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/.test(namespace)) {
    throw new CatalogError("invalid", `urn namespace "${namespace}" cannot stand in a urn`, {
      hint: "A namespace has 1 to 32 letters, digits and hyphens, such as li",
    });
  }
}

function merge(base: ModelPart, over: ModelPart): ModelPart {
  const entities = new Map(base.entities.map((entry) => [entry.name, entry]));
  for (const entry of over.entities) {
    entities.set(entry.name, mergeEntity(entities.get(entry.name), entry));
  }
  const snapshots = new Map(base.snapshots.map((entry) => [entry.record, entry]));
  for (const entry of over.snapshots) snapshots.set(entry.record, entry);
  return {
    types: new Map([...base.types, ...over.types]),
    entities: [...entities.values()],
    snapshots: [...snapshots.values()],
  };
}

function mergeEntity(base: EntityEntry | undefined, over: EntityEntry): EntityEntry {
  if (base === undefined) return over;
  if (over.keyAspect !== undefined && over.keyAspect !== base.keyAspect) {
    throw broken(
      over.file,
      `entity "${over.name}" has the key aspect "${over.keyAspect}" here and "${base.keyAspect}" in "${base.file}"`,
      "An extension adds aspects to an entity; leave its keyAspect out",
    );
  }
  return {
    ...base,
    aspects: [...new Set([...base.aspects, ...over.aspects])],
    category: over.category ?? base.category,
    searchGroup: over.searchGroup ?? base.searchGroup,
  };
}

function settle(part: ModelPart, prefix: string, namespace: string): Model {
  checkFields(part.types);
  const types = new Map([...part.types].map(([name, defined]) => [name, defined.type]));
  const aspects = aspectsOf(part.types);
  const entities = new Map(
    part.entities.map((entry) => [entry.name, entityOf(entry, aspects, part.types)]),
  );
  const snapshots = new Map(
    part.snapshots.map((entry) => [entry.record, snapshotOf(entry, entities, types)]),
  );
  const entitiesByLowerName = byLowerName(part.entities, entities);
  const snapshotsByEntity = new Map([...snapshots.values()].map((s) => [s.entity, s]));
  const byRecord = [...aspects.values()].map((aspect) => [aspect.record, aspect] as const);
  const urnChecks = createUrnChecks(entities, namespace);

  return {
    fingerprint: fingerprintOf([prefix, namespace, types, aspects, entities, snapshots]),
    types,
    entities,
    aspects,
    snapshots,
    findEntity: (name) => entities.get(name) ?? entitiesByLowerName.get(name.toLowerCase()),
    findAspectOf: (entity, aspect) =>
      aspect === entity.keyAspect || entity.aspects.includes(aspect)
        ? aspects.get(aspect)
        : undefined,
    findAspectByRecord: createNameIndex(byRecord, prefix),
    findSnapshotByRecord: createNameIndex(snapshots, prefix),
    findSnapshotOf: (entity) => snapshotsByEntity.get(entity),
    check: createValidator(types, { entities, urnChecks, prefix, namespace }),
    requiresEntities: requiringRecords(types),
    faultOfUrn: urnChecks({}),
  };
}

/** True if a record, or a record inside it, has a field whose urns must exist. */
function requiringRecords(types: ReadonlyMap<string, NamedType>) {
  const known = new Map<string, boolean>();
  const requires = (name: string): boolean => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const type = types.get(name);
    // A recursive record adds nothing.
    known.set(name, false);
    const requiring =
      type?.kind === "record" &&
      type.fields.some(
        (field) =>
          rulesOfField(field).some(({ rule }) => rule.exist) || namesIn(field.type).some(requires),
      );
    known.set(name, requiring);
    return requiring;
  };
  return ({ record }: Aspect): boolean => requires(record);
}

function aspectsOf(types: ReadonlyMap<string, DefinedType>): Map<string, Aspect> {
  const aspects = new Map<string, Aspect>();
  const files = new Map<string, string>();
  for (const { type, aspect, file } of types.values()) {
    if (aspect === undefined) continue;
    const { name, schemaVersion = 1 } = aspect;
    if (type.kind !== "record" || typeof name !== "string" || typeof schemaVersion !== "number") {
      throw broken(
        file,
        `the "Aspect" of "${type.name}" is ${JSON.stringify(aspect)}`,
        'Write it as "Aspect": { "name": … } on a record; type and schemaVersion may follow',
      );
    }
    const other = files.get(name);
    if (other !== undefined) {
      throw broken(
        file,
        `the aspect "${name}" is defined in "${other}" too`,
        "Give one of them another name, or give both records the same full name to replace one",
      );
    }
    files.set(name, file);
    const timeseries = aspect.type === "timeseries";
    if (timeseries) checkTimeseries(type, file);
    aspects.set(name, { name, record: type.name, timeseries, schemaVersion });
  }
  return aspects;
}

function entityOf(
  entry: EntityEntry,
  aspects: ReadonlyMap<string, Aspect>,
  types: ReadonlyMap<string, DefinedType>,
): Entity {
  const { name, keyAspect, category, searchGroup, file } = entry;
  if (keyAspect === undefined) {
    throw broken(
      file,
      `entity "${name}" has no keyAspect`,
      "A new entity needs one; to extend an entity that is there, use its exact name",
    );
  }
  const names = entry.aspects.filter((aspect) => aspect !== keyAspect);
  const missing = [keyAspect, ...names].find((aspect) => !aspects.has(aspect));
  if (missing !== undefined) {
    throw broken(
      file,
      `entity "${name}" has the aspect "${missing}", which no schema defines`,
      `Add a record with "Aspect": { "name": "${missing}" }, or leave it out`,
    );
  }
  const keyRecord = types.get(aspects.get(keyAspect)?.record ?? "");
  const key = keyOfEntity(name, keyRecord, types);
  return { name, keyAspect, aspects: [...new Set(names)], category, searchGroup, ...key };
}

function snapshotOf(
  entry: SnapshotEntry,
  entities: ReadonlyMap<string, Entity>,
  types: ReadonlyMap<string, NamedType>,
): Snapshot {
  const { record, entity, aspects, file } = entry;
  if (!entities.has(entity)) {
    throw broken(file, `snapshot "${record}" is of the entity "${entity}", which is not there`);
  }
  const missing = aspects.find((aspect) => !types.has(aspect));
  if (missing !== undefined) {
    throw broken(file, `snapshot "${record}" takes "${missing}", which no schema defines`);
  }
  return { record, entity, aspects };
}

function byLowerName(entries: readonly EntityEntry[], entities: ReadonlyMap<string, Entity>) {
  const byName = new Map<string, Entity>();
  for (const { name, file } of entries) {
    const lower = name.toLowerCase();
    const other = byName.get(lower);
    const entity = entities.get(name);
    if (other) {
      throw broken(file, `entities "${other.name}" and "${name}" differ in letter case alone`);
    }
    if (entity) byName.set(lower, entity);
  }
  return byName;
}

/** The same for equal models, whatever the order of their files and members. */
function fingerprintOf(content: readonly unknown[]): string {
  const text = JSON.stringify(content, (key, value) =>
    value instanceof Map
      ? [...value].sort(([a], [b]) => (a < b ? -1 : 1))
      : sortedMembers(key, value),
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
