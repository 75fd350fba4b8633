/**
 * The sink of the search view in Elasticsearch and OpenSearch. Only the last write of each entity in a
 * batch is sent, because it has the whole document. Its version is its position, so that an earlier
 * document never overwrites a later one, even with several writers.
 *
 * Each batch is refreshed before the checkpoint moves past it, so that the position of a result is never
 * too high, and a write is searchable when its batch ends. A refresh costs about ten milliseconds per
 * batch; meanwhile the next batch grows, so that batches are large under load. A staging generation is
 * refreshed only once.
 */
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position, START } from "../../../core/position.ts";
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
  let closed = false;
  const usable = (): void => {
    if (closed) {
      throw new CatalogError("unavailable", `the view "${searchShape.view}" is closed`);
    }
  };

  /** Readers must know a kind of text before a document has it. */
  async function publishKinds(last: ReadonlyMap<string, SearchWrite>): Promise<void> {
    const { kept } = await view.state();
    const kinds = new Set(kept.kinds);
    for (const write of last.values()) {
      if (write.op === "put") for (const kind of kindsOf(write.document)) kinds.add(kind);
    }
    if (kinds.size > kept.kinds.length) await view.move({ kept: { kinds: [...kinds].sort() } });
  }

  async function mapWideDocuments(last: ReadonlyMap<string, SearchWrite>): Promise<void> {
    for (const [urn, write] of last) {
      if (write.op !== "put" || !isWide(write.document)) continue;
      const mappings = longListMappings(JSON.parse(indexDocument(write.document, write.position)));
      if (mappings !== undefined) await view.map(partitionOfUrn(urn), mappings);
    }
  }

  return {
    async apply(writes, upTo, record) {
      usable();
      const state = await view.state();
      const last = lastOnes(writes, state.position);
      if (upTo <= state.position) return;
      const placed = Array.from(last, ([urn, write]) => partitionWrite(urn, write));
      await publishKinds(last);
      await mapWideDocuments(last);
      await overcome(view, last, await view.write(placed));
      await view.move({ position: upTo, record });
    },

    async amend(writes) {
      usable();
      const last = lastOnes(writes, START);
      await publishKinds(last);
      await mapWideDocuments(last);
      const placed = Array.from(last, ([urn, write]) => partitionWrite(urn, write));
      await overcome(view, last, await view.write(placed));
    },

    async holding(entityType, fields, from) {
      usable();
      // The server reads a query without alternatives as all documents.
      if (fields.length === 0) return { urns: [] };
      // The last writes may not be searchable yet.
      await view.refresh();
      return holdersOf(view, { entityType, fields, from });
    },

    async restore(urn, writes) {
      usable();
      const last = lastOnes(await Array.fromAsync(writes), START);
      const own = urn.toWellFormed();
      const placed = Array.from(last, ([one, write]) => partitionWrite(one, write));
      if (!last.has(own)) placed.push({ partition: partitionOfUrn(own), id: idOf(own) });
      await publishKinds(last);
      await mapWideDocuments(last);
      // Without versions: a stored document may wrongly have a later one.
      await view.write(placed.map(({ version: _, ...write }) => write));
    },

    async position() {
      usable();
      return await view.position();
    },

    async lastRecord() {
      usable();
      return view.lastRecord();
    },

    async reset() {
      usable();
      await view.reset();
    },

    staged: () => view.staged(),
    publish: (head) => view.publish(head),

    async close(outcome = "keep") {
      closed = true;
      await view.close(outcome);
    },
  };
}

/** The last write of each urn. Reads all writes, so that an invalid one fails the batch here. */
function lastOnes(
  writes: readonly SearchWrite[],
  checkpoint: Position,
): ReadonlyMap<string, SearchWrite> {
  const last = new Map<string, SearchWrite>();
  for (const write of writes) {
    // A copy has the document itself, which is needed for its kinds and when it is sent.
    if (write.position > checkpoint) last.set(write.urn.toWellFormed(), { ...write });
  }
  return last;
}

function partitionWrite(urn: string, write: SearchWrite): PartitionWrite {
  const { position: version } = write;
  const where = { partition: partitionOfUrn(urn), id: idOf(urn), version };
  if (write.op === "remove") return where;
  return {
    ...where,
    // Built when it is sent: the server processes one request while the next one is built.
    get document() {
      return indexDocument(write.document, version);
    },
  };
}

/**
 * Handles documents that were skipped because the stored ones have a higher version. Usually another
 * projector is ahead, as the checkpoint shows. A restored document, or one that was changed manually,
 * may have a version beyond its position: then it is outdated and is overwritten.
 */
async function overcome(
  view: ElasticsearchView<SearchKept>,
  last: ReadonlyMap<string, SearchWrite>,
  passed: readonly PartitionWrite[],
): Promise<void> {
  if (passed.length === 0) return;
  const known = await view.state();
  if ((await view.position()) !== known.position) {
    throw new CatalogError(
      "conflict",
      `the view "${searchShape.view}" was moved by another projector`,
    );
  }
  const ids = new Set(passed.map(({ id }) => id));
  const urns = [...last.keys()].filter((urn) => ids.has(idOf(urn)));
  const there = await find(view, urns);
  const older = urns.flatMap((urn): readonly PartitionWrite[] => {
    const write = last.get(urn);
    if (write === undefined || (there.get(urn)?.at ?? START) >= write.position) return [];
    const { version: _, ...placed } = partitionWrite(urn, write);
    return [placed];
  });
  await view.write(older);
}

/** Entities of one page. */
const HOLDERS_MAX = 1_000;

async function holdersOf(
  { server, names, state }: ElasticsearchView<SearchKept>,
  asked: {
    readonly entityType: string;
    readonly fields: readonly string[];
    readonly from?: string | undefined;
  },
) {
  const { generation } = await state();
  const { hits } = await server.send("read", (client) =>
    client.search<Pick<StoredSource, "urn">>({
      index: names.index(generation, partitionOfType(asked.entityType)),
      ignore_unavailable: true,
      allow_partial_search_results: false,
      query: {
        bool: {
          should: asked.fields.map((field) => ({ exists: { field: fieldNames.shown(field) } })),
          minimum_should_match: 1,
        },
      },
      _source: ["urn"],
      size: HOLDERS_MAX,
      sort: [{ urn: "asc" }],
      track_total_hits: false,
      ...(asked.from !== undefined && { search_after: [asked.from] }),
    }),
  );
  const urns = hits.hits.flatMap(({ _source: source }) =>
    source === undefined ? [] : [fromUnitOrder(source.urn)],
  );
  const last = hits.hits.at(-1)?._source?.urn;
  return hits.hits.length < HOLDERS_MAX ? { urns } : { urns, next: last };
}

const FOUND_MAX = 1_000;

/** The stored documents, including those that are not searchable yet. */
async function find(
  { server, names, state }: ElasticsearchView<SearchKept>,
  urns: readonly string[],
): Promise<ReadonlyMap<string, { readonly at: Position }>> {
  const { generation } = await state();
  const found = new Map<string, { readonly at: Position }>();
  for (let from = 0; from < urns.length; from += FOUND_MAX) {
    const some = urns.slice(from, from + FOUND_MAX).map((urn) => urn.toWellFormed());
    const { docs } = await server.send("read", (client) =>
      client.mget<Pick<StoredSource, "at">>({
        _source: ["at"],
        docs: some.map((urn) => ({
          _index: names.index(generation, partitionOfUrn(urn)),
          _id: idOf(urn),
        })),
      }),
    );
    for (const [n, one] of docs.entries()) {
      if ("error" in one || !one.found || one._source === undefined) continue;
      found.set(some[n] ?? "", { at: position(one._source.at) });
    }
  }
  return found;
}
