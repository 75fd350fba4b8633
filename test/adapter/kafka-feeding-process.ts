/**
 * Applies events to the feed in small batches until it is killed: `kafka-feeding-process.ts <url>
 * <count>`.
 */
import { lastOf, position } from "../../src/core/position.ts";
import { createEventCodec } from "../../src/feed/event-codec.ts";
import { openKafkaFeedSink } from "../../src/feed/kafka/kafka-feed-sink.ts";
import { createPlatformEvents } from "../../src/feed/platform-events.ts";
import { eventsFrom } from "./kafka-place.ts";

const BATCH = 10;
const [url = "", count = "0"] = process.argv.slice(2);
const sink = await openKafkaFeedSink({
  url,
  name: "annals",
  codec: createEventCodec({ findSchema: async () => undefined }),
  platformEventsOf: createPlatformEvents({}),
  log: { id: "log-one", head: position(1_000_000) },
});
const events = eventsFrom(1, Number(count));
const at = await sink.position();
const left = events.filter(({ change }) => change.position > at);
console.log("feeding");
for (let from = 0; from < left.length; from += BATCH) {
  const batch = left.slice(from, from + BATCH);
  await sink.apply(batch, lastOf(batch.map(({ change }) => change)));
}
await sink.close();
