/**
 * The search view's indices: one per entity type, with one shard by default. Fields (fields.ts) are
 * mapped with the first document that has them. Stored of a document are its text from
 * stored-document.ts and its position.
 *
 * Documents become searchable only when the writer refreshes: results always cover the checkpoint, or
 * more. The projection splits words, so no analyzer but `whitespace` is needed.
 */
import type { estypes } from "@elastic/elasticsearch";
import { entityTypeOf } from "../../../core/urn.ts";
import { jsonObject } from "../../../lib/json.ts";
import { ownValue } from "../../../lib/own-value.ts";
import type { ViewSetting } from "../../../storage/elasticsearch/client.ts";
import { partitionOf } from "../../../storage/elasticsearch/names.ts";
import type { ViewShape } from "../../../storage/elasticsearch/view-metadata.ts";
import type { SearchDocument } from "../search.ts";
import { AS_TEXT, type TextFieldKind } from "./fields.ts";
import { digest } from "./stored-text.ts";

/** Metadata of the documents that readers need. */
export interface SearchKept {
  /** Kinds of texts that documents have, or had. */
  readonly kinds: readonly TextFieldKind[];
}

/** A document of an index, as it is kept. */
export interface StoredSource {
  /** In the index's order (stored-text.ts). */
  readonly urn: string;
  /** The position of its last write. */
  readonly at: number;
  /** JSON text. */
  readonly document: string;
}

/** Each structured property adds a few fields to those of the model. */
const FIELDS_MAX = 30_000;

/** By the first part of a field's name (fields.ts). */
const fieldMappings = {
  shown: { type: "keyword", index: false },
  text: { type: "keyword", doc_values: false },
  number: { type: "double", doc_values: false },
  truth: { type: "boolean", doc_values: false },
  order: { type: "keyword" },
  part: { type: "keyword", doc_values: false },
  [AS_TEXT]: { type: "keyword", doc_values: false },
  words: { type: "text", analyzer: "whitespace", norms: false },
  whole: { type: "keyword", doc_values: false },
} as const;

/**
 * The mappings of the long lists of an indexed document; undefined if it has none. For a new field, a
 * server maps each member of the list in the document: 20,000 members take half a minute.
 */
export function longListMappings(
  indexed: Readonly<Record<string, unknown>>,
): Record<string, estypes.MappingProperty> | undefined {
  const properties: Record<string, estypes.MappingProperty> = {};
  for (const [name, mapping] of Object.entries(fieldMappings)) {
    const lists = ownValue(indexed, name);
    if (!jsonObject(lists)) continue;
    const long = Object.entries(lists).filter(
      ([, list]) => Array.isArray(list) && list.length > LIST_MAX,
    );
    if (long.length === 0) continue;
    properties[name] = { properties: Object.fromEntries(long.map(([field]) => [field, mapping])) };
  }
  return Object.keys(properties).length === 0 ? undefined : properties;
}

/** Longer lists are mapped before a document has them. */
const LIST_MAX = 500;

/** True if an indexed document may have a long list. */
export const isWide = ({ values, texts }: SearchDocument): boolean =>
  texts.length > LIST_MAX || Object.values(values).some((list) => list.length > LIST_MAX);

export const searchShape: ViewShape<SearchKept> = {
  view: "search",
  version: 2,
  empty: { kinds: [] },
  index: {
    settings: {
      index: {
        // A projector that hangs and continues after another took over must not restore documents
        // that the other has removed: deletions are kept for longer than any request can take.
        gc_deletes: "1h",
        "mapping.total_fields.limit": FIELDS_MAX,
      },
    },
    mappings: {
      dynamic: "strict",
      _source: { includes: ["at", "urn", "document"] },
      properties: {
        at: { type: "long", index: false },
        document: { type: "object", enabled: false },
        urn: { type: "keyword" },
        several: { type: "keyword", doc_values: false },
        ...Object.fromEntries(
          Object.keys(fieldMappings).map((name) => [name, { type: "object", dynamic: true }]),
        ),
      },
      dynamic_templates: Object.entries(fieldMappings).map(([name, mapping]) => ({
        [name]: { path_match: `${name}.*`, mapping },
      })),
    },
  },
};

/** The setting that has the address. */
export const searchAsker: ViewSetting = { view: searchShape.view, setting: "ANNALS_SEARCH" };

/** The index of an entity type. */
export const partitionOfType = (entityType: string): string => partitionOf(entityType);

/** The index of an entity, by the type in its urn. */
export const partitionOfUrn = (urn: string): string => partitionOfType(entityTypeOf(urn));

/** Bytes that the id of a document may have. */
const ID_BYTES_MAX = 512;

export const idOf = (urn: string): string =>
  urn.length * 3 <= ID_BYTES_MAX || Buffer.byteLength(urn) <= ID_BYTES_MAX
    ? urn.toWellFormed()
    : digest(urn.toWellFormed());
