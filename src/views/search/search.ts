/**
 * Ports of the search view: one document per entity, and the questions that are asked of them.
 * Documents come from projections/search/search.ts. Contract: test/contract/search.contract.ts.
 *
 * A document is the whole fold of an entity: it never depends on the one before it. What words a
 * text has is decided by the projection; a store indexes those words as they are, so that every
 * store finds the same entities for a question, with the same scores, in the same order. What an
 * expression or a condition means for a document is said here and computed in evaluate.ts; a store
 * has to come to the same.
 */
import type { Position } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";
import type { NearWord } from "./near-words.ts";

export type FieldValue = string | number | boolean;

/** A text of a document that words are looked for in. */
export interface DocumentText {
  /** The index field that it is the value of. */
  readonly field: string;
  /** As the aspect has it; matches show it. */
  readonly value: string;
  /** The value without letter case and accents: what `whole` leaves compare with. */
  readonly folded: string;
  /** Lower-case words in order; letters, digits and non-ASCII characters only. */
  readonly words: readonly string[];
  /** Weight of the field in this document: a multiple of 1/64. */
  readonly boost: number;
  /** True if autocomplete suggests it. */
  readonly suggested: boolean;
}

export interface SearchDocument {
  readonly urn: string;
  readonly entityType: string;
  /**
   * By index field: what filters, facets and sorting see; nothing for an absent value. `urn`,
   * `_entityType` and `removed` are among them.
   */
  readonly values: Readonly<Record<string, readonly FieldValue[]>>;
  readonly texts: readonly DocumentText[];
}

export type SearchWrite =
  /** The entity's document; it covers all records up to `position`. */
  | {
      readonly op: "put";
      readonly position: Position;
      readonly urn: string;
      /**
       * May be built at each access, so that a store that takes documents one by one never holds all
       * of a batch. May throw; then the store must not apply any write of the batch.
       */
      readonly document: SearchDocument;
    }
  /** The entity has no document any more. */
  | { readonly op: "remove"; readonly position: Position; readonly urn: string };

export interface SearchSink extends Sink<SearchWrite> {
  /** Applies writes that are due with a batch before that is applied; the checkpoint stays. */
  amend(writes: readonly SearchWrite[]): Promise<void>;
  /**
   * Entities of a type whose documents have a value of one of the fields, a page of them: from the
   * beginning, or from where `next` of the page before was. The last page has no `next`.
   */
  holding(
    entityType: string,
    fields: readonly string[],
    from?: string,
  ): Promise<{ readonly urns: readonly string[]; readonly next?: string | undefined }>;
}

/**
 * A condition on the texts of a document, with a score.
 *
 *   all       every document; score 1
 *   word      a text has one of the words, or with `prefix` a word that begins so; score: the
 *             greatest weight × boost of those that hold. `within` "suggested": only suggested texts
 *   phrase    a text has the words, of which there is one at least, one after the other; score:
 *             the weight (1 when absent) × the greatest boost
 *   whole     a text's folded value is the text, or with `prefix` begins with it; score: the
 *             greatest boost. `within` as for a word
 *   condition the condition holds; score 1
 *   and       all hold; score: the sum. An empty one holds, with score 0
 *   or        at least one holds; score: the greatest
 *   not       the expression does not hold; score 0
 *   prefer    `base` holds; score: its own, plus the greatest weight × score of those of
 *             `preferred` that hold (0 for none)
 *
 * Boosts and weights are multiples of 1/64 and not below 0, so that sums are exact. Wherever texts
 * are compared, half a character (a lone surrogate) counts as U+FFFD.
 */
export type Expression =
  | { readonly kind: "all" }
  | {
      readonly kind: "word";
      readonly any: readonly WordChoice[];
      readonly within?: "suggested" | undefined;
    }
  | {
      readonly kind: "phrase";
      readonly words: readonly string[];
      readonly weight?: number | undefined;
    }
  | {
      readonly kind: "whole";
      readonly text: string;
      readonly prefix: boolean;
      readonly within?: "suggested" | undefined;
    }
  | { readonly kind: "condition"; readonly condition: Condition }
  | { readonly kind: "and"; readonly all: readonly Expression[] }
  | { readonly kind: "or"; readonly any: readonly Expression[] }
  | { readonly kind: "not"; readonly not: Expression }
  | {
      readonly kind: "prefer";
      readonly base: Expression;
      readonly preferred: readonly { readonly weight: number; readonly when: Expression }[];
    };

export interface WordChoice {
  readonly word: string;
  readonly prefix: boolean;
  readonly weight: number;
}

/**
 * A condition on the values of a document. A field without values fulfils only `not`.
 *
 *   equal       a value is one of `values`: of the same type, texts letter for letter
 *   like        a value as text (numbers as JSON has them, true, false) and lower-cased equals,
 *               contains, begins or ends with one of `texts`, which are lower-case
 *   range       a value lies between the ends that are given: numbers with numbers, texts with
 *               texts by UTF-16 code unit; a boolean lies nowhere
 *   exists      there is a value
 *   every, any, not   as they say; an empty `every` holds, an empty `any` does not
 */
export type Condition =
  | { readonly kind: "equal"; readonly field: string; readonly values: readonly FieldValue[] }
  | {
      readonly kind: "like";
      readonly field: string;
      readonly how: "equals" | "contains" | "starts" | "ends";
      readonly texts: readonly string[];
    }
  | {
      readonly kind: "range";
      readonly field: string;
      readonly above?: number | string | undefined;
      readonly from?: number | string | undefined;
      readonly to?: number | string | undefined;
      readonly below?: number | string | undefined;
    }
  | { readonly kind: "exists"; readonly field: string }
  | { readonly kind: "every"; readonly every: readonly Condition[] }
  | { readonly kind: "any"; readonly any: readonly Condition[] }
  | { readonly kind: "not"; readonly not: Condition };

/** The search and its entity types. */
export interface Scope {
  /** At least one. */
  readonly entityTypes: readonly string[];
  readonly expression: Expression;
  readonly condition?: Condition | undefined;
}

/**
 * A criterion of order. Numbers and booleans by size, texts lower-cased by UTF-16 code unit; numbers
 * before texts. Of several values the least counts ascending, the greatest descending. Documents
 * without a value come last, whatever the order.
 */
export interface SortBy {
  readonly field: string;
  readonly order: "ASCENDING" | "DESCENDING";
}

export type FacetQuery = FrequentValues | NamedValues;

/** Counts of the values of a field, or of the combinations of values of two. */
export interface FrequentValues {
  readonly fields: readonly [string] | readonly [string, string];
  /** Most values; the most frequent ones, equals in order of their text. */
  readonly limit: number;
}

/** Counts of these combinations, in their order, without those that no document has. */
export interface NamedValues {
  /** Values as texts, one for each of `among`; no combination twice. */
  readonly named: readonly (readonly string[])[];
  /** At least one. A value of a combination may be in any of the fields that stand in its place. */
  readonly among: readonly (readonly string[])[];
}

export interface SearchQuery extends Scope {
  /** Then by score, greatest first, then by urn (UTF-16 code units). Empty: by score and urn. */
  readonly sort: readonly SortBy[];
  readonly start: number;
  readonly count: number;
  /** Only what comes after this place in the order; `start` counts from there. */
  readonly after?: Cursor | undefined;
  readonly facets: readonly FacetQuery[];
  /** The total is not asked for: it may be any number that is not below that of the hits. */
  readonly uncounted?: boolean | undefined;
  /** Only the urns of the documents of hits are asked for: the rest may be empty. */
  readonly urnsOnly?: boolean | undefined;
  /** Words whose near words (near-words.ts) are returned if no document matches. */
  readonly nearWordsOf?: readonly string[] | undefined;
}

/**
 * A place in the order of an answer; valid for the same sort only. JSON: what sorts, as sort-key.ts
 * has it, null without a value; then the score and the urn.
 */
export type Cursor = readonly (FieldValue | null)[];

/** The place of a urn in an answer to a query for all, unsorted: equal scores are ordered by urn. */
export const placeOfUrn = (urn: string): Cursor => [1, urn];

export interface Hit {
  readonly document: SearchDocument;
  readonly score: number;
  readonly cursor: Cursor;
}

export interface FacetValue {
  /** Values as texts, in the order of the facet's fields. */
  readonly values: readonly string[];
  readonly count: number;
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** All documents of the scope, also with `after`. */
  readonly total: number;
  /** In the order asked for; over the whole scope. */
  readonly facets: readonly (readonly FacetValue[])[];
  /** For each of `nearWordsOf`, nearest first. Absent without `nearWordsOf`, and if there are matches. */
  readonly nearWords?: readonly (readonly NearWord[])[] | undefined;
  /** The result covers every record up to this position. */
  readonly position: Position;
}

/** One level of a tree of paths, whose folders are joined by a separator. No folder has no name. */
export interface FolderQuery extends Scope {
  /** The field whose values are paths: `<separator>a<separator>b`. */
  readonly field: string;
  readonly separator: string;
  /** Folder whose folders are asked for; "" for the root. */
  readonly path: string;
}

export interface Folder {
  readonly name: string;
  /** Documents in it and below. */
  readonly count: number;
  /** True if it has subfolders. */
  readonly hasFolders: boolean;
}

export interface FolderResult {
  /** Most documents first, equals by name (UTF-16 code units). */
  readonly folders: readonly Folder[];
  /** Distinct documents in all of them. */
  readonly total: number;
  readonly position: Position;
}

export interface SearchReader {
  /** A page of what fulfils the query, in its order; totals and facets are of all that does. */
  search(query: SearchQuery): Promise<SearchResult>;
  /** The folders in one folder; none where there is no such one. */
  folders(query: FolderQuery): Promise<FolderResult>;
  /** In the order of the urns; undefined for one without a document. */
  documents(urns: readonly string[]): Promise<readonly (SearchDocument | undefined)[]>;
  /** May be said twice; later calls are `unavailable`. */
  close(): Promise<void>;
}

/** Most hits of one answer, also to a greater `count`; beyond them, `after` goes on. */
export const hitsMax = 10_000;
