/** Folds the changes of an entity into its expected rows of the timeseries view, in memory. */
import type { Projection } from "../../projector/sink.ts";
import type { FoldedRows, Row, RowShape } from "../../projector/verify/view-rows.ts";
import type { TimeseriesWrite } from "./timeseries-table.ts";

export const timeseriesRowShape: RowShape = {
  names: ["aspect", "time", "key", "position", "system", "value"],
  keys: 3,
  order: [3],
};

type Event = Extract<TimeseriesWrite, { op: "event" }>;

interface FoldedEvents extends FoldedRows {
  /** As TimeseriesReader.latest. */
  latest(aspect: string): Event | undefined;
}

export const foldTimeseriesRows =
  (project: Projection<TimeseriesWrite>) =>
  (urn: string): FoldedEvents => {
    const events = new Map<string, Event>();

    function removeWhere(test: (event: Event) => boolean): void {
      for (const [key, event] of events) if (test(event)) events.delete(key);
    }

    function apply(write: TimeseriesWrite): void {
      switch (write.op) {
        case "event": {
          const key = `${write.aspect} ${write.time} ${write.key}`;
          // An event that is written again moves to the end: rows are in the order of positions.
          events.delete(key);
          events.set(key, write);
          break;
        }
        case "remove": {
          const { aspect, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = write;
          if (write.urn !== urn) break;
          removeWhere((event) => {
            const within = event.time >= from && event.time <= to;
            return within && (aspect === undefined || event.aspect === aspect);
          });
          break;
        }
        case "truncate":
          removeWhere(({ aspect, time }) => aspect === write.aspect && time < write.before);
      }
    }

    function latest(aspect: string): Event | undefined {
      let found: Event | undefined;
      for (const event of events.values()) {
        if (event.aspect === aspect && (found === undefined || isLater(event, found))) {
          found = event;
        }
      }
      return found;
    }

    return {
      latest,
      add(change) {
        for (const write of project(change)) apply(write);
      },
      size: () => events.size,
      rows: () => Array.from(events.values(), rowOf),
    };
  };

const isLater = (one: Event, other: Event): boolean =>
  one.time === other.time
    ? Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) > 0
    : one.time > other.time;

const rowOf = ({ aspect, time, key, position, system, value }: Event): Row => [
  ...[aspect, time, key, position, system, value],
];
