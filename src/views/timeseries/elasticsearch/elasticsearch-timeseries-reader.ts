/**
 * The reader of the timeseries view in Elasticsearch. It only uses aliases, which select the live
 * generation and filter out events of pending truncations. Ranges are read in pages: concurrent
 * writes may appear in later pages, but no event appears twice. If a truncation comes between
 * pages, they are read again without the truncated events.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { estypes } from "@elastic/elasticsearch";
import { START } from "../../../core/position.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { slicesOf } from "../../../lib/lists.ts";
import { batching } from "../../../storage/batching.ts";
import { statusOf } from "../../../storage/elasticsearch/client.ts";
import {
  type ElasticsearchReading,
  openElasticsearchReading,
} from "../../../storage/elasticsearch/elasticsearch-reading.ts";
import { partitionOf } from "../../../storage/elasticsearch/names.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { acceptedEvents } from "../accepted-events.ts";
import { untruncated } from "../consistent-reads.ts";
import type {
  PlacedEvent,
  TimeseriesEvent,
  TimeseriesReader,
  TruncationProgress,
} from "../timeseries-table.ts";
import {
  type Kept,
  partitionOfEvent,
  placeOfIndex,
  type StoredEvent,
  timeseriesAsker,
  timeseriesShape,
} from "./documents.ts";
import { type EventHit, eventPagesOf } from "./pages.ts";
import { findTask } from "./tasks.ts";

/** Entities per request: events may be large. */
const LATEST_MAX = 50;

type Query = estypes.QueryDslQueryContainer;
type Range = Parameters<TimeseriesReader["count"]>[0];

export async function openElasticsearchTimeseriesReader(
  address: ServerAddress,
): Promise<Required<TimeseriesReader>> {
  const reading = openElasticsearchReading(timeseriesShape, address, timeseriesAsker);
  const { names, send: ask, search } = reading;

  /** Without a partition: of all partitions of the entity type. */
  const aliasOf = ({ urn, aspect }: Range): string =>
    names.live(
      aspect === undefined
        ? `${partitionOf(entityTypeOf(urn))}.*`
        : partitionOfEvent({ urn, aspect }),
    );

  /** The filter of an alias as text, to detect changes. */
  const filterOf = batching<string, string>(async (aliases) => {
    const [name] = aliases;
    const options = { ignore: [404] };
    const filter = await ask((client) => client.indices.getAlias({ name }, options));
    return aliases.map(() => JSON.stringify(filter));
  }, String);

  async function latestOf(
    entityType: string,
    aspect: string,
    urns: readonly string[],
  ): Promise<readonly StoredEvent[]> {
    const latest: StoredEvent[] = [];
    for (const some of slicesOf(urns, LATEST_MAX)) {
      const { hits } = await search({
        index: names.live(placeOfIndex({ entityType, aspect })),
        ignore_unavailable: true,
        allow_partial_search_results: false,
        query: { terms: { urn: some } },
        collapse: { field: "urn" },
        size: some.length,
        track_total_hits: false,
        sort: [{ time: "desc" }, { key: "desc" }],
      });
      for (const { _source } of hits.hits) {
        if (_source !== undefined) latest.push(_source as StoredEvent);
      }
    }
    return latest;
  }

  return {
    async list(range, { limit, ascending = false, accept }) {
      if (limit <= 0 || isEmpty(range)) return [];
      const index = aliasOf(range);
      let pages = 0;
      const read = (): Promise<readonly TimeseriesEvent[]> => {
        pages = 0;
        const found = eventPagesOf(search, {
          index,
          query: within(range),
          sort: ["time", "key"],
          order: ascending ? "asc" : "desc",
          ...(accept === undefined && { first: limit }),
        });
        return acceptedEvents(
          eventsIn(found, () => pages++),
          { limit, accept, yieldToEventLoop },
        );
      };
      // One page reads one state of the index.
      return untruncated(
        () => filterOf(index),
        read,
        () => pages <= 1,
      );
    },
    async latest(urns, aspects) {
      const found = urns.map(() => new Map<string, PlacedEvent>());
      const indexes = new Map(urns.map((urn, n) => [urn.toWellFormed(), n]));
      for (const [type, some] of Map.groupBy(indexes.keys(), entityTypeOf)) {
        for (const aspect of aspects) {
          for (const { urn, ...event } of await latestOf(type, aspect, some)) {
            const { time, position, value, system } = event;
            found[indexes.get(urn) ?? -1]?.set(aspect, { time, position, value, system });
          }
        }
      }
      return found;
    },
    position: async () => (await reading.state())?.position ?? START,
    async count(range) {
      if (isEmpty(range)) return 0;
      const { total } = await counted(reading, aliasOf(range), within(range));
      return total;
    },
    async countOlder(index, before) {
      const alias = names.live(placeOfIndex(index));
      const { total, older } = await counted(reading, alias, { match_all: {} }, before);
      return { events: total, older };
    },
    async weigh(indexes) {
      const sizes: number[] = [];
      for (const index of indexes) {
        sizes.push(await sizeOf(reading, names.live(placeOfIndex(index))));
      }
      return sizes;
    },
    async findTruncation(position) {
      const { kept } = (await reading.state()) ?? {};
      const found = kept?.truncations.find((one) => one.position === position);
      if (found === undefined) return undefined;
      const { batchSize, done, task } = found;
      const running = done || task === undefined ? undefined : await findTask(reading.server, task);
      const deleted = found.deleted + (running?.deleted ?? 0);
      return {
        deleted,
        batches: Math.ceil(deleted / batchSize),
        done,
        task,
      } satisfies TruncationProgress;
    },
    findTask: (id) => findTask(reading.server, id),
    close: () => reading.close(),
  };
}

/** Bounds of an open range: a range of a query cannot be infinite. */
const isEmpty = ({ from, to }: Range): boolean =>
  from === Number.POSITIVE_INFINITY || to === Number.NEGATIVE_INFINITY;

function within({ urn, from, to }: Range): Query {
  const bounds = {
    ...(from !== undefined && Number.isFinite(from) && { gte: from }),
    ...(to !== undefined && Number.isFinite(to) && { lte: to }),
  };
  const bounded = Object.keys(bounds).length > 0;
  return {
    bool: { filter: [{ term: { urn } }, ...(bounded ? [{ range: { time: bounds } }] : [])] },
  };
}

/** Number of documents of a query, and number of those that are older. */
async function counted(
  { search }: ElasticsearchReading<Kept>,
  index: string,
  query: Query,
  before?: number,
): Promise<{ readonly total: number; readonly older: number }> {
  const older = before !== undefined && Number.isFinite(before);
  const found = await search({
    index,
    query,
    size: 0,
    track_total_hits: true,
    ignore_unavailable: true,
    allow_partial_search_results: false,
    ...(older && { aggs: { older: { filter: { range: { time: { lt: before } } } } } }),
  });
  const { total = 0 } = found.hits;
  const all = typeof total === "number" ? total : total.value;
  const bucket = found.aggregations?.older as { readonly doc_count: number } | undefined;
  return {
    total: all,
    older: bucket?.doc_count ?? (before === Number.POSITIVE_INFINITY ? all : 0),
  };
}

/** Estimated size of the documents of an alias in bytes. */
async function sizeOf(reading: ElasticsearchReading<Kept>, alias: string): Promise<number> {
  const { total } = await counted(reading, alias, { match_all: {} });
  if (total === 0) return 0;
  const { documents, bytes } = await weighed(reading, alias);
  // Events of pending truncations are in the store, but not in the count.
  return Math.ceil((bytes * total) / Math.max(documents, total));
}

/** Number of documents and size of the index of an alias. */
async function weighed({ send: ask }: ElasticsearchReading<Kept>, index: string) {
  try {
    const { _all } = await ask((client) =>
      client.indices.stats({ index, metric: ["docs", "store"] }),
    );
    const { docs, store } = _all.primaries ?? {};
    return { documents: docs?.count ?? 0, bytes: store?.size_in_bytes ?? 0 };
  } catch (error) {
    if (statusOf(error) === 404) return { documents: 0, bytes: 0 };
    throw error;
  }
}

async function* eventsIn(pages: AsyncIterable<readonly EventHit[]>, onPage: () => void) {
  for await (const page of pages) {
    onPage();
    yield page.map(({ source }) => source);
  }
}
