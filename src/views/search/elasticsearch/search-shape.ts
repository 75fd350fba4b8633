/**
 * The indices of the search view: one per entity type, with one shard by default. Dynamic templates
 * map a field (fields.ts) when the first document has it. The source has the encoded document
 * (stored-document.ts) and its position.
 *
 * Automatic refreshes are off: the writer refreshes, so results cover at least the checkpoint. The
 * projection splits texts into words, so `whitespace` is the only analyzer.
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

/** Metadata that readers need. */
export interface SearchKept {
  /** Kinds of the texts of all documents, including deleted ones. */
  readonly kinds: readonly TextFieldKind[];
}

/** The source of an indexed document. */
export interface StoredSource {
  /** In the index's order (stored-text.ts). */
  readonly urn: string;
  /** The position of its last write. */
  readonly at: number;
  /** JSON text. */
  readonly document: string;
}

/** index.mapping.total_fields.limit: each structured property adds a few fields. */
const FIELDS_MAX = 30_000;

/** By the prefix of the field's name (fields.ts). */
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
 * Explicit mappings for the long lists of a document; undefined if it has none. Dynamic mapping of
 * a new field is slow for long lists: 20,000 members take half a minute.
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

/** Longer lists are mapped before their document is sent. */
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
        // Versions of deletions outlive any request. Otherwise a stalled projector, which another
        // one has replaced, could write back a deleted document.
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

export const searchAsker: ViewSetting = { view: searchShape.view, setting: "ANNALS_SEARCH" };

export const partitionOfType = (entityType: string): string => partitionOf(entityType);

export const partitionOfUrn = (urn: string): string => partitionOfType(entityTypeOf(urn));

/** Maximum size of a document id. */
const ID_BYTES_MAX = 512;

export const idOf = (urn: string): string =>
  urn.length * 3 <= ID_BYTES_MAX || Buffer.byteLength(urn) <= ID_BYTES_MAX
    ? urn.toWellFormed()
    : digest(urn.toWellFormed());
