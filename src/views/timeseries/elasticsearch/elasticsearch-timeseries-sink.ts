/**
 * The sink of the timeseries view in Elasticsearch.
 *
 * Events of a batch are folded in memory first, so that an invalid batch sends nothing. Removals
 * query the store for their events, and delete them with the removal's position as version: later
 * events stay, and delayed writes of earlier events do not restore them. The checkpoint moves last.
 */
import { isDeepStrictEqual } from "node:util";
import type { estypes } from "@elastic/elasticsearch";
import type { Position } from "../../../core/position.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { slicesOf } from "../../../lib/lists.ts";
import {
  type ElasticsearchView,
  openElasticsearchView,
} from "../../../storage/elasticsearch/elasticsearch-view.ts";
import { singleSearch } from "../../../storage/elasticsearch/multi-search.ts";
import type { PartitionWrite } from "../../../storage/elasticsearch/partition-write.ts";
import type { ServerView } from "../../../storage/view-origin.ts";
import type { TimeseriesSink, TimeseriesWrite } from "../timeseries-table.ts";
import { createFold, isRemovedBy, type Remove } from "./batch.ts";
import {
  documentOf,
  type Event,
  type Kept,
  partitionOfEvent,
  placeOfIndex,
  rowOf,
  type StoredEvent,
  timeseriesAsker,
  timeseriesShape,
} from "./documents.ts";
import { type EventHit, eventPagesOf } from "./pages.ts";
import { createTruncateStep, noted } from "./truncations.ts";

/** Removals per search request. */
const REMOVES_MAX = 200;

export async function openElasticsearchTimeseriesSink(
  address: ServerView,
): Promise<TimeseriesSink> {
  const view = await openElasticsearchView(timeseriesShape, address, timeseriesAsker);
  const { removeStored, storedOf } = createLooking(view);

  return {
    async apply(writes, upTo, record) {
      const { position: checkpoint, kept } = await view.state();
      if (upTo <= checkpoint) return;
      const fold = createFold();
      for (const write of writes) if (write.position > checkpoint) fold.add(write);
      const { events, removes, truncates } = fold.batch;
      await removeStored(removes);
      await view.write(placedEvents(events));
      const after = noted(kept, truncates);
      if (truncates.length > 0) await view.show(truncates.map(placeOfIndex), after);
      await view.move({ position: upTo, record, kept: after });
    },
    async restore(urn, writes) {
      const wanted = await foldWhole(urn, writes);
      const { position: checkpoint } = await view.state();
      await view.refresh();
      const gone: PartitionWrite[] = [];
      for await (const hits of storedOf(urn)) {
        for (const hit of hits) {
          const partition = view.names.parse(hit.index)?.partition ?? "";
          const event = wanted.get(hit.id);
          if (event === undefined || partitionOfEvent(event) !== partition)
            gone.push({ partition, id: hit.id });
          else if (isAs(hit.source, event)) wanted.delete(hit.id);
        }
      }
      // At the checkpoint: all later writes are newer.
      const passed = await view.write([...gone, ...placedEvents(wanted, checkpoint)]);
      await view.write(passed.map(({ partition, id, document }) => ({ partition, id, document })));
    },
    maintain: createTruncateStep(view),
    position: () => view.position(),
    lastRecord: () => view.lastRecord(),
    reset: () => view.reset(),
    staged: () => view.staged(),
    publish: (head) => view.publish(head),
    close: (outcome = "keep") => view.close(outcome),
  };
}

function* placedEvents(
  events: ReadonlyMap<string, Event>,
  version?: Position,
): Generator<PartitionWrite> {
  const partitions = new Map<string, string>();
  for (const [id, event] of events) {
    const series = `${entityTypeOf(event.urn)}\0${event.aspect}`;
    let partition = partitions.get(series);
    if (partition === undefined) {
      partition = partitionOfEvent(event);
      partitions.set(series, partition);
    }
    yield { partition, id, version: version ?? event.position, document: documentOf(event) };
  }
}

/** Folds these writes without stored events, in memory, so that all of them are sent or none. */
async function foldWhole(
  urn: string,
  writes: Iterable<TimeseriesWrite> | AsyncIterable<TimeseriesWrite>,
): Promise<Map<string, Event>> {
  const fold = createFold();
  for await (const write of writes) {
    if (write.op !== "truncate") fold.add(write);
    // Removes all events of the entity that are not among these writes.
    else fold.drop(urn, ({ aspect, time }) => aspect === write.aspect && time < write.before);
  }
  return new Map(fold.batch.events);
}

const isAs = (stored: StoredEvent, { entityType: _, op: __, ...written }: Event): boolean =>
  isDeepStrictEqual(rowOf(stored), written);

function createLooking(view: ElasticsearchView<Kept>) {
  /** In the written generation, live or staging. */
  async function* stored(
    query: estypes.QueryDslQueryContainer,
  ): AsyncGenerator<readonly EventHit[]> {
    const { generation } = await view.state();
    yield* eventPagesOf(
      singleSearch((request) => view.server.send("read", request)),
      { index: view.names.indices(generation), query, sort: ["urn", "aspect", "time", "key"] },
    );
  }

  return {
    storedOf: (urn: string) => stored({ term: { urn } }),
    async removeStored(removes: readonly Remove[]): Promise<void> {
      // Also finds events of an earlier batch that failed.
      if (removes.length > 0) await view.refresh();
      for (const some of slicesOf(removes, REMOVES_MAX)) {
        for await (const hits of stored({ bool: { should: some.map(bearingOn) } })) {
          await view.write(hits.flatMap((hit) => deletions(hit, some)));
        }
      }
    },
  };

  function deletions(
    { id, index, source }: EventHit,
    removes: readonly Remove[],
  ): readonly PartitionWrite[] {
    const partition = view.names.parse(index)?.partition ?? "";
    const last = removes.findLast((remove) => isRemovedBy(remove, source));
    return last === undefined ? [] : [{ partition, id, version: last.position }];
  }
}

/** Events that a removal may delete; the aspect is compared later. */
const bearingOn = ({
  urn,
  aspect,
  from,
  to,
  position,
}: Remove): estypes.QueryDslQueryContainer => ({
  bool: {
    filter: [
      { term: { urn } },
      { range: { position: { lt: position } } },
      ...(aspect === undefined ? [] : [{ term: { aspect } }]),
      ...(from === undefined && to === undefined ? [] : [{ range: { time: boundsOf(from, to) } }]),
    ],
  },
});

const boundsOf = (from: number | undefined, to: number | undefined) => ({
  ...(from !== undefined && { gte: from }),
  ...(to !== undefined && { lte: to }),
});
