/**
 * What the Searchable annotations of a model say: the fields of each entity type's documents, and
 * how they are taken from the aspects. Plain data, so that threads and the catalog can be given it.
 */
import type { Model } from "../src/model/model.ts";

export type SearchFieldType =
  | ("KEYWORD" | "TEXT" | "TEXT_PARTIAL" | "WORD_GRAM" | "URN" | "URN_PARTIAL")
  | ("BROWSE_PATH" | "BROWSE_PATH_V2")
  | ("BOOLEAN" | "COUNT" | "DATETIME" | "DOUBLE")
  | ("OBJECT" | "MAP_ARRAY");

/** A field of an entity type's documents. */
export interface SearchField {
  readonly name: string;
  readonly type: SearchFieldType;
  /** Weight of its texts, a multiple of 1/64. */
  readonly boost: number;
  /** Whether its values are texts that plain words are looked for in. */
  readonly queried: boolean;
  /** Whether its texts are completed while somebody types. */
  readonly suggested: boolean;
  /** The name it is shown by, if it is a facet without being asked for. */
  readonly facet?: string | undefined;
  /** The first aspect that tells it; undefined for the fields that every document has. */
  readonly aspect?: string | undefined;
}

export interface SearchRules {
  /** By entity type: every field that its documents may have. Facets come in the order to show. */
  readonly fields: Readonly<Record<string, readonly SearchField[]>>;
  /** Every boost that a text may have, ascending. */
  readonly boosts: readonly number[];
}

const fixedFields: readonly SearchField[] = [
  { name: "urn", type: "URN", boost: 10, queried: true, suggested: false },
  { name: "_entityType", type: "KEYWORD", boost: 1, queried: false, suggested: false },
];

export function compileSearchRules(model: Model): SearchRules {
  const types = [...model.entities.keys()];
  return { fields: Object.fromEntries(types.map((type) => [type, fixedFields])), boosts: [10] };
}
