/** What is asked of searches, and what they answer: part of what a door may ask (catalog.ts). */
import type { Filter } from "../core/filter.ts";
import type { Position } from "../core/position.ts";
import type { SliceOptions } from "../core/slice-options.ts";

export interface SortCriterion {
  readonly field: string;
  readonly order: "ASCENDING" | "DESCENDING";
}

export interface SearchFlags {
  /** Does not tell what a hit was found by. */
  readonly skipHighlighting?: boolean | undefined;
  /** Tells no facets; only those of the filter. */
  readonly skipAggregates?: boolean | undefined;
  readonly includeDefaultFacets?: boolean | undefined;
  /** Most values of a facet; 20 when absent. */
  readonly maxAggValues?: number | undefined;
  /** Entities whose status says removed are found, too. */
  readonly includeSoftDeleted?: boolean | undefined;
  /** Only these fields are told among what a hit was found by. */
  readonly customHighlightingFields?: readonly string[] | undefined;
  /** Entities in lifecycle stages that hide them are found, too. */
  readonly includeHiddenLifecycleStages?: boolean | undefined;
  /** False: members of a version set that are not its latest are found, too. */
  readonly filterNonLatestVersions?: boolean | undefined;
  /** A search without hits suggests queries with near words. */
  readonly getSuggestions?: boolean | undefined;
  /** Each hit tells how its score came to be. */
  readonly explain?: boolean | undefined;
  /** For lineage (lineage-grouping.ts). When absent, and always in scrolls: columns by dataset. */
  readonly groupingSpec?: GroupingSpec | undefined;
  /** The part of all hits that is asked for. */
  readonly sliceOptions?: SliceOptions | undefined;
}

export interface GroupingSpec {
  readonly groupingCriteria?: readonly GroupingCriterion[] | undefined;
}

/** Entity types, whatever their letter case. Without a base type, of all types. */
export interface GroupingCriterion {
  readonly baseEntityType?: string | undefined;
  readonly groupingEntityType: string;
}

/** What is looked for. */
export interface SearchRequest {
  /** Entity types, whatever their letter case; none: the usual ones. */
  readonly entities?: readonly string[] | undefined;
  /** What is searched when entities names none; none here either: all. */
  readonly usualEntities?: readonly string[] | undefined;
  /** As people type it (core/search-query.ts); nothing and `*` find everything. */
  readonly input?: string | undefined;
  readonly filter?: Filter | undefined;
  /** Then by score, then by urn. */
  readonly sort?: readonly SortCriterion[] | undefined;
  readonly flags?: SearchFlags | undefined;
}

export interface PageRequest {
  /** How many to leave out: at most 10,000, a scroll goes on beyond. */
  readonly start: number;
  /** Absent or beyond 10,000: 5,000. */
  readonly count?: number | undefined;
}

export interface ScrollRequest {
  /** As the answer before gave it; absent: from the beginning. */
  readonly scrollId?: string | undefined;
  readonly count?: number | undefined;
}

export interface MatchedField {
  readonly name: string;
  /** The value, or of a long one what surrounds the match. */
  readonly value: string;
}

/** How a score came to be: a sum, or the greatest, of what each match is worth by itself. */
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
  readonly explanation?: Explanation | undefined;
}

export interface SearchFacet {
  readonly name: string;
  readonly displayName: string;
  readonly values: readonly {
    readonly value: string;
    readonly count: number;
    /** Only the filter names it: no hit has it. */
    readonly filtered: boolean;
  }[];
}

/** A query like the one that was sent, with other words. */
export interface SearchSuggestion {
  readonly text: string;
  /** The greater, the fewer edits: 1 for none. */
  readonly score: number;
  /** How many hits it has. */
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
  /** The answer tells every record up to here. */
  readonly position: Position;
}

export interface ScrollPage extends Omit<SearchPage, "from"> {
  /** What goes on from here; absent at the end. */
  readonly scrollId?: string | undefined;
}

export interface LineageSearchRequest extends SearchRequest {
  /** Whose lineage. */
  readonly urn: string;
  /** UPSTREAM or DOWNSTREAM. */
  readonly direction: string;
  /** 1,000 when absent. */
  readonly maxHops?: number | undefined;
  /** Only along edges of this time (lineage.ts); 0 is as good as absent. */
  readonly startTimeMillis?: number | undefined;
  readonly endTimeMillis?: number | undefined;
}

/** A hit, and how it was reached. */
export interface LineageHit extends SearchHit {
  readonly degree: number;
  readonly paths: readonly (readonly string[])[];
  readonly explored: boolean;
  readonly truncatedChildren: boolean;
}

export interface LineagePage extends SearchPage {
  readonly hits: readonly LineageHit[];
  /** A bound of the service ended the walk: there may be more. */
  readonly partial: boolean;
}

export interface LineageScrollPage extends ScrollPage {
  readonly hits: readonly LineageHit[];
  readonly partial: boolean;
}

export interface AutocompleteRequest {
  readonly entity: string;
  readonly query: string;
  /** The field whose values are completed; absent: those that the model names. */
  readonly field?: string | undefined;
  readonly filter?: Filter | undefined;
  /** Entities that suggest something to leave out. */
  readonly start?: number | undefined;
  readonly limit: number;
  readonly flags?: SearchFlags | undefined;
}

export interface AutocompleteAnswer {
  /** Distinct, best first. */
  readonly suggestions: readonly string[];
  /** Best first; the best one of each suggestion is among them. */
  readonly entities: readonly string[];
  readonly position: Position;
}

export interface BrowseRequest {
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
  /** Folders come first; then the entities that lie in the path's own. */
  readonly groups: readonly { readonly name: string; readonly count: number }[];
  readonly entities: readonly string[];
  readonly numGroups: number;
  readonly numEntities: number;
  /** Distinct entities below the path's own folder. */
  readonly totalNumEntities: number;
  readonly position: Position;
}

export interface BrowseV2Request extends SearchRequest {
  /** Ids of folders, joined by and beginning with ␟; "" is the root. */
  readonly path: string;
  readonly start: number;
  readonly count: number;
}

export interface BrowseV2Page {
  readonly path: string;
  readonly start: number;
  readonly count: number;
  /** How many folders there are. */
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

/** The part of the catalog that searches. */
export interface SearchCatalog {
  /** A page of what is found, with totals and facets of all of it. */
  search(request: SearchRequest, page: PageRequest): Promise<SearchPage>;
  /** The same page after page, however far. */
  scroll(request: SearchRequest, scroll: ScrollRequest): Promise<ScrollPage>;
  /** Urns that fulfil a filter, by urn unless sorted otherwise; no facets but the filter's own. */
  filter(request: SearchRequest, page: PageRequest): Promise<SearchPage>;
  /** Nearest first when nothing in particular is looked for and no sort is asked. */
  searchLineage(request: LineageSearchRequest, page: PageRequest): Promise<LineagePage>;
  /** The same page after page. */
  scrollLineage(request: LineageSearchRequest, scroll: ScrollRequest): Promise<LineageScrollPage>;
  /** Names and urns that what was typed may become, best first. */
  autocomplete(request: AutocompleteRequest): Promise<AutocompleteAnswer>;
  /** Folders and entities at a path of browsePaths. */
  browse(request: BrowseRequest): Promise<BrowsePage>;
  /** Folders at a path of browsePathsV2, among what a search finds. */
  browseV2(request: BrowseV2Request): Promise<BrowseV2Page>;
  /** The paths of the entity's own browsePaths aspect; none without one. */
  getBrowsePaths(urn: string): Promise<readonly string[]>;
}
