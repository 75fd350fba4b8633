/** Reads pages of events until `limit` of them are accepted. */
import type { TimeseriesEvent, TimeseriesReader } from "./timeseries-table.ts";

interface Options extends Pick<Parameters<TimeseriesReader["list"]>[1], "limit" | "accept"> {
  readonly yieldToEventLoop: () => Promise<unknown>;
}

/** Milliseconds before it yields: `accept` may be slow for a large event. */
const SLICE_MS_MAX = 5;

/** Reads no page after the one with the last accepted event. */
export async function acceptedEvents(
  pages: AsyncIterable<readonly TimeseriesEvent[]>,
  { limit, accept, yieldToEventLoop }: Options,
): Promise<TimeseriesEvent[]> {
  const events: TimeseriesEvent[] = [];
  for await (const page of pages) {
    let sliceEnd = performance.now() + SLICE_MS_MAX;
    for (const { time, value, system } of page) {
      const event = { time, value, system };
      if (accept === undefined || accept(event)) events.push(event);
      if (events.length === limit) return events;
      if (accept === undefined || performance.now() < sliceEnd) continue;
      await yieldToEventLoop();
      sliceEnd = performance.now() + SLICE_MS_MAX;
    }
  }
  return events;
}
