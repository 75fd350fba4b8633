/**
 * Selects the changes of the log that subscribers receive as events.
 *
 *   UPSERT of an aspect              an event   its next value
 *   UPSERT in a timeseries stream    an event   the event of the timeseries
 *   UPSERT of a platform event       an event   the event that a client produced
 *   DELETE of an aspect              an event   no value; of a key aspect: the entity is deleted
 *   RESTATE                          nothing    it confirms a value that subscribers already received
 *   secrets                          nothing    every consumer reads the whole topic
 *   DELETE of timeseries, edges      nothing    it only affects views; subscribers keep their own data
 */
import { isEventForSubscribers } from "../src/core/change.ts";
import { holdsSecret } from "../src/core/secret-aspects.ts";
import type { ChangeEvent } from "../src/feed/change-event.ts";
import type { Projection } from "../src/projector/sink.ts";

export const projectFeed: Projection<ChangeEvent> = (change) =>
  isEventForSubscribers(change) && !holdsSecret(change) ? [{ change }] : [];
