/**
 * The contract of every sink (src/projector/sink.ts), for all views and stores. Views are compared
 * by all of their rows (support/dumped-readers.ts).
 */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Position, position, START } from "../../src/core/position.ts";
import type { Sink } from "../../src/projector/sink.ts";
import type { Dump } from "../support/dumped-readers.ts";

/** The location of one view. */
export interface ViewPlace<W, Row> {
  openSink(): Promise<Sink<W>>;
  /** Opens a reader next to a sink; a sink was opened at the place before. */
  openReader(): Promise<Dump<Row> & { close(): Promise<void> }>;
  /** Changes stored rows without the sink, by statements of the adapter. */
  change(statements: string): Promise<void>;
  /** Kills the process: open sinks and writes that are not durable are lost. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

export interface SinkHarness<W, Row> {
  createPlace(): Promise<ViewPlace<W, Row>>;
  /**
   * Writes in the form of a projection, for a log with the given number of records: positions
   * increase, and some records have no write.
   */
  histories(minLength: number, maxLength: number): fc.Arbitrary<readonly W[]>;
  /** The entity of a write; undefined for a write of several entities. */
  urnOf(write: W): string | undefined;
  /** True if a write affects the rows of an entity; by default the writes of that entity. */
  bearsOn?(write: W, urn: string): boolean;
  /** The entity of a row. */
  ownerOf(row: Row): string;
  /** Damages of the stored rows of an entity (statements of ViewPlace.change). */
  readonly damages: readonly (readonly [what: string, statements: (urn: string) => string])[];
  /** True if a new place and every batch are slow: fewer cases of each property, and more time. */
  readonly slow?: boolean;
}

type Placed = { readonly position: Position };

/** The largest batch of a projector. */
const BATCH_MAX = 5_000;

export function sinkContract<W extends Placed, Row>(
  name: string,
  { createPlace, histories, urnOf, bearsOn, ownerOf, damages, slow }: SinkHarness<W, Row>,
): void {
  const runs = slow ? { numRuns: 2 } : { numRuns: 8 };
  /** Writes of a random history, and of a small one for batches of one write. */
  const [longest, oneByOne] = slow ? [20, 15] : [80, 200];
  const time = slow ? { timeout: 120_000 } : {};
  let places: ViewPlace<W, Row>[];
  let opened: { close(): Promise<void> }[];
  const length = slow ? 400 : 1_200;
  const [history = []] = fc.sample(histories(length, length), { numRuns: 1, seed: 7 });
  const upTo = position(lastOf(history) + 3);
  /** The rows after the whole history, which do not depend on the batches. */
  let whole: Promise<readonly Row[]> | undefined;

  async function fresh(): Promise<ViewPlace<W, Row>> {
    const place = await createPlace();
    places.push(place);
    return place;
  }

  async function open(place: ViewPlace<W, Row>): Promise<Sink<W>> {
    const sink = await place.openSink();
    opened.push(sink);
    return sink;
  }

  async function rowsOf(place: ViewPlace<W, Row>): Promise<readonly Row[]> {
    const reader = await place.openReader();
    try {
      return await Array.fromAsync(reader.dump());
    } finally {
      await reader.close();
    }
  }

  const wholeRows = (): Promise<readonly Row[]> => {
    whole ??= rowsAfter(history, BATCH_MAX);
    return whole;
  };

  /** The rows of a view after the writes in batches of a size. */
  async function rowsAfter(writes: readonly W[], size: number): Promise<readonly Row[]> {
    const place = await fresh();
    const sink = await open(place);
    for (const batch of batchesOf(writes, size)) await sink.apply(batch, lastOf(batch));
    const rows = await rowsOf(place);
    await sink.close();
    await place.remove();
    places.splice(places.indexOf(place), 1);
    return rows;
  }

  describe(`sink: ${name}`, time, () => {
    beforeEach(() => {
      places = [];
      opened = [];
    });

    afterEach(async () => {
      for (const sink of opened) await sink.close();
      for (const place of places) await place.remove();
    });

    test("a new view is empty, and its position is the start", async () => {
      const place = await fresh();
      const sink = await open(place);
      expect(await sink.position()).toBe(START);
      expect(await rowsOf(place)).toEqual([]);
    });

    test("a batch is applied as a whole and sets the position", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      expect(await sink.position()).toBe(upTo);
      expect((await rowsOf(place)).length).toBeGreaterThan(0);
    });

    test("a sink keeps the name of the record at its checkpoint, until the next batch or a reset", async () => {
      const place = await fresh();
      const sink = await open(place);
      const [first = [], second = []] = [history.slice(0, 3), history.slice(3, 6)];
      await sink.apply(first, lastOf(first), "the name of a record");
      expect(await sink.lastRecord?.()).toBe("the name of a record");
      await sink.close();
      const again = await open(place);
      expect(await again.lastRecord?.()).toBe("the name of a record");
      await again.apply(second, lastOf(second));
      expect(await again.lastRecord?.()).toBeUndefined();
      await again.apply([], position(lastOf(second) + 1), "another name");
      expect(await again.lastRecord?.()).toBe("another name");
      await again.reset();
      expect(await again.lastRecord?.()).toBeUndefined();
    });

    test("batches of one write and of the largest size give the same view", async () => {
      const few = history.slice(0, oneByOne);
      expect(await rowsAfter(few, 1)).toEqual(await rowsAfter(few, few.length));
      expect(await rowsAfter(history, 97)).toEqual(await wholeRows());
    });

    test("a batch that is applied twice gives the same view", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      const rows = await rowsOf(place);
      await sink.apply(history, upTo);
      expect(await rowsOf(place)).toEqual(rows);
      expect(await sink.position()).toBe(upTo);
    });

    test("an earlier write does not undo a later one", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      const rows = await rowsOf(place);
      for (const batch of batchesOf(history, 250)) await sink.apply(batch, lastOf(batch));
      expect(await sink.position()).toBe(upTo);
      for (const [n, write] of history.slice(0, slow ? 15 : 100).entries()) {
        await sink.apply([write], position(upTo + n + 1));
      }
      expect(await rowsOf(place)).toEqual(rows);
    });

    test("records without writes advance the position", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply([], position(41));
      expect(await sink.position()).toBe(41);
      await sink.close();
      expect(await (await open(place)).position()).toBe(41);
      expect(await rowsOf(place)).toEqual([]);
    });

    test("a reopened sink has the same position", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      const rows = await rowsOf(place);
      await sink.close();
      expect(await (await open(place)).position()).toBe(upTo);
      expect(await rowsOf(place)).toEqual(rows);
    });

    test("a batch that fails halfway changes nothing, and later batches apply", async () => {
      const place = await fresh();
      const sink = await open(place);
      const [first = [], second = [], ...rest] = batchesOf(history, 300);
      await expect(sink.apply([...first, unreadableWrite<W>()], lastOf(first))).rejects.toThrow(
        "unreadable",
      );
      expect(await sink.position()).toBe(START);
      expect(await rowsOf(place)).toEqual([]);
      await sink.apply(first, lastOf(first));
      await expect(sink.apply([...second, unreadableWrite<W>()], lastOf(second))).rejects.toThrow(
        "unreadable",
      );
      expect(await sink.position()).toBe(lastOf(first));
      for (const batch of [second, ...rest]) await sink.apply(batch, lastOf(batch));
      expect(await rowsOf(place)).toEqual(await wholeRows());
    });

    test("after a crash the view equals the history up to its position, and later batches apply", async () => {
      const place = await fresh();
      const sink = await open(place);
      const batches = batchesOf(history, 300);
      for (const batch of batches.slice(0, 2)) await sink.apply(batch, lastOf(batch));
      await place.crash();
      const after = await open(place);
      const at = await after.position();
      const kept = history.filter((write) => write.position <= at);
      expect(await rowsOf(place)).toEqual(await rowsAfter(kept, 300));
      const missing = history.filter((write) => write.position > at);
      for (const batch of batchesOf(missing, 300)) await after.apply(batch, lastOf(batch));
      expect(await rowsOf(place)).toEqual(await wholeRows());
    });

    test("a reset view is empty, and the same log gives the same view", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      const rows = await rowsOf(place);
      await sink.reset();
      expect(await sink.position()).toBe(START);
      expect(await rowsOf(place)).toEqual([]);
      for (const batch of batchesOf(history, 250)) await sink.apply(batch, lastOf(batch));
      expect(await rowsOf(place)).toEqual(rows);
    });

    test("a batch that begins before the position applies only the new writes", async () => {
      const place = await fresh();
      const sink = await open(place);
      const half = history.slice(0, history.length / 2);
      await sink.apply(half, lastOf(half));
      await sink.apply(history, upTo);
      expect(await rowsOf(place)).toEqual(await wholeRows());
    });

    test("repetitions, reopened sinks and crashes give the same view", time, async () => {
      const interruption = fc.constantFrom("none", "again", "from the start", "reopen", "crash");
      const way = fc.array(fc.record({ size: fc.integer({ min: 1, max: 40 }), interruption }), {
        minLength: 3,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(histories(1, longest), way, async (writes, steps) => {
          const place = await fresh();
          let sink = await open(place);
          for (let next = 0, n = 0; next < writes.length; n++) {
            const step = steps[n % steps.length] ?? { size: 1, interruption: "none" };
            const batch = writes.slice(next, next + step.size);
            const at = lastOf(batch);
            await sink.apply(batch, at);
            next += batch.length;
            expect(n, "steps until the end").toBeLessThan(1_000);
            if (step.interruption === "again") await sink.apply(batch, at);
            if (step.interruption === "from the start") await sink.apply(writes.slice(0, next), at);
            if (step.interruption === "reopen") await sink.close();
            if (step.interruption === "crash") await place.crash();
            if (step.interruption === "reopen" || step.interruption === "crash") {
              sink = await open(place);
              const kept = await sink.position();
              next = writes.findIndex((write) => write.position > kept);
              if (next < 0) next = writes.length;
            }
          }
          expect(await rowsOf(place)).toEqual(await rowsAfter(writes, 1));
        }),
        runs,
      );
    });

    describe("restoring an entity", () => {
      let place: ViewPlace<W, Row>;
      let sink: Sink<W>;
      let rows: readonly Row[];
      let busiest: string;

      const writesOf = (urn: string, writes = history): readonly W[] =>
        writes.filter((write) => (bearsOn ?? ((one) => urnOf(one) === urn))(write, urn));

      // The tests share one view: each ends with the rows that there were before.
      beforeAll(async () => {
        place = await createPlace();
        sink = await place.openSink();
        await sink.apply(history, upTo);
        rows = await rowsOf(place);
        const owners = Map.groupBy(rows, ownerOf);
        const [most = ["", []]] = [...owners].sort(([, a], [, b]) => b.length - a.length);
        busiest = most[0];
      });
      afterAll(async () => {
        await sink?.close();
        await place?.remove();
      });

      test.each(damages)(
        "restoring repairs rows that were %s, and leaves other rows unchanged",
        async (_, damage) => {
          await place.change(damage(busiest));
          expect(await rowsOf(place)).not.toEqual(rows);
          await sink.restore(busiest, writesOf(busiest));
          expect(await rowsOf(place)).toEqual(rows);
          expect(await sink.position()).toBe(upTo);
        },
      );

      test("restoring an undamaged view changes nothing", async () => {
        const urns = new Set([...history.flatMap((one) => urnOf(one) ?? []), ...rows.map(ownerOf)]);
        const some = slow ? [busiest, ...[...urns].slice(0, 10)] : urns;
        for (const urn of some) await sink.restore(urn, writesOf(urn));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("restoring applies the given writes in their order", async () => {
        async function* coming() {
          yield* writesOf(busiest);
        }
        await sink.restore(busiest, coming());
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("restoring deletes rows that no write states", async () => {
        await sink.restore(busiest, []);
        expect(await rowsOf(place)).toEqual(rows.filter((row) => ownerOf(row) !== busiest));
        await sink.restore("urn:li:tag:nobody", []);
        await sink.restore(busiest, writesOf(busiest));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("a restore that fails halfway changes nothing", async () => {
        const half = writesOf(busiest).slice(0, 5);
        await expect(sink.restore(busiest, [...half, unreadableWrite<W>()])).rejects.toThrow(
          "unreadable",
        );
        expect(await rowsOf(place)).toEqual(rows);
        await sink.restore(busiest, writesOf(busiest));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("many entities are restored together, or none of them", async () => {
        const { inTransaction: together = (work) => work() } = sink;
        const urns = [busiest, ...new Set(rows.map(ownerOf))].slice(0, 6);
        const all = (first?: () => Iterable<W>) => async () => {
          for (const urn of urns) await sink.restore(urn, first?.() ?? writesOf(urn));
        };
        await together.call(
          sink,
          all(() => []),
        );
        expect(await rowsOf(place)).toEqual(rows.filter((row) => !urns.includes(ownerOf(row))));
        await together.call(sink, all());
        expect(await rowsOf(place)).toEqual(rows);
        if (sink.inTransaction === undefined) return;
        const failing = sink.inTransaction(async () => {
          await all(() => [])();
          await sink.restore(busiest, [unreadableWrite<W>()]);
        });
        await expect(failing).rejects.toThrow("unreadable");
        expect(await rowsOf(place)).toEqual(rows);
        // The sink continues as if the restore had not happened.
        await sink.restore(busiest, writesOf(busiest));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("batches after a restore give the same view as without it", async () => {
        const other = await fresh();
        const building = await open(other);
        const half = history.slice(0, history.length / 2);
        await building.apply(half, lastOf(half));
        await building.restore(busiest, writesOf(busiest, half));
        await building.apply(history.slice(half.length), upTo);
        expect(await rowsOf(other)).toEqual(rows);
      });

      test("a view equals the log after restores at any time", async () => {
        await fc.assert(
          fc.asyncProperty(
            histories(1, longest),
            fc.integer({ min: slow ? 4 : 1, max: 15 }),
            async (all, size) => {
              const building = await fresh();
              const buildingSink = await open(building);
              for (let to = size; to - size < all.length; to += size) {
                const applied = all.slice(0, to);
                await buildingSink.apply(applied, lastOf(applied));
                const urn = applied.map(urnOf).findLast((one) => one !== undefined);
                if (urn !== undefined) await buildingSink.restore(urn, writesOf(urn, applied));
              }
              expect(await rowsOf(building)).toEqual(await rowsAfter(all, 1));
            },
          ),
          runs,
        );
      });
    });

    test("a closed sink is unavailable, and closing twice is allowed", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.close();
      await sink.close();
      const unavailable = expect.objectContaining({ code: "unavailable" });
      await expect(sink.apply([], position(1))).rejects.toEqual(unavailable);
      await expect(sink.position()).rejects.toEqual(unavailable);
      await expect(sink.reset()).rejects.toEqual(unavailable);
      await expect(sink.restore("urn:li:tag:a", [])).rejects.toEqual(unavailable);
    });
  });
}

/** A write that fails when the sink reads it. */
function unreadableWrite<W extends object>(): W {
  const fail = (): never => {
    throw new Error("unreadable");
  };
  return new Proxy({} as W, { get: fail, has: fail });
}

function batchesOf<W>(writes: readonly W[], size: number): readonly (readonly W[])[] {
  const batches: (readonly W[])[] = [];
  for (let from = 0; from < writes.length; from += size) {
    batches.push(writes.slice(from, from + size));
  }
  return batches;
}

const lastOf = (writes: readonly Placed[]): Position => writes.at(-1)?.position ?? START;
