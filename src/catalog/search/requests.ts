/** Search requests and responses: part of the catalog's interface (catalog.ts). */

import type { Position } from "../../core/position.ts";
import type { Filter } from "../../core/query/filter.ts";
import type { SliceOptions } from "../../core/query/slice-options.ts";
import type { Cursor, FieldValue } from "../../views/search/search.ts";

export interface SortCriterion {
  readonly field: string;
  readonly order: "ASCENDING" | "DESCENDING";
}

export interface SearchFlags {
  /** Omits the matched fields of hits. */
  readonly skipHighlighting?: boolean | undefined;
  /** Omits facets other than those of the filter. */
  readonly skipAggregates?: boolean | undefined;
  readonly includeDefaultFacets?: boolean | undefined;
  /** Maximum number of values of a facet; 20 when absent. */
  readonly maxAggValues?: number | undefined;
  /** Includes soft-deleted entities. */
  readonly includeSoftDeleted?: boolean | undefined;
  /** Restricts matched fields to these. */
  readonly customHighlightingFields?: readonly string[] | undefined;
  /** Includes entities in lifecycle stages that hide them. */
  readonly includeHiddenLifecycleStages?: boolean | undefined;
  /** Includes entities in the lifecycle stage with the id DRAFT. */
  readonly includeDraft?: boolean | undefined;
  /** False: includes members of a version set that are not its latest. */
  readonly filterNonLatestVersions?: boolean | undefined;
  /** A search without hits suggests queries with near words. */
  readonly getSuggestions?: boolean | undefined;
  /** Hits include an explanation of the score. */
  readonly explain?: boolean | undefined;
  /** Fields whose values hits include. */
  readonly fetchExtraFields?: readonly string[] | undefined;
  /** For lineage (lineage-grouping.ts). When absent, and always in scrolls: columns by dataset. */
  readonly groupingSpec?: GroupingSpec | undefined;
  /** The requested part of all hits. */
  readonly sliceOptions?: SliceOptions | undefined;
}

export interface GroupingSpec {
  readonly groupingCriteria?: readonly GroupingCriterion[] | undefined;
}

/** Entity types, case-insensitive. Without a base type: all types. */
export interface GroupingCriterion {
  readonly baseEntityType?: string | undefined;
  readonly groupingEntityType: string;
}

/** A search. */
export interface SearchRequest {
  /** Entity types, case-insensitive; empty: usualEntities. */
  readonly entities?: readonly string[] | undefined;
  /** Default entity types; empty: all. */
  readonly usualEntities?: readonly string[] | undefined;
  /** Query text (core/query/search-query.ts); an empty text and `*` match everything. */
  readonly input?: string | undefined;
  readonly filter?: Filter | undefined;
  /** A filter that hits match as well. It selects no values of facets. */
  readonly within?: Filter | undefined;
  /** Sort order; ties are ordered by score, then by urn. */
  readonly sort?: readonly SortCriterion[] | undefined;
  readonly flags?: SearchFlags | undefined;
  /** Names of the facets in place of the default ones; a name that is no field has no facet. */
  readonly facets?: readonly string[] | undefined;
  /** Names of facets in addition to these or to the default ones. */
  readonly moreFacets?: readonly string[] | undefined;
}

export interface PageRequest {
  /** Number of hits to skip: at most 10,000. A scroll has no limit. */
  readonly start: number;
  /** Absent or beyond 10,000: 5,000. */
  readonly count?: number | undefined;
}

export interface ScrollRequest {
  /** From the previous response; absent: from the beginning. */
  readonly scrollId?: string | undefined;
  /** Where the page begins, instead of a scroll id. */
  readonly after?: Cursor | undefined;
  readonly count?: number | undefined;
  /** The total is not needed, and may be any number that is not below that of the hits. */
  readonly uncounted?: boolean | undefined;
}

export interface MatchedField {
  readonly name: string;
  /** The value, cut around the match if it is long. */
  readonly value: string;
}

/** Explanation of a score: the sum or the maximum of the weights of its matches. */
export interface Explanation {
  readonly score: number;
  readonly matches: readonly {
    readonly field: string;
    readonly value: string;
    /** word, prefix, phrase, whole, beginning or value. */
    readonly how: string;
    readonly score: number;
  }[];
}

export interface SearchHit {
  readonly urn: string;
  readonly score: number;
  readonly matchedFields: readonly MatchedField[];
  /** The requested fields that have values. */
  readonly extraFields?: readonly ExtraField[] | undefined;
  readonly explanation?: Explanation | undefined;
}

interface ExtraField {
  readonly name: string;
  readonly values: readonly FieldValue[];
}

export interface SearchFacet {
  readonly name: string;
  readonly displayName: string;
  readonly values: readonly {
    readonly value: string;
    readonly count: number;
    /** True if the value is only in the filter: no hit has it. */
    readonly filtered: boolean;
  }[];
}

/** A query similar to the one sent, with other words. */
export interface SearchSuggestion {
  readonly text: string;
  /** Greater for fewer edits: 1 for none. */
  readonly score: number;
  /** Number of hits. */
  readonly frequency: number;
}

export interface SearchPage {
  readonly from: number;
  /** The count that was applied. */
  readonly pageSize: number;
  readonly total: number;
  readonly hits: readonly SearchHit[];
  readonly facets: readonly SearchFacet[];
  /** Best first. Absent unless the flag `getSuggestions` is set, and in scrolls and lineage. */
  readonly suggestions?: readonly SearchSuggestion[] | undefined;
  /** The response includes every record up to here. */
  readonly position: Position;
}

export interface ScrollPage extends Omit<SearchPage, "from"> {
  /** Continues the scroll; absent at the end. */
  readonly scrollId?: string | undefined;
}

export interface LineageSearchRequest extends SearchRequest {
  /** The start of the lineage. */
  readonly urn: string;
  /** UPSTREAM or DOWNSTREAM. */
  readonly direction: string;
  /** 1,000 when absent. */
  readonly maxHops?: number | undefined;
  /** Only along edges of this time range (lineage.ts); 0 means absent. */
  readonly startTimeMillis?: number | undefined;
  readonly endTimeMillis?: number | undefined;
  /** Maximum number of entities that each entity leads to; absent or 0: no limit. */
  readonly neighboursMax?: number | undefined;
  /** Entities that do not count as hops. */
  readonly ignoreAsHops?: readonly IgnoredHops[] | undefined;
}

/** Entities of a type, and if platforms are named, only those whose urn names one of them. */
export interface IgnoredHops {
  readonly entityType: string;
  readonly platforms?: readonly string[] | undefined;
}

/** A hit, with the paths to it. */
export interface LineageHit extends SearchHit {
  readonly degree: number;
  readonly paths: readonly (readonly string[])[];
  readonly ignoredAsHop: boolean;
  readonly explored: boolean;
  readonly truncatedChildren: boolean;
}

export interface LineagePage extends SearchPage {
  readonly hits: readonly LineageHit[];
  /** A bound of the request or of the service limited the walk: there may be more hits. */
  readonly partial: boolean;
}

export interface LineageScrollPage extends ScrollPage {
  readonly hits: readonly LineageHit[];
  readonly partial: boolean;
}

export interface AutocompleteRequest {
  readonly entity: string;
  readonly query: string;
  /** The field whose values are completed; absent: the fields that the model names. */
  readonly field?: string | undefined;
  readonly filter?: Filter | undefined;
  /** Number of suggesting entities to skip. */
  readonly start?: number | undefined;
  readonly limit: number;
  readonly flags?: SearchFlags | undefined;
}

export interface AutocompleteResult {
  /** Distinct suggestions, best first. */
  readonly suggestions: readonly string[];
  /** Best first; includes the best entity of each suggestion. */
  readonly entities: readonly string[];
  readonly position: Position;
}

interface BrowseRequest {
  readonly entity: string;
  /** `/prod/hive`; "" is the root. */
  readonly path: string;
  readonly filter?: Filter | undefined;
  readonly start: number;
  readonly limit: number;
  readonly flags?: SearchFlags | undefined;
}

export interface BrowsePage {
  readonly path: string;
  readonly from: number;
  readonly pageSize: number;
  /** Folders come first, then the entities in the path's own folder. */
  readonly groups: readonly { readonly name: string; readonly count: number }[];
  readonly entities: readonly string[];
  readonly numGroups: number;
  readonly numEntities: number;
  /** Distinct entities below the path's own folder. */
  readonly totalNumEntities: number;
  readonly position: Position;
}

interface BrowseV2Request extends SearchRequest {
  /** Ids of folders, prefixed and joined by ␟; "" is the root. */
  readonly path: string;
  readonly start: number;
  readonly count: number;
}

export interface BrowseV2Page {
  readonly path: string;
  readonly start: number;
  readonly count: number;
  /** Number of folders. */
  readonly total: number;
  readonly groups: readonly {
    readonly name: string;
    readonly count: number;
    readonly hasSubGroups: boolean;
    /** The folder as an entity, if it is one. */
    readonly entity?: string | undefined;
  }[];
  /** Distinct entities below the path's own folder. */
  readonly totalNumEntities: number;
  readonly position: Position;
}

/** Searches of the catalog. */
export interface SearchCatalog {
  /** A page of hits, with totals and facets of all hits. */
  search(request: SearchRequest, page: PageRequest): Promise<SearchPage>;
  /** The same, page by page without a limit. */
  scroll(request: SearchRequest, scroll: ScrollRequest): Promise<ScrollPage>;
  /** Urns that match a filter, by urn unless sorted otherwise; only the facets of the filter. */
  filter(request: SearchRequest, page: PageRequest): Promise<SearchPage>;
  /** Nearest first if there is neither a query nor a sort order. */
  searchLineage(request: LineageSearchRequest, page: PageRequest): Promise<LineagePage>;
  /** The same, page by page. */
  scrollLineage(request: LineageSearchRequest, scroll: ScrollRequest): Promise<LineageScrollPage>;
  /** Names and urns that complete the query, best first. */
  autocomplete(request: AutocompleteRequest): Promise<AutocompleteResult>;
  /** Folders and entities at a path of browsePaths. */
  browse(request: BrowseRequest): Promise<BrowsePage>;
  /** Folders at a path of browsePathsV2, among the results of a search. */
  browseV2(request: BrowseV2Request): Promise<BrowseV2Page>;
  /** The paths of the entity's browsePaths aspect; empty without one. */
  getBrowsePaths(urn: string): Promise<readonly string[]>;
}
