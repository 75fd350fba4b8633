/** Reads the events of a search in pages, in a total order. */
import type { Search } from "../../../storage/elasticsearch/multi-search.ts";
import { type PagedHit, type PagedQuery, pagesOf } from "../../../storage/elasticsearch/pages.ts";
import type { StoredEvent } from "./documents.ts";

export type EventHit = PagedHit<StoredEvent>;

interface EventQuery extends Pick<PagedQuery<StoredEvent>, "index" | "query" | "order"> {
  readonly sort: readonly ("urn" | "aspect" | "time" | "key")[];
  /** Events of the first page, at most. */
  readonly first?: number | undefined;
}

/** Of the first page, whose events may be large. */
const FIRST_MAX = 100;
const PAGE_CHARACTERS = 2_000_000;

export const eventPagesOf = (search: Search, query: EventQuery) =>
  pagesOf<StoredEvent>(search, {
    ...query,
    first: Math.min(query.first ?? FIRST_MAX, FIRST_MAX),
    charactersMax: PAGE_CHARACTERS,
    // A document that another program wrote may lack the value.
    charactersOf: ({ value }) => value?.length ?? 0,
  });
