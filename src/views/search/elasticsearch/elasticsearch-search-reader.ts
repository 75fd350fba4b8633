/**
 * The reader of the search view in Elasticsearch and OpenSearch. The checkpoint is read before the
 * query: results cover at least that position, because documents become searchable before the
 * checkpoint moves past them.
 */
import { type Position, START } from "../../../core/position.ts";
import { slicesOf } from "../../../lib/lists.ts";
import { openElasticsearchReading } from "../../../storage/elasticsearch/elasticsearch-reading.ts";
import type { StoredViewState } from "../../../storage/elasticsearch/view-metadata.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import type { SearchDocument, SearchReader, SearchResult } from "../search.ts";
import { decodeDocument } from "../stored-document.ts";
import { createCheckpointCache } from "./checkpoint-cache.ts";
import { createIndices, indexGone, retryIfIndexGone, type SuggestingIndices } from "./indices.ts";
import { totalOf } from "./query/candidates.ts";
import { isNothing } from "./query/clauses.ts";
import { facetAggregations, readFacets } from "./query/facets.ts";
import { findFolders } from "./query/folders.ts";
import { findPage } from "./query/hits.ts";
import { findNearWords } from "./query/near-words.ts";
import { scopeQuery } from "./query/scope.ts";
import {
  idOf,
  partitionOfType,
  partitionOfUrn,
  type SearchKept,
  type StoredSource,
  searchAsker,
  searchShape,
} from "./search-shape.ts";

/** A view that does not exist yet counts as empty. */
export async function openElasticsearchSearchReader(address: ServerAddress): Promise<SearchReader> {
  const reading = openElasticsearchReading(searchShape, address, searchAsker);
  const checkpoints = createCheckpointCache(() => reading.state());

  /** Queries the indices of some partitions; returns `emptyResult` if none of them exists. */
  async function queryIndices<T>(
    partitions: ReadonlySet<string>,
    emptyResult: (position: Position) => T,
    query: (indices: SuggestingIndices, state: StoredViewState<SearchKept>) => Promise<T>,
  ): Promise<T> {
    const queryState = async (state: StoredViewState<SearchKept> | undefined): Promise<T> => {
      if (state === undefined) return emptyResult(START);
      const indices = createIndices(reading, state, partitions);
      return indices.empty ? emptyResult(state.position) : await query(indices, state);
    };
    return await retryIfIndexGone(() => checkpoints.run(queryState));
  }

  return {
    async search({ entityTypes, facets, nearWordsOf, ...query }) {
      const emptyResult = (at: Position): SearchResult => ({
        hits: [],
        total: 0,
        facets: facets.map(() => []),
        position: at,
        ...(nearWordsOf && { nearWords: nearWordsOf.map(() => []) }),
      });
      return await queryIndices(
        partitionsOf(entityTypes),
        emptyResult,
        async (indices, { kept, position: at }) => {
          const scoped = await scopeQuery(query, kept.kinds, indices);
          const findNear = async () =>
            nearWordsOf && {
              nearWords: await findNearWords(nearWordsOf, { ...query, ...kept }, indices),
            };
          if (isNothing(scoped)) return { ...emptyResult(at), ...(await findNear()) };
          const aggs = facetAggregations(facets);
          const { hits, response } = await findPage(indices, scoped, query, {
            track_total_hits: true,
            ...(Object.keys(aggs).length > 0 && { aggs }),
          });
          const total = totalOf(response);
          return {
            hits,
            total,
            facets: await readFacets(facets, response, scoped, indices),
            position: at,
            ...(total === 0 && (await findNear())),
          };
        },
      );
    },

    async folders({ entityTypes, ...query }) {
      const emptyResult = (at: Position) => ({ folders: [], total: 0, position: at });
      return await queryIndices(
        partitionsOf(entityTypes),
        emptyResult,
        async (indices, { kept, position: at }) => {
          const scope = await scopeQuery(query, kept.kinds, indices);
          if (isNothing(scope)) return emptyResult(at);
          const found = await findFolders({ ...query, entityTypes }, scope, indices);
          return { ...found, position: at };
        },
      );
    },

    async documents(urns) {
      return await retryIfIndexGone(async () => {
        const state = await checkpoints.read();
        const existing = urns.filter((urn) => state?.places.includes(partitionOfUrn(urn)));
        const found = new Map<string, SearchDocument>();
        for (const chunk of slicesOf(existing, DOCUMENTS_MAX)) {
          const { docs } = await reading.send((client) =>
            client.mget<Pick<StoredSource, "document">>({
              realtime: false,
              _source: ["document"],
              docs: chunk.map((urn) => ({
                _index: reading.names.index(state?.generation ?? 0, partitionOfUrn(urn)),
                _id: idOf(urn),
              })),
            }),
          );
          for (const [n, one] of docs.entries()) {
            const urn = chunk[n] ?? "";
            if ("error" in one) return indexGone;
            if (one.found && one._source) found.set(urn, decodeDocument(urn, one._source.document));
          }
        }
        return urns.map((urn) => found.get(urn));
      });
    },

    close: () => reading.close(),
  };
}

const DOCUMENTS_MAX = 1_000;

const partitionsOf = (entityTypes: readonly string[]): ReadonlySet<string> =>
  new Set(entityTypes.map(partitionOfType));
