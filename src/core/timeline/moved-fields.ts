/**
 * Compares the fields of two versions of a schema. Finds the fields that the new version has under another
 * path: renamed fields, and fields whose path contains their type. Otherwise a timeline would show each as
 * one removed and one added.
 */
import { type JsonObject, objectsIn } from "../../lib/json.ts";
import { sameJson } from "../../lib/same-json.ts";

interface MovedField {
  readonly from: JsonObject;
  readonly to: JsonObject;
  /** False: only the part of the path that encodes types differs. */
  readonly renamed: boolean;
}

/** Both are values of `schemaMetadata`. */
export function movedFields(before: JsonObject, after: JsonObject): readonly MovedField[] {
  const removed = fieldsWithout(before, after);
  const added = fieldsWithout(after, before);
  const retyped = pairs(removed, added, simplePathOf);
  const paired = new Set(retyped.flat());
  const unpaired = (fields: readonly JsonObject[]) => fields.filter((one) => !paired.has(one));
  const renamed = pairs(unpaired(removed), unpaired(added), identityOf);
  return [
    ...retyped.map(([from, to]) => ({ from, to, renamed: false })),
    ...renamed.map(([from, to]) => ({ from, to, renamed: true })),
  ];
}

/** Both schemas without the fields that are the same in both: most fields of a wide table. */
export function withoutSharedFields(
  before: JsonObject,
  after: JsonObject,
): readonly [before: JsonObject, after: JsonObject] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  // Most fields keep their index, where no path is looked up.
  const keeps = now.map((field, n) => sameJson(old[n], field));
  const moved = new Map(old.filter((_, n) => !keeps[n]).map((field) => [pathOf(field), field]));
  const fields = now.filter((field, n) => {
    if (keeps[n]) return false;
    const path = pathOf(field);
    return !(sameJson(moved.get(path), field) && moved.delete(path));
  });
  return [
    { ...before, fields: [...moved.values()] },
    { ...after, fields },
  ];
}

/** The same schema with the fields under their new paths. */
export function withMovedFields(schema: JsonObject, moved: readonly MovedField[]): JsonObject {
  const pathBefore = new Map(moved.map(({ from, to }) => [pathOf(from), to.fieldPath]));
  const fields = fieldsOf(schema).map((field) => ({
    ...field,
    fieldPath: pathBefore.get(pathOf(field)) ?? field.fieldPath,
  }));
  return { ...schema, fields };
}

/** Fields whose path the other schema does not have, in the order of their paths. */
function fieldsWithout(schema: JsonObject, other: JsonObject): readonly JsonObject[] {
  const paths = new Set(fieldsOf(other).map(pathOf));
  return fieldsOf(schema)
    .filter((field) => !paths.has(pathOf(field)))
    .toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
}

/** The n-th removed field with a key and the n-th added field with the same key. */
function pairs(
  removed: readonly JsonObject[],
  added: readonly JsonObject[],
  keyOf: (field: JsonObject) => string,
): readonly (readonly [from: JsonObject, to: JsonObject])[] {
  const byKey = Map.groupBy(added, keyOf);
  const used = new Map<string, number>();
  return removed.flatMap((from) => {
    const key = keyOf(from);
    const n = used.get(key) ?? 0;
    const to = byKey.get(key)?.[n];
    if (to === undefined) return [];
    used.set(key, n + 1);
    return [[from, to] as const];
  });
}

/** The properties that a renaming keeps, as in DataHub: type, parent and description. */
function identityOf(field: JsonObject): string {
  const path = pathOf(field);
  const end = path.lastIndexOf(".");
  return JSON.stringify([
    field.nativeDataType,
    end < 0 ? null : path.slice(0, end),
    field.description ?? null,
  ]);
}

/** `[version=2.0].[type=struct].[type=int].a` is the path `a` with types. */
const simplePathOf = (field: JsonObject): string => pathOf(field).replace(/\[[^\]]*\]\.?/g, "");

const pathOf = ({ fieldPath }: JsonObject): string => String(fieldPath);

const fieldsOf = ({ fields }: JsonObject): readonly JsonObject[] => objectsIn(fields);
