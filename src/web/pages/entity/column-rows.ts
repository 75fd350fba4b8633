/** The columns of a dataset: fields of the schema joined with the texts that people edited. */
import type { Aspects } from "../../api/aspect.ts";
import { at, isObject, listAt, textAt, textsAt } from "../../api/json.ts";

export interface Column {
  readonly path: string;
  /** The path without the marks of types and versions. */
  readonly name: string;
  /** Number of columns that it is nested in. */
  readonly depth: number;
  readonly type: string;
  readonly nativeType: string;
  readonly isKey: boolean;
  readonly nullable: boolean;
  readonly description: string;
  readonly tags: readonly string[];
  readonly terms: readonly string[];
}

const rows = new WeakMap<Aspects, readonly Column[]>();

export function columnsOf(aspects: Aspects): readonly Column[] {
  const known = rows.get(aspects);
  if (known !== undefined) return known;
  const schema = aspects.get("schemaMetadata")?.value;
  const keys = new Set(textsAt(listAt(schema, "primaryKeys")));
  const edited = new Map(
    listAt(aspects.get("editableSchemaMetadata")?.value, "editableSchemaFieldInfo").map((one) => [
      textAt(one, "fieldPath") ?? "",
      one,
    ]),
  );
  const columns = listAt(schema, "fields").map((field) => columnOf(field, edited, keys));
  rows.set(aspects, columns);
  return columns;
}

function columnOf(
  field: unknown,
  edited: ReadonlyMap<string, unknown>,
  keys: ReadonlySet<string>,
): Column {
  const path = textAt(field, "fieldPath") ?? "";
  const edit = edited.get(path);
  const name = readablePath(path);
  const both = (list: string, member: string, aspect: string) => [
    ...new Set([
      ...textsAt(listAt(field, aspect, list), member),
      ...textsAt(listAt(edit, aspect, list), member),
    ]),
  ];
  return {
    path,
    name,
    depth: name.split(".").length - 1,
    type: typeNameOf(at(field, "type", "type")),
    nativeType: textAt(field, "nativeDataType") ?? "",
    isKey: at(field, "isPartOfKey") === true || keys.has(path),
    nullable: at(field, "nullable") === true,
    description: textAt(edit, "description") ?? textAt(field, "description") ?? "",
    tags: both("tags", "tag", "globalTags"),
    terms: both("terms", "urn", "glossaryTerms"),
  };
}

/** `[version=2.0].[type=struct].address.[type=string].city` → `address.city` */
export const readablePath = (path: string): string =>
  path
    .split(".")
    .filter((part) => !/^\[.*\]$/.test(part) && !part.startsWith("[version=") && part !== "0]")
    .join(".") || path;

/** `{"com.linkedin.schema.NumberType": {}}` → `number` */
function typeNameOf(type: unknown): string {
  const [name = ""] = isObject(type) ? Object.keys(type) : [];
  return name.replace(/^.*\./, "").replace(/Type$/, "").toLowerCase();
}

/** Columns whose name, description, type or label contains all words. */
export function filterColumns(columns: readonly Column[], text: string): readonly Column[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return columns;
  return columns.filter((column) => {
    const all = [
      column.name,
      column.description,
      column.nativeType,
      column.type,
      ...column.tags,
      ...column.terms,
    ]
      .join("\n")
      .toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
