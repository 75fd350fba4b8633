/** The tool that lists columns of datasets, of which there may be thousands. */
import { z } from "zod";
import { CatalogError } from "../../core/errors.ts";
import type { JsonObject } from "../../lib/json.ts";
import { urn } from "../arguments.ts";
import { defineTool, type Tool } from "../tool.ts";

interface Field extends JsonObject {
  readonly fieldPath: string;
  readonly nativeDataType?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly isPartOfKey?: boolean;
  readonly globalTags?: Tags;
  readonly glossaryTerms?: Terms;
}
interface Tags {
  readonly tags: readonly { readonly tag: string }[];
}
interface Terms {
  readonly terms: readonly { readonly urn: string }[];
}

const columnsMax = 500;
const descriptionCharactersMax = 1_000;

const listColumns = defineTool({
  name: "list_columns",
  title: "List columns",
  description:
    "Lists the columns of a dataset: path, native type, description, key, nullability, tags and glossary terms. Edited texts replace those of ingestion.",
  input: {
    urn,
    filter: z
      .string()
      .max(500)
      .optional()
      .describe("Only columns whose path or description contains the text, in any case"),
    start: z.int().min(0).max(1_000_000).default(0).describe("Number of columns to skip"),
    count: z.int().min(1).max(columnsMax).default(100),
  },
  async run({ urn, filter, start, count }, { catalog }) {
    const at = catalog.positionOf("entities");
    const [entity] = await catalog.findEntities(
      [urn],
      ["schemaMetadata", "editableSchemaMetadata"],
    );
    const parsed = new Map(entity?.aspects.map(({ name, value }) => [name, JSON.parse(value)]));
    const schema = parsed.get("schemaMetadata");
    if (schema === undefined) {
      throw new CatalogError("not_found", `${urn} has no aspect schemaMetadata`, {
        hint: 'Use search with types ["dataset"] to find datasets',
      });
    }
    const edits = new Map<string, Field>(
      (parsed.get("editableSchemaMetadata")?.editableSchemaFieldInfo ?? []).map((edit: Field) => [
        edit.fieldPath,
        edit,
      ]),
    );
    const text = filter?.toLowerCase();
    const columns = (schema.fields as readonly Field[])
      .map((field) => columnOf(field, edits.get(field.fieldPath)))
      .filter(
        ({ path, description }) =>
          text === undefined || `${path}\n${description ?? ""}`.toLowerCase().includes(text),
      );
    return {
      position: at,
      urn,
      total: columns.length,
      start,
      columns: columns.slice(start, start + count),
    };
  },
});

function columnOf(field: Field, edit: Field | undefined) {
  const description = edit?.description ?? field.description;
  const tags = [field, edit].flatMap((one) => one?.globalTags?.tags ?? []);
  const terms = [field, edit].flatMap((one) => one?.glossaryTerms?.terms ?? []);
  return {
    path: field.fieldPath,
    type: field.nativeDataType,
    description: description?.slice(0, descriptionCharactersMax),
    nullable: field.nullable,
    key: field.isPartOfKey || undefined,
    tags: tags.length === 0 ? undefined : [...new Set(tags.map(({ tag }) => tag))],
    terms: terms.length === 0 ? undefined : [...new Set(terms.map(({ urn }) => urn))],
  };
}

export const columnTools: readonly Tool[] = [listColumns];
