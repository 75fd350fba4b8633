/**
 * The rows of the timeseries view in Elasticsearch and OpenSearch, for verification: events as
 * readers see them, without those of pending truncations.
 */

import type { Staged } from "../../../projector/sink.ts";
import type { Cell, ViewRows } from "../../../projector/verify/view-rows.ts";
import { openElasticsearchViewRows } from "../../../storage/elasticsearch/elasticsearch-view-rows.ts";
import type { StoredViewState } from "../../../storage/elasticsearch/view-metadata.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import {
  type EventRow,
  idOf,
  type Kept,
  partitionOfEvent,
  rowOf,
  type StoredEvent,
  takenYet,
  timeseriesAsker,
  timeseriesShape,
} from "./documents.ts";

/** Connects with the first query. `staged`: reads a staging generation. */
export async function openElasticsearchTimeseriesRows(
  address: ServerAddress,
  staged?: Staged,
): Promise<ViewRows> {
  return openElasticsearchViewRows<StoredEvent, Kept>(
    {
      shape: timeseriesShape,
      address,
      asker: timeseriesAsker,
      staged: staged as StoredViewState<Kept> | undefined,
    },
    {
      term: (urn) => urn.toWellFormed(),
      urn: (term) => term,
      sort: ["aspect", "time", "key"],
      fields: ["aspect", "time", "key", "wholeKey", "position", "system", "value"],
      hidden: takenYet,
      row({ id, partition: at, source }) {
        const event = rowOf(source as StoredEvent);
        const { aspect, time, key, position, system, value } = event;
        return [
          ...[isInPlace(event, id, at) ? aspect : `${aspect} in ${at}/${id}`],
          ...[cell(time), cell(key)],
          ...[cell(position), cell(system), cell(value)],
        ];
      },
    },
  );
}

/** True if the document has the id and partition where readers expect it. */
const isInPlace = (event: EventRow, id: string, partition: string | undefined): boolean =>
  typeof event.aspect === "string" && id === idOf(event) && partition === partitionOfEvent(event);

/** A document, which another program may have written. */
const cell = (value: unknown): Cell =>
  typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value ?? null);
