/**
 * Ports of the search view: one document per entity, and queries on the documents. Documents come
 * from projections/search/search.ts. Contract: test/contract/search.contract.ts.
 *
 * A document is built from the whole state of its entity, never from an earlier document. The
 * projection splits texts into words; stores index these words unchanged. This file defines
 * expressions and conditions, and evaluate.ts computes them for one document. Every store must
 * return the same entities, with the same scores, in the same order.
 */
import type { Position } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";
import type { NearWord } from "./near-words.ts";

export type FieldValue = string | number | boolean;

/** A text of a document that queries search for words. */
export interface DocumentText {
  /** The field in `values` that has this text. */
  readonly field: string;
  /** Unchanged from the aspect; matches show it. */
  readonly value: string;
  /** The value in lower case and without accents; `whole` expressions compare it. */
  readonly folded: string;
  /** Lower-case words in order; letters, digits and non-ASCII characters only. */
  readonly words: readonly string[];
  /** Weight of the field in this document: a multiple of 1/64. */
  readonly boost: number;
  /** True if autocomplete suggests the text. */
  readonly suggested: boolean;
}

export interface SearchDocument {
  readonly urn: string;
  readonly entityType: string;
  /**
   * Values by index field, for filters, facets and sorting. A field without values is absent.
   * `urn`, `_entityType` and `removed` are fields, too.
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
       * May be a getter that builds the document at each access, so that a store need not hold all
       * documents of a batch. If it throws, the store must not apply any write of the batch.
       */
      readonly document: SearchDocument;
    }
  /** The entity has no document any more. */
  | { readonly op: "remove"; readonly position: Position; readonly urn: string };

export interface SearchSink extends Sink<SearchWrite> {
  /** Applies writes ahead of their batch; the checkpoint does not move. */
  amend(writes: readonly SearchWrite[]): Promise<void>;
  /**
   * A page of the entities of a type whose documents have a value of one of the fields. `from`: the
   * `next` of the previous page; undefined for the first page. The last page has no `next`.
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
 *   word      a text has one of the words, or with `prefix` a word that starts with it; score: the
 *             greatest weight × boost of the matches. `within` "suggested": only suggested texts
 *   phrase    a text has the words in sequence; no words match nothing; score: the weight (1 when
 *             absent) × the greatest boost
 *   whole     a text's folded value equals `text`, or with `prefix` starts with it; score: the
 *             greatest boost. `within` as for a word
 *   condition the condition holds; score 1
 *   and       all hold; score: the sum. An empty `and` holds, with score 0
 *   or        at least one holds; score: the greatest
 *   not       the expression does not hold; score 0
 *   prefer    `base` holds; score: that of `base`, plus the greatest weight × score of the members
 *             of `preferred` that hold (0 if none holds)
 *
 * Boosts and weights are multiples of 1/64 and not negative, so that sums are exact. Comparisons of
 * texts read a lone surrogate as U+FFFD.
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
 *   equal       a value is one of `values`, with the same type; texts are case-sensitive
 *   like        a value as lower-case text (numbers as in JSON, true, false) equals, contains,
 *               starts with or ends with one of `texts`, which are in lower case
 *   range       a value is within all given bounds: compares numbers with numbers, and texts with
 *               texts by UTF-16 code unit; a boolean never is
 *   exists      the field has a value
 *   every, any, not   combinations of conditions; an empty `every` holds, an empty `any` does not
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

/** The documents that a query matches. */
export interface Scope {
  /** At least one. */
  readonly entityTypes: readonly string[];
  readonly expression: Expression;
  readonly condition?: Condition | undefined;
}

/**
 * A sort criterion. Numbers and booleans are ordered by size, texts in lower case by UTF-16 code
 * unit; ascending, numbers come before texts. A document with several values sorts by the least of
 * them if ascending, by the greatest if descending. Documents without a value always come last.
 */
export interface SortBy {
  readonly field: string;
  readonly order: "ASCENDING" | "DESCENDING";
}

export type FacetQuery = FrequentValues | NamedValues;

/** Counts of the values of a field, or of the combinations of values of two. */
export interface FrequentValues {
  readonly fields: readonly [string] | readonly [string, string];
  /** Maximum number of values: the most frequent ones; equal counts are ordered by text. */
  readonly limit: number;
}

/** Counts the combinations in `named`, in their order; omits those that no document has. */
export interface NamedValues {
  /** Values as texts, one for each element of `among`; combinations are distinct. */
  readonly named: readonly (readonly string[])[];
  /**
   * Fields by index: any field of the n-th element may have the n-th value. At least one element.
   */
  readonly among: readonly (readonly string[])[];
}

export interface SearchQuery extends Scope {
  /** Ties are ordered by descending score, then by urn (UTF-16 code units). May be empty. */
  readonly sort: readonly SortBy[];
  readonly start: number;
  readonly count: number;
  /** Only hits after this cursor; `start` counts from it. */
  readonly after?: Cursor | undefined;
  readonly facets: readonly FacetQuery[];
  /** The total is not needed: it may be any number that is at least the number of hits. */
  readonly uncounted?: boolean | undefined;
  /** Only the urns of hits are needed: other fields of their documents may be empty. */
  readonly urnsOnly?: boolean | undefined;
  /** Words whose near words (near-words.ts) are returned if no document matches. */
  readonly nearWordsOf?: readonly string[] | undefined;
}

/**
 * The position of a hit in the order of a result; valid for the same sort only. JSON: the sort keys
 * (sort-key.ts), null for a document without a value; then the score and the urn.
 */
export type Cursor = readonly (FieldValue | null)[];

/**
 * Cursor of a urn in an unsorted query for all documents: all scores are 1, so urns give the order.
 */
export const cursorOfUrn = (urn: string): Cursor => [1, urn];

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
  /** Number of documents of the scope, independent of `after`. */
  readonly total: number;
  /** In the order of the query's facets; over the whole scope. */
  readonly facets: readonly (readonly FacetValue[])[];
  /**
   * For each of `nearWordsOf`, nearest first. Absent without `nearWordsOf`, and if there are
   * matches.
   */
  readonly nearWords?: readonly (readonly NearWord[])[] | undefined;
  /** The result covers every record up to this position. */
  readonly position: Position;
}

/**
 * One level of a tree of paths. Paths join folder names with a separator; names are never empty.
 */
export interface FolderQuery extends Scope {
  /** The field whose values are paths: `<separator>a<separator>b`. */
  readonly field: string;
  readonly separator: string;
  /** Path of the parent folder; "" for the root. */
  readonly path: string;
}

export interface Folder {
  readonly name: string;
  /** Documents in it and in its subfolders. */
  readonly count: number;
  /** True if it has subfolders. */
  readonly hasFolders: boolean;
}

export interface FolderResult {
  /** Most documents first; equal counts are ordered by name (UTF-16 code units). */
  readonly folders: readonly Folder[];
  /** Number of distinct documents in all folders of the level. */
  readonly total: number;
  readonly position: Position;
}

export interface SearchReader {
  /** A page of the matching documents in the query's order. Total and facets cover all matches. */
  search(query: SearchQuery): Promise<SearchResult>;
  /** The subfolders of a folder; empty if the folder does not exist. */
  folders(query: FolderQuery): Promise<FolderResult>;
  /** In the order of the urns; undefined for one without a document. */
  documents(urns: readonly string[]): Promise<readonly (SearchDocument | undefined)[]>;
  /** Idempotent; later calls of other methods reject with `unavailable`. */
  close(): Promise<void>;
}

/** Maximum number of hits of a result, even if `count` is greater; `after` reads the next ones. */
export const hitsMax = 10_000;
