/** The search page: results as the user types, facets, sorting, paging and export. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useId, useMemo } from "react";
import { type SearchRequest, type Sort, search } from "../../api/search.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { useCountedFacets, withCounted } from "./counted-facets.ts";
import { ExportMenu } from "./export-menu.tsx";
import { FacetPanel } from "./facet-panel.tsx";
import { type Filters, filtersOf, filterTexts } from "./filters.ts";
import { HitList } from "./hit-list.tsx";
import { NothingFound } from "./nothing-found.tsx";
import "./search.css";

const pageSize = 20;

const sorts = new Map<string, Sort>([
  ["name", { field: "name", order: "ASCENDING" }],
  ["name-down", { field: "name", order: "DESCENDING" }],
  ["urn", { field: "urn", order: "ASCENDING" }],
  ["changed", { field: "lastModifiedAt", order: "DESCENDING" }],
]);

export default function SearchPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const navigate = useNavigate();
  const text = listOf(url.q)[0] ?? "";
  // The router keeps equal members of the URL, so a keystroke does not render the facets again.
  const filters = useMemo(() => filtersOf(listOf(url.f)), [url.f]);
  const page = Math.max(1, Number(listOf(url.page)[0] ?? "1") || 1);
  const order = listOf(url.sort)[0] ?? "";
  const request: SearchRequest = {
    query: text === "" ? "*" : text,
    filters,
    start: (page - 1) * pageSize,
    count: pageSize,
    sort: sorts.get(order),
    facets: true,
  };
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    queryKey: ["search", text, filterTexts(filters), page, order],
    queryFn: async ({ signal }) => ({ ...(await search({ ...request, signal })), text }),
    placeholderData: keepPreviousData,
  });
  const counted = useCountedFacets({ query: request.query, filters });
  const facets = useMemo(() => withCounted(data?.facets ?? [], counted), [data?.facets, counted]);
  const show = useCallback(
    (change: UrlQuery) =>
      void navigate({
        to: "/ui/search",
        search: (before: UrlQuery) => ({ ...before, page: undefined, ...change }),
      }),
    [navigate],
  );
  const showFilters = useCallback((next: Filters) => show({ f: filterTexts(next) }), [show]);
  return (
    <div className="page search-page">
      <h1 className="hidden-text">Search</h1>
      <FacetPanel facets={facets} filters={filters} onChange={showFilters} />
      <section
        className="results"
        aria-label="Results"
        aria-busy={isFetching}
        data-query={data === undefined || isPlaceholderData ? undefined : text}
      >
        <ResultHead
          total={data?.total}
          order={order}
          onOrder={(sort) => show({ sort })}
          request={request}
        />
        {listOf(url.asOf)[0] !== undefined && (
          <p className="notice">
            Search shows the present, not the point in time of the page before.
            <button type="button" className="button" onClick={() => show({ asOf: undefined })}>
              Hide
            </button>
          </p>
        )}
        {error !== null && <Failure error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Loading lines={12} />}
        {data !== undefined && error === null && (
          <>
            <HitList hits={data.hits} query={data.text} />
            {data.hits.length === 0 && data.total > 0 && (
              <Empty title="No more results">
                <button type="button" className="button" onClick={() => show({})}>
                  Show the first page
                </button>
              </Empty>
            )}
            {data.total === 0 && (
              <NothingFound
                query={data.text}
                suggestions={data.suggestions}
                filtered={filters.size > 0}
                onQuery={(q) => show({ q })}
                onClear={() => show({ f: undefined })}
              />
            )}
            <Pages
              page={page}
              pages={Math.min(500, Math.ceil(data.total / pageSize))}
              onPage={(n) => show({ page: n === 1 ? undefined : String(n) })}
            />
          </>
        )}
      </section>
    </div>
  );
}

interface HeadProps {
  readonly total: number | undefined;
  readonly order: string;
  readonly onOrder: (order: string) => void;
  readonly request: SearchRequest;
}

function ResultHead({ total, order, onOrder, request }: HeadProps) {
  const id = useId();
  return (
    <div className="result-head">
      <p aria-live="polite" className="num">
        {total === undefined
          ? "Searching"
          : `${total.toLocaleString("en")} ${total === 1 ? "result" : "results"}`}
      </p>
      <span className="spread" />
      <label htmlFor={id} className="muted small">
        Sort by
      </label>
      <select
        id={id}
        className="field"
        value={order}
        onChange={(event) => onOrder(event.target.value)}
      >
        <option value="">Relevance</option>
        <option value="name">Name, A to Z</option>
        <option value="name-down">Name, Z to A</option>
        <option value="changed">Last modified</option>
        <option value="urn">Urn</option>
      </select>
      <ExportMenu request={request} disabled={total === 0} />
    </div>
  );
}

interface PagesProps {
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

function Pages({ page, pages, onPage }: PagesProps) {
  if (pages < 2) return null;
  return (
    <nav className="row pages" aria-label="Pages of results">
      <button
        type="button"
        className="button"
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      >
        Previous
      </button>
      <span className="muted num">
        Page {page} of {pages}
      </span>
      <button
        type="button"
        className="button"
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      >
        Next
      </button>
    </nav>
  );
}
