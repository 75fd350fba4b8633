/** Restoring entities from the log (src/projector/parking/restore.ts, history.ts). */
import { describe, expect, test } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import {
  entityStream,
  parseStream,
  timeseriesStream,
  truncationStream,
} from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import type { HistoryLog } from "../../src/projector/history.ts";
import { restoreEntities } from "../../src/projector/parking/restore.ts";
import type { View } from "../../src/projector/sink.ts";

const ada = "urn:li:corpuser:ada";
const otto = "urn:li:corpuser:otto";

/** A log with one record for each of these streams, in this order. */
function logOf(...streams: readonly string[]): HistoryLog {
  const counts = new Map<string, number>();
  const records = streams.map((stream, n): LogRecord => {
    const at = counts.get(stream) ?? 0;
    counts.set(stream, at + 1);
    return {
      position: position(n + 1),
      stream,
      revision: revision(at),
      data: new Uint8Array(),
    };
  });
  return {
    readStream: async (stream, from, { limit }) =>
      records.filter((one) => one.stream === stream).slice(Number(from), Number(from) + limit),
    listStreams: async (prefix, { after = "", limit }) =>
      [...counts.keys()]
        .filter((name) => name.startsWith(prefix) && name > after)
        .sort()
        .slice(0, limit),
  };
}

const decode = ({ position, stream }: LogRecord): PlacedChange | undefined =>
  parseStream(stream) && ({ position, urn: stream } as PlacedChange);

async function restored(
  log: HistoryLog,
  {
    bearing: relatedStreams,
    at = 10_000,
  }: { bearing?: View<Position>["relatedStreams"]; at?: number } = {},
): Promise<readonly number[]> {
  const got: Position[] = [];
  const view: View<Position> = {
    name: "a",
    project: (change) => [change.position],
    relatedStreams,
    sink: {
      async restore(_, writes) {
        for await (const write of writes) got.push(write);
      },
    } as View<Position>["sink"],
  };
  const views = [{ view: view as View, position: position(at) }];
  expect(await restoreEntities([ada], { log, decode, views })).toEqual([]);
  return got;
}

describe("the restored records of an entity", () => {
  test("a restore uses the entity's streams and the truncations of its type, in the order of the log", async () => {
    const log = logOf(
      timeseriesStream(ada, "usage"),
      entityStream(ada),
      entityStream(otto),
      truncationStream("corpuser", "usage"),
      timeseriesStream(ada, "usage"),
      truncationStream("dataset", "usage"),
      timeseriesStream(otto, "visits"),
      timeseriesStream(ada, "visits"),
      "job-7",
      entityStream(ada),
    );
    expect(await restored(log)).toEqual([1, 2, 4, 5, 8, 10]);
  });

  test("a restore uses all records of long interleaved streams", async () => {
    const streams = Array.from({ length: 2_500 }, (_, n) =>
      n % 3 === 0 ? entityStream(ada) : timeseriesStream(ada, "usage"),
    );
    expect(await restored(logOf(...streams))).toEqual(streams.map((_, n) => n + 1));
  });

  test("a restore ends at the position of the view", async () => {
    const log = logOf(entityStream(ada), timeseriesStream(ada, "usage"), entityStream(ada));
    expect(await restored(log, { at: 2 })).toEqual([1, 2]);
    expect(await restored(log, { at: 0 })).toEqual([]);
  });

  test("a restore uses no records for an entity that the log does not have", async () => {
    expect(await restored(logOf(entityStream(otto)))).toEqual([]);
    expect(await restored(logOf())).toEqual([]);
  });

  test("a restore includes streams of other entities that affect its writes", async () => {
    const forget = timeseriesStream(otto, "$relationships");
    const log = logOf(entityStream(ada), forget, entityStream(ada));
    expect(await restored(log, { bearing: () => [forget] })).toEqual([1, 2, 3]);
    const without = logOf(entityStream(ada), entityStream(otto));
    expect(await restored(without, { bearing: () => [forget] })).toEqual([1]);
  });
});

test("an entity that a view cannot apply is returned, and the others are restored", async () => {
  const got: string[] = [];
  const view = (name: string): View<string> => ({
    name,
    project: ({ urn }) => [urn],
    sink: {
      async restore(urn, writes) {
        if (urn === ada && name === "failing") throw new Error("no room");
        for await (const write of writes) got.push(`${name} ${write}`);
      },
    } as View<string>["sink"],
  });
  const log = logOf(entityStream(ada), entityStream(otto));
  const views = ["failing", "other"].map((name) => ({
    view: view(name) as View,
    position: position(9),
  }));
  expect(await restoreEntities([ada, otto], { log, decode, views })).toEqual([
    { urn: ada, view: "failing", reason: "no room" },
  ]);
  expect(got).toEqual([
    `failing ${entityStream(otto)}`,
    `other ${entityStream(ada)}`,
    `other ${entityStream(otto)}`,
  ]);
});

describe("with a log that reads the beginnings of several streams at once", () => {
  const readingAhead = (log: HistoryLog): HistoryLog => ({
    ...log,
    readBeginnings: (streams, options) =>
      Promise.all(streams.map((stream) => log.readStream(stream, revision(0), options))),
  });
  /** Entities that were restored together, and entities restored alone. */
  function createView(failing?: string) {
    const done: string[] = [];
    let open: string[] | undefined;
    const sink = {
      async restore(urn: string, writes: AsyncIterable<Position>) {
        if (urn === failing) throw new Error("no room");
        const entry = `${urn} ${(await Array.fromAsync(writes)).length}`;
        (open ?? done).push(entry);
      },
      async inTransaction(work: () => Promise<void>) {
        open = [];
        try {
          await work();
          done.push(open.join(" & "));
        } finally {
          open = undefined;
        }
      },
    };
    const view: View<Position> = {
      ...{ name: "a", project: (change) => [change.position] },
      sink: sink as View<Position>["sink"],
    };
    return { done, views: [{ view: view as View, position: position(10_000) }] };
  }
  const grace = "urn:li:corpuser:grace";

  test("short entities are restored together, long ones alone", async () => {
    const long = Array.from({ length: 1_200 }, () => entityStream(otto));
    const log = readingAhead(logOf(entityStream(ada), ...long, entityStream(grace)));
    const { done, views } = createView();
    expect(await restoreEntities([ada, otto, grace], { log, decode, views })).toEqual([]);
    expect(done).toEqual([`${ada} 1 & ${grace} 1`, `${otto} 1200`]);
  });

  test("entities are restored one by one if one of them fails", async () => {
    const log = readingAhead(logOf(...[ada, otto, grace].map(entityStream)));
    const { done, views } = createView(otto);
    expect(await restoreEntities([ada, otto, grace], { log, decode, views })).toEqual([
      { urn: otto, view: "a", reason: "no room" },
    ]);
    expect(done).toEqual([`${ada} 1`, `${grace} 1`]);
  });
});
