/**
 * The sink of the search view in Elasticsearch and OpenSearch. Each write has the whole document,
 * so only the last write of each entity in a batch is sent. The external version of a document is
 * its position: an earlier document never overwrites a later one, even with several writers.
 *
 * The indices are refreshed before the checkpoint moves past a batch. So the position of a result
 * is never too high, and a write is searchable when its batch ends. A refresh takes about ten
 * milliseconds; meanwhile the next batch grows, so batches are large under load. A staging
 * generation is refreshed only once.
 */
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position, START } from "../../../core/position.ts";
import { slicesOf } from "../../../lib/lists.ts";
import {
  type ElasticsearchView,
  openElasticsearchView,
} from "../../../storage/elasticsearch/elasticsearch-view.ts";
import type { PartitionWrite } from "../../../storage/elasticsearch/partition-write.ts";
import type { ServerView } from "../../../storage/view-origin.ts";
import type { SearchSink, SearchWrite } from "../search.ts";
import { fieldNames } from "./fields.ts";
import { indexDocument, kindsOf } from "./index-document.ts";
import {
  idOf,
  isWide,
  longListMappings,
  partitionOfType,
  partitionOfUrn,
  type SearchKept,
  type StoredSource,
  searchAsker,
  searchShape,
} from "./search-shape.ts";
import { fromUnitOrder } from "./stored-text.ts";

/** Rejects with `unavailable` if the server does not respond. */
export async function openElasticsearchSearchSink(address: ServerView): Promise<SearchSink> {
  const view = await openElasticsearchView(searchShape, address, searchAsker);

  /**
   * Adds new kinds of text to the metadata before a document has them: readers query these kinds.
   */
  async function publishKinds(lastWrites: ReadonlyMap<string, SearchWrite>): Promise<void> {
    const { kept } = await view.state();
    const kinds = new Set(kept.kinds);
    for (const write of lastWrites.values()) {
      if (write.op === "put") for (const kind of kindsOf(write.document)) kinds.add(kind);
    }
    if (kinds.size > kept.kinds.length) await view.move({ kept: { kinds: [...kinds].sort() } });
  }

  async function mapWideDocuments(lastWrites: ReadonlyMap<string, SearchWrite>): Promise<void> {
    for (const [urn, write] of lastWrites) {
      if (write.op !== "put" || !isWide(write.document)) continue;
      const mappings = longListMappings(JSON.parse(indexDocument(write.document, write.position)));
      if (mappings !== undefined) await view.map(partitionOfUrn(urn), mappings);
    }
  }

  return {
    async apply(writes, upTo, record) {
      const state = await view.state();
      const last = lastWriteByUrn(writes, state.position);
      if (upTo <= state.position) return;
      const placed = Array.from(last, ([urn, write]) => partitionWrite(urn, write));
      await publishKinds(last);
      await mapWideDocuments(last);
      await overwriteOutdated(view, last, await view.write(placed));
      await view.move({ position: upTo, record });
    },

    async amend(writes) {
      const last = lastWriteByUrn(writes, START);
      await publishKinds(last);
      await mapWideDocuments(last);
      const placed = Array.from(last, ([urn, write]) => partitionWrite(urn, write));
      await overwriteOutdated(view, last, await view.write(placed));
    },

    async holding(entityType, fields, from) {
      // A `bool` query without clauses matches all documents.
      if (fields.length === 0) return { urns: [] };
      // The last writes may not be searchable yet.
      await view.refresh();
      return holdersOf(view, { entityType, fields, from });
    },

    async restore(urn, writes) {
      const last = lastWriteByUrn(await Array.fromAsync(writes), START);
      const own = urn.toWellFormed();
      const placed = Array.from(last, ([one, write]) => partitionWrite(one, write));
      if (!last.has(own)) placed.push({ partition: partitionOfUrn(own), id: idOf(own) });
      await publishKinds(last);
      await mapWideDocuments(last);
      // Without versions: the stored document may have a higher version by mistake.
      await view.write(placed.map(({ version: _, ...write }) => write));
    },

    position: () => view.position(),
    lastRecord: () => view.lastRecord(),
    reset: () => view.reset(),
    staged: () => view.staged(),
    publish: (head) => view.publish(head),
    close: (outcome = "keep") => view.close(outcome),
  };
}

/**
 * The last write of each urn. Reads the document of every write: an invalid one fails the batch.
 */
function lastWriteByUrn(
  writes: readonly SearchWrite[],
  checkpoint: Position,
): ReadonlyMap<string, SearchWrite> {
  const last = new Map<string, SearchWrite>();
  for (const write of writes) {
    // The copy evaluates the getter `document` once.
    if (write.position > checkpoint) last.set(write.urn.toWellFormed(), { ...write });
  }
  return last;
}

function partitionWrite(urn: string, write: SearchWrite): PartitionWrite {
  const { position: version } = write;
  const target = { partition: partitionOfUrn(urn), id: idOf(urn), version };
  if (write.op === "remove") return target;
  return {
    ...target,
    // Built lazily: the server processes one request while the next one is built.
    get document() {
      return indexDocument(write.document, version);
    },
  };
}

/**
 * Handles writes that the server skipped because the stored documents have a higher version. If the
 * checkpoint has moved, another projector is ahead: throws `conflict`. Otherwise a stored document
 * may be outdated despite its version, after a restore or a manual change: it is overwritten.
 */
async function overwriteOutdated(
  view: ElasticsearchView<SearchKept>,
  last: ReadonlyMap<string, SearchWrite>,
  skipped: readonly PartitionWrite[],
): Promise<void> {
  if (skipped.length === 0) return;
  const state = await view.state();
  if ((await view.position()) !== state.position) {
    throw new CatalogError(
      "conflict",
      `the view "${searchShape.view}" was moved by another projector`,
    );
  }
  const ids = new Set(skipped.map(({ id }) => id));
  const urns = [...last.keys()].filter((urn) => ids.has(idOf(urn)));
  const stored = await fetchPositions(view, urns);
  const outdated = urns.flatMap((urn): readonly PartitionWrite[] => {
    const write = last.get(urn);
    if (write === undefined || (stored.get(urn)?.at ?? START) >= write.position) return [];
    const { version: _, ...placed } = partitionWrite(urn, write);
    return [placed];
  });
  await view.write(outdated);
}

/** Page size of `holding`. */
const HOLDERS_MAX = 1_000;

async function holdersOf(
  { server, names, state }: ElasticsearchView<SearchKept>,
  query: {
    readonly entityType: string;
    readonly fields: readonly string[];
    readonly from?: string | undefined;
  },
) {
  const { generation } = await state();
  const { hits } = await server.send("read", (client) =>
    client.search<Pick<StoredSource, "urn">>({
      index: names.index(generation, partitionOfType(query.entityType)),
      ignore_unavailable: true,
      allow_partial_search_results: false,
      query: {
        bool: {
          should: query.fields.map((field) => ({ exists: { field: fieldNames.shown(field) } })),
          minimum_should_match: 1,
        },
      },
      _source: ["urn"],
      size: HOLDERS_MAX,
      sort: [{ urn: "asc" }],
      track_total_hits: false,
      ...(query.from !== undefined && { search_after: [query.from] }),
    }),
  );
  const urns = hits.hits.flatMap(({ _source: source }) =>
    source === undefined ? [] : [fromUnitOrder(source.urn)],
  );
  const last = hits.hits.at(-1)?._source?.urn;
  return hits.hits.length < HOLDERS_MAX ? { urns } : { urns, next: last };
}

const FETCHED_MAX = 1_000;

/** Positions of the stored documents, including documents that are not searchable yet. */
async function fetchPositions(
  { server, names, state }: ElasticsearchView<SearchKept>,
  urns: readonly string[],
): Promise<ReadonlyMap<string, { readonly at: Position }>> {
  const { generation } = await state();
  const found = new Map<string, { readonly at: Position }>();
  for (const slice of slicesOf(urns, FETCHED_MAX)) {
    const chunk = slice.map((urn) => urn.toWellFormed());
    const { docs } = await server.send("read", (client) =>
      client.mget<Pick<StoredSource, "at">>({
        _source: ["at"],
        docs: chunk.map((urn) => ({
          _index: names.index(generation, partitionOfUrn(urn)),
          _id: idOf(urn),
        })),
      }),
    );
    for (const [n, one] of docs.entries()) {
      if ("error" in one || !one.found || one._source === undefined) continue;
      found.set(chunk[n] ?? "", { at: position(one._source.at) });
    }
  }
  return found;
}
