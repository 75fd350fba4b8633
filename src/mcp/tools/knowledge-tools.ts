/** Tools that write structured properties of entities, and documents. */
import { z } from "zod";
import { urn } from "../arguments.ts";
import type { Tool } from "../tool.ts";
import { column, urns, writeTool } from "./write-tools.ts";

const value = z.union([z.string().max(100_000), z.number()]);

const valueInput = (one: string | number) =>
  typeof one === "number" ? { numberValue: one } : { stringValue: one };

/** The entity itself, or a column of it. */
const assetOf = (dataset: string, path: string | undefined): string =>
  path === undefined ? dataset : `urn:${dataset.split(":")[1]}:schemaField:(${dataset},${path})`;

const setProperties = writeTool({
  name: "set_structured_properties",
  title: "Set structured properties",
  description:
    "Replaces the values of structured properties of an entity, or of a column of a dataset. Properties must exist, and values must be allowed by their definitions.",
  input: {
    urn,
    column,
    properties: z
      .array(z.object({ property: urn, values: z.array(value).min(1).max(100) }))
      .min(1)
      .max(100)
      .describe("Urns of properties, such as urn:li:structuredProperty:io.retention, with values"),
  },
  mutation: ["upsertStructuredProperties", "UpsertStructuredPropertiesInput"],
  selection: "{ __typename }",
  toInput: ({ urn, column, properties }) => ({
    assetUrn: assetOf(urn, column),
    structuredPropertyInputParams: properties.map(({ property, values }) => ({
      ...{ structuredPropertyUrn: property, values: values.map(valueInput) },
    })),
  }),
});

const removeProperties = writeTool({
  name: "remove_structured_properties",
  title: "Remove structured properties",
  description: "Removes structured properties from an entity, or from a column of a dataset.",
  input: { urn, column, properties: urns("Urns of structured properties") },
  mutation: ["removeStructuredProperties", "RemoveStructuredPropertiesInput"],
  selection: "{ __typename }",
  toInput: ({ urn, column, properties }) => ({
    assetUrn: assetOf(urn, column),
    structuredPropertyUrns: properties,
  }),
});

const text = z.string().max(1_000_000).describe("Markdown");
const title = z.string().min(1).max(1_000);
const related = (what: string) => z.array(urn).max(100).optional().describe(what);
const relations = {
  related_assets: related("Urns of entities that the document describes"),
  related_documents: related("Urns of other documents"),
};

const createDocument = writeTool({
  name: "create_document",
  title: "Create a document",
  description:
    "Creates a document, such as a decision, a guide or notes on data. Its urn is urn:li:document:<id>. Fails when the document exists: then use update_document.",
  input: {
    id: z.string().min(1).max(200).describe('Id of the new document, such as "orders-guide"'),
    title,
    text,
    sub_type: z.string().max(200).optional().describe('Kind of the document, such as "FAQ"'),
    parent: urn.optional().describe("Urn of the document that contains it"),
    published: z.boolean().default(true).describe("False for a draft"),
    ...relations,
  },
  mutation: ["createDocument", "CreateDocumentInput"],
  toInput: ({ id, title, text, sub_type, parent, published, ...values }) => ({
    ...{ id, title, contents: { text }, subType: sub_type, parentDocument: parent },
    state: published ? "PUBLISHED" : "UNPUBLISHED",
    relatedAssets: values.related_assets,
    relatedDocuments: values.related_documents,
  }),
});

const updateDocument = writeTool({
  name: "update_document",
  title: "Update a document",
  description: "Replaces the title, the text or both of a document; the rest stays.",
  input: { urn, title: title.optional(), text: text.optional() },
  mutation: ["updateDocumentContents", "UpdateDocumentContentsInput"],
  toInput: ({ urn, title, text }) => ({
    urn,
    title,
    ...(text !== undefined && { contents: { text } }),
  }),
});

const relateDocument = writeTool({
  name: "set_document_relations",
  title: "Set the relations of a document",
  description:
    "Replaces the related entities or documents of a document; an empty list removes all, an omitted list stays.",
  input: { urn, ...relations },
  mutation: ["updateDocumentRelatedEntities", "UpdateDocumentRelatedEntitiesInput"],
  toInput: ({ urn, related_assets, related_documents }) => ({
    urn,
    relatedAssets: related_assets,
    relatedDocuments: related_documents,
  }),
});

export const knowledgeTools: readonly Tool[] = [
  setProperties,
  removeProperties,
  createDocument,
  updateDocument,
  relateDocument,
];
