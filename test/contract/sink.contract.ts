/**
 * What every sink promises (src/projector/sink.ts), whatever view it writes and whatever keeps it.
 * Views are compared by everything that they hold (src/projector/compare.ts).
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Position, position, START } from "../../src/core/position.ts";
import type { Dump } from "../../src/projector/compare.ts";
import type { Sink } from "../../src/projector/sink.ts";

/** Where one view lives. */
export interface ViewPlace<W, Row> {
  openSink(): Promise<Sink<W>>;
  /** Reads beside a sink; the place has had one open before. */
  openReader(): Promise<Dump<Row> & { close(): Promise<void> }>;
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
}

type Placed = { readonly position: Position };

/** Largest batch that a projector makes. */
const BATCH_MAX = 5_000;

export function sinkContract<W extends Placed, Row>(
  name: string,
  { createPlace, histories }: SinkHarness<W, Row>,
): void {
  let places: ViewPlace<W, Row>[];
  let opened: { close(): Promise<void> }[];
  const [history = []] = fc.sample(histories(1_200, 1_200), { numRuns: 1, seed: 7 });
  const upTo = position(lastOf(history) + 3);

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

  /** Rows of a view that was given the writes in batches of a size. */
  async function grown(writes: readonly W[], size: number): Promise<readonly Row[]> {
    const place = await fresh();
    const sink = await open(place);
    for (const batch of batchesOf(writes, size)) await sink.apply(batch, lastOf(batch));
    const rows = await rowsOf(place);
    await sink.close();
    return rows;
  }

  describe(`sink: ${name}`, () => {
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

    test("gives the same view in batches of one and of the most", async () => {
      const few = history.slice(0, 200);
      expect(await grown(few, 1)).toEqual(await grown(few, few.length));
      expect(await grown(history, 97)).toEqual(await grown(history, BATCH_MAX));
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
      for (const [n, write] of history.slice(0, 100).entries()) {
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
      expect(await rowsOf(place)).toEqual(await grown(history, 300));
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
      expect(await rowsOf(place)).toEqual(await grown(history, 300));
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
      expect(await rowsOf(place)).toEqual(await grown(history, BATCH_MAX));
    });

    test("comes to the same whatever is told again, reopened or lost on the way", async () => {
      const interruption = fc.constantFrom("none", "again", "from the start", "reopen", "crash");
      const way = fc.array(fc.record({ size: fc.integer({ min: 1, max: 40 }), interruption }), {
        minLength: 3,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(histories(1, 80), way, async (writes, steps) => {
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
          expect(await rowsOf(place)).toEqual(await grown(writes, 1));
        }),
        { numRuns: 8 },
      );
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
