/**
 * What every sink promises (src/projector/sink.ts), whatever view it writes and whatever keeps it.
 * Views are compared by everything that they hold (src/storage/compare.ts).
 */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Position, position, START } from "../../src/core/position.ts";
import type { Sink } from "../../src/projector/sink.ts";
import type { Dump } from "../../src/storage/compare.ts";

/** Where one view lives. */
export interface ViewPlace<W, Row> {
  openSink(): Promise<Sink<W>>;
  /** Reads beside a sink; the place has had one open before. */
  openReader(): Promise<Dump<Row> & { close(): Promise<void> }>;
  /** Changes what is kept behind the view's back, with the adapter's own statements. */
  change(statements: string): Promise<void>;
  /** The process is killed now: what was open is lost, and so is what was not yet kept. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

export interface SinkHarness<W, Row> {
  createPlace(): Promise<ViewPlace<W, Row>>;
  /**
   * Writes as a projection makes them from a log of so many records: positions rise, not every one
   * has a write.
   */
  histories(minLength: number, maxLength: number): fc.Arbitrary<readonly W[]>;
  /** The entity that a write is about; undefined for one about entities of all kinds. */
  urnOf(write: W): string | undefined;
  /** Whether a write bears on what the view has of an entity; where it is not just its own. */
  bearsOn?(write: W, urn: string): boolean;
  /** The entity that a row belongs to. */
  ownerOf(row: Row): string;
  /** What may happen to what is kept of an entity (statements of ViewPlace.change). */
  readonly damages: readonly (readonly [what: string, statements: (urn: string) => string])[];
  /** A new place, and every batch, costs much: fewer cases of each property, and more time. */
  readonly slow?: boolean;
}

type Placed = { readonly position: Position };

/** Largest batch that a projector makes. */
const BATCH_MAX = 5_000;

export function sinkContract<W extends Placed, Row>(
  name: string,
  { createPlace, histories, urnOf, bearsOn, ownerOf, damages, slow }: SinkHarness<W, Row>,
): void {
  const runs = slow ? { numRuns: 2 } : { numRuns: 8 };
  /** Writes of a history that is made at random, and of one that is told one by one. */
  const [longest, oneByOne] = slow ? [20, 15] : [80, 200];
  const time = slow ? { timeout: 120_000 } : {};
  let places: ViewPlace<W, Row>[];
  let opened: { close(): Promise<void> }[];
  const length = slow ? 400 : 1_200;
  const [history = []] = fc.sample(histories(length, length), { numRuns: 1, seed: 7 });
  const upTo = position(lastOf(history) + 3);
  /** What a place that was given the whole history has, which the batches make no difference to. */
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
    whole ??= grown(history, BATCH_MAX);
    return whole;
  };

  /** Rows of a view that was given the writes in batches of a size. */
  async function grown(writes: readonly W[], size: number): Promise<readonly Row[]> {
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

    test("begins at the start, with nothing in it", async () => {
      const place = await fresh();
      const sink = await open(place);
      expect(await sink.position()).toBe(START);
      expect(await rowsOf(place)).toEqual([]);
    });

    test("takes a batch whole, and is then where it was told", async () => {
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

    test("gives the same view in batches of one and of the most", async () => {
      const few = history.slice(0, oneByOne);
      expect(await grown(few, 1)).toEqual(await grown(few, few.length));
      expect(await grown(history, 97)).toEqual(await wholeRows());
    });

    test("is the same after a batch that is applied twice", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      const rows = await rowsOf(place);
      await sink.apply(history, upTo);
      expect(await rowsOf(place)).toEqual(rows);
      expect(await sink.position()).toBe(upTo);
    });

    test("is never undone by an earlier write", async () => {
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

    test("goes past records that it has no writes for", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply([], position(41));
      expect(await sink.position()).toBe(41);
      await sink.close();
      expect(await (await open(place)).position()).toBe(41);
      expect(await rowsOf(place)).toEqual([]);
    });

    test("is where it was when it is opened again", async () => {
      const place = await fresh();
      const sink = await open(place);
      await sink.apply(history, upTo);
      const rows = await rowsOf(place);
      await sink.close();
      expect(await (await open(place)).position()).toBe(upTo);
      expect(await rowsOf(place)).toEqual(rows);
    });

    test("goes on after a batch that failed halfway as if it had not been", async () => {
      const place = await fresh();
      const sink = await open(place);
      const [first = [], second = [], ...rest] = batchesOf(history, 300);
      await expect(sink.apply([...first, spoilt<W>()], lastOf(first))).rejects.toThrow("spoilt");
      expect(await sink.position()).toBe(START);
      expect(await rowsOf(place)).toEqual([]);
      await sink.apply(first, lastOf(first));
      await expect(sink.apply([...second, spoilt<W>()], lastOf(second))).rejects.toThrow("spoilt");
      expect(await sink.position()).toBe(lastOf(first));
      for (const batch of [second, ...rest]) await sink.apply(batch, lastOf(batch));
      expect(await rowsOf(place)).toEqual(await wholeRows());
    });

    test("has after a crash what its position says, and grows on to the same", async () => {
      const place = await fresh();
      const sink = await open(place);
      const batches = batchesOf(history, 300);
      for (const batch of batches.slice(0, 2)) await sink.apply(batch, lastOf(batch));
      await place.crash();
      const after = await open(place);
      const at = await after.position();
      const kept = history.filter((write) => write.position <= at);
      expect(await rowsOf(place)).toEqual(await grown(kept, 300));
      const missing = history.filter((write) => write.position > at);
      for (const batch of batchesOf(missing, 300)) await after.apply(batch, lastOf(batch));
      expect(await rowsOf(place)).toEqual(await wholeRows());
    });

    test("is empty after a reset, and comes out the same from the same log", async () => {
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

    test("takes from a batch that begins too early what is new", async () => {
      const place = await fresh();
      const sink = await open(place);
      const half = history.slice(0, history.length / 2);
      await sink.apply(half, lastOf(half));
      await sink.apply(history, upTo);
      expect(await rowsOf(place)).toEqual(await wholeRows());
    });

    test(
      "comes to the same whatever is told again, reopened or lost on the way",
      time,
      async () => {
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
              if (step.interruption === "from the start")
                await sink.apply(writes.slice(0, next), at);
              if (step.interruption === "reopen") await sink.close();
              if (step.interruption === "crash") await place.crash();
              if (step.interruption === "reopen" || step.interruption === "crash") {
                sink = await open(place);
                const kept = await sink.position();
                next = writes.findIndex((write) => write.position > kept);
                if (next < 0) next = writes.length;
              }
            }
            expect(await rowsOf(place)).toEqual(await grown(writes, 1));
          }),
          runs,
        );
      },
    );

    describe("restoring", () => {
      let place: ViewPlace<W, Row>;
      let sink: Sink<W>;
      let rows: readonly Row[];
      let busiest: string;

      const writesOf = (urn: string, writes = history): readonly W[] =>
        writes.filter((write) => (bearsOn ?? ((one) => urnOf(one) === urn))(write, urn));

      // One view for all: whatever a test does to it, it ends with the rows that there were.
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
        "mends rows that were %s, and leaves the rest alone",
        async (_, damage) => {
          await place.change(damage(busiest));
          expect(await rowsOf(place)).not.toEqual(rows);
          await sink.restore(busiest, writesOf(busiest));
          expect(await rowsOf(place)).toEqual(rows);
          expect(await sink.position()).toBe(upTo);
        },
      );

      test("changes nothing of a view that is as it should be", async () => {
        const urns = new Set([...history.flatMap((one) => urnOf(one) ?? []), ...rows.map(ownerOf)]);
        const some = slow ? [busiest, ...[...urns].slice(0, 10)] : urns;
        for (const urn of some) await sink.restore(urn, writesOf(urn));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("takes what it is given as it comes", async () => {
        async function* coming() {
          yield* writesOf(busiest);
        }
        await sink.restore(busiest, coming());
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("takes away what nothing tells", async () => {
        await sink.restore(busiest, []);
        expect(await rowsOf(place)).toEqual(rows.filter((row) => ownerOf(row) !== busiest));
        await sink.restore("urn:li:tag:nobody", []);
        await sink.restore(busiest, writesOf(busiest));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("leaves all as it was when it fails halfway", async () => {
        const half = writesOf(busiest).slice(0, 5);
        await expect(sink.restore(busiest, [...half, spoilt<W>()])).rejects.toThrow("spoilt");
        expect(await rowsOf(place)).toEqual(rows);
        await sink.restore(busiest, writesOf(busiest));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("takes many at once, or none of them", async () => {
        const { together = (work) => work() } = sink;
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
        if (sink.together === undefined) return;
        const failing = sink.together(async () => {
          await all(() => [])();
          await sink.restore(busiest, [spoilt<W>()]);
        });
        await expect(failing).rejects.toThrow("spoilt");
        expect(await rowsOf(place)).toEqual(rows);
        // It goes on as if nothing had been.
        await sink.restore(busiest, writesOf(busiest));
        expect(await rowsOf(place)).toEqual(rows);
      });

      test("leaves a view that grows on as it would have", async () => {
        const other = await fresh();
        const growing = await open(other);
        const half = history.slice(0, history.length / 2);
        await growing.apply(half, lastOf(half));
        await growing.restore(busiest, writesOf(busiest, half));
        await growing.apply(history.slice(half.length), upTo);
        expect(await rowsOf(other)).toEqual(rows);
      });

      test("comes to the same whatever was restored on the way", async () => {
        await fc.assert(
          fc.asyncProperty(
            histories(1, longest),
            fc.integer({ min: slow ? 4 : 1, max: 15 }),
            async (all, size) => {
              const growing = await fresh();
              const growingSink = await open(growing);
              for (let to = size; to - size < all.length; to += size) {
                const told = all.slice(0, to);
                await growingSink.apply(told, lastOf(told));
                const urn = told.map(urnOf).findLast((one) => one !== undefined);
                if (urn !== undefined) await growingSink.restore(urn, writesOf(urn, told));
              }
              expect(await rowsOf(growing)).toEqual(await grown(all, 1));
            },
          ),
          runs,
        );
      });
    });

    test("is unavailable when it is closed, which may be said twice", async () => {
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

/** A write that cannot be taken: nothing of it can be read. */
function spoilt<W extends object>(): W {
  const refuse = (): never => {
    throw new Error("spoilt");
  };
  return new Proxy({} as W, { get: refuse, has: refuse });
}

function batchesOf<W>(writes: readonly W[], size: number): readonly (readonly W[])[] {
  const batches: (readonly W[])[] = [];
  for (let from = 0; from < writes.length; from += size) {
    batches.push(writes.slice(from, from + size));
  }
  return batches;
}

const lastOf = (writes: readonly Placed[]): Position => writes.at(-1)?.position ?? START;
