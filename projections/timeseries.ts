/**
 * Projects changes of the log into writes of the timeseries view.
 *
 *   UPSERT in a timeseries stream             event     adds an event, or replaces one with the same
 *                                                       time and key
 *   DELETE in a timeseries stream             remove    events of that aspect, in a range if it has one
 *   DELETE of the key aspect of an entity     remove    every event of the entity
 *   DELETE in a stream of truncations         truncate  older events, of all entities of a type
 *   UPSERT of a platform event                nothing
 *
 * The key has the same fields as the document id of DataHub, so an event that is sent twice is one.
 */
import type { PlacedChange } from "../src/core/change.ts";
import { assert } from "../src/core/errors.ts";
import { isPlatformEvent } from "../src/core/platform-event.ts";
import { sortedMembers } from "../src/lib/json.ts";
import type { Projection } from "../src/projector/sink.ts";
import type { TimeseriesWrite } from "../src/views/timeseries/timeseries-table.ts";
import type { KeyAspectOf } from "./aspects.ts";

/** Headers of a DELETE that bound its range: epoch milliseconds as text, inclusive. */
const FROM_HEADER = "annals-from";
const TO_HEADER = "annals-to";
/** Headers of a truncation: epoch milliseconds, exclusive; events of one transaction. */
const BEFORE_HEADER = "annals-before";
const BATCH_HEADER = "annals-batch";

/** A range that ends before it begins. */
const NOTHING = { from: 1, to: 0 };

export function createTimeseriesProjection(keyAspectOf: KeyAspectOf): Projection<TimeseriesWrite> {
  return (change) => {
    const { urn, aspect, position, entityType, changeType } = change;
    if (!change.timeseries) {
      const gone = changeType === "DELETE" && keyAspectOf(entityType) === aspect;
      return gone ? [{ op: "remove", urn, position }] : [];
    }
    if (isPlatformEvent(change)) return [];
    if (urn === "") return truncation(change);
    switch (changeType) {
      case "UPSERT": {
        const { value } = change;
        assert(value !== undefined, `the event at position ${position} has no value`);
        const { time, key } = identityOf(value);
        assert(typeof time === "number", `the event at position ${position} has no time`);
        const system = JSON.stringify(change.system);
        return [{ op: "event", urn, aspect, entityType, position, time, key, value, system }];
      }
      case "DELETE": {
        const from = bound(change.headers?.[FROM_HEADER]);
        const to = bound(change.headers?.[TO_HEADER]);
        // An invalid bound makes the range empty, so that the view can continue after the record.
        if (Number.isNaN(from) || Number.isNaN(to)) {
          return [{ op: "remove", urn, aspect, position, ...NOTHING }];
        }
        return [{ op: "remove", urn, aspect, position, from, to }];
      }
      case "RESTATE":
        return [];
    }
  };
}

function truncation(change: PlacedChange): readonly TimeseriesWrite[] {
  const { entityType, aspect, position, headers } = change;
  const before = bound(headers?.[BEFORE_HEADER]);
  const batchSize = bound(headers?.[BATCH_HEADER]);
  // A truncation belongs to no entity that could be parked. Without a time or a batch size it is ignored.
  if (!Number.isFinite(before) || !(Number(batchSize) >= 1)) return [];
  return [
    {
      op: "truncate",
      entityType,
      aspect,
      position,
      before: Number(before),
      batchSize: Number(batchSize),
    },
  ];
}

/** The fields that identify an event of an aspect. */
function identityOf(text: string): { readonly time: unknown; readonly key: string } {
  const { timestampMillis, eventGranularity, messageId, partitionSpec } = JSON.parse(text);
  return {
    time: timestampMillis,
    key: JSON.stringify(
      [eventGranularity ?? null, messageId ?? null, partitionSpec ?? null],
      sortedMembers,
    ),
  };
}

const bound = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : text.trim() === "" ? Number.NaN : Number(text);
