/** A staging generation replaces the live generation of a view (src/projector/rebuild/swap-generations.ts). */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { position } from "../../src/core/position.ts";
import type { ParkingRecord } from "../../src/log/codecs/parking-codec.ts";
import { startProjector } from "../../src/projector/projector.ts";
import type { Projector } from "../../src/projector/projector-parts.ts";
import type { View } from "../../src/projector/sink.ts";
import {
  type ArrayLog,
  createArrayLog,
  createRecordingView,
  decode,
  type RecordingView,
  range,
} from "./array-log.ts";

const soon = <T>(check: () => T) => vi.waitFor(check, { timeout: 60_000, interval: 1 });

/** A view that has the records up to a position. */
function viewAt(name: string, at: number): RecordingView {
  const view = createRecordingView(name, { at: position(at) });
  view.got.push(...range(1, at).map((n) => position(n)));
  return view;
}

interface Parts {
  readonly log: ArrayLog;
  readonly views: readonly RecordingView[];
  readonly next: readonly RecordingView[];
  readonly steps?: string[];
  readonly parked?: ParkingRecord[];
}

async function run({ log, views, next, steps = [], parked }: Parts): Promise<Projector> {
  const of = (some: readonly RecordingView[]) => some as readonly unknown[] as readonly View[];
  return startProjector({
    ...{ log, decode, views: of(views), retryMs: { first: 1, max: 4 }, idleMs: 1, batchMax: 7 },
    onProgress: () => {},
    ...(parked && {
      parkingStore: {
        load: async () => parked,
        write: async (_, record) => void parked.push(record),
      },
    }),
    generations: {
      openStaging: async (names) => of(next.filter(({ name }) => names.includes(name))),
      makeLive: async (names) => {
        steps.push(`${names} in place`);
        return async () => void steps.push(`${names} dropped`);
      },
    },
  });
}

const at = (projector: Projector, view: string) => projector.progress()[view]?.position;

describe("a staging generation", () => {
  test("the staging generation comes to the position of the paused view, replaces it and continues", async () => {
    const log = createArrayLog(100);
    const [old, other, next] = [viewAt("a", 90), viewAt("b", 90), viewAt("a", 40)];
    const steps: string[] = [];
    const made = { ...other, followSources: async () => void steps.push("b follows") };
    const projector = await run({ log, views: [old, made], next: [next], steps });
    await soon(() => expect(old.at).toBe(100));
    await projector.prepare(["a"], []);
    log.extend(20);
    projector.wake();
    await soon(() => expect(other.at).toBe(120));
    // While the view is paused, both generations stand still.
    expect([old.at, next.at, at(projector, "a")]).toEqual([100, 100, 100]);
    await projector.resume(["a"], true);
    expect(steps).toEqual(["a in place", "a dropped", "b follows"]);
    expect(old.closed).toBe("keep");
    await soon(() => expect(next.at).toBe(120));
    expect(next.got).toEqual(range(1, 120));
    expect(old.at).toBe(100);
    await projector.stop();
  });

  test("a cancelled replacement drops the staging generation, and the view continues", async () => {
    const log = createArrayLog(50);
    const [old, next] = [viewAt("a", 50), viewAt("a", 50)];
    const projector = await run({ log, views: [old], next: [next] });
    await projector.prepare(["a"], []);
    log.extend(5);
    await projector.resume(["a"], false);
    await soon(() => expect(old.at).toBe(55));
    expect([next.at, next.closed]).toEqual([50, "keep"]);
    await projector.stop();
  });

  test("a staging generation that cannot catch up leaves the live view unchanged", async () => {
    const log = createArrayLog(50);
    const [old, next] = [viewAt("a", 50), viewAt("a", 10)];
    next.before = () => {
      throw new Error("disk full");
    };
    const projector = await run({ log, views: [old], next: [next] });
    await expect(projector.prepare(["a"], [])).rejects.toThrow("disk full");
    await expect(projector.resume(["a"], true)).rejects.toThrow(
      "its staging generation was closed",
    );
    log.extend(5);
    await soon(() => expect(old.at).toBe(55));
    await expect(projector.prepare(["nobody's"], [])).rejects.toThrow("does not project it");
    await projector.stop();
  });

  test("a staging generation replaces a failing view", async () => {
    const log = createArrayLog(50);
    const [old, next] = [viewAt("a", 20), viewAt("a", 50)];
    old.before = () => {
      throw new Error("damaged");
    };
    const projector = await run({ log, views: [old], next: [next] });
    await soon(() => expect(projector.progress().a?.error).toBe("damaged"));
    await projector.prepare(["a"], []);
    await projector.resume(["a"], true);
    await soon(() => expect(projector.progress()).toEqual({ a: { position: 50 } }));
    await projector.stop();
  });

  test("entities that were parked or restored meanwhile are restored in the staging generation", async () => {
    const log = createArrayLog(30);
    const [old, next] = [viewAt("a", 30), viewAt("a", 30)];
    const projector = await run({ log, views: [old], next: [next], parked: [] });
    const parked = { view: "a", urn: "urn:li:tag:a", position: position(5), reason: "", time: 0 };
    await projector.prepare(["a"], [parked]);
    expect(next.restored).toEqual(range(1, 30));
    expect(old.restored).toEqual([]);
    await projector.resume(["a"], true);
    await projector.stop();
  });

  test("a record that the staging generation alone cannot apply is parked", async () => {
    const log = createArrayLog(30);
    const [old, next] = [viewAt("a", 30), viewAt("a", 30)];
    next.sink.restore = async () => {
      throw new Error("too large");
    };
    const notes: ParkingRecord[] = [];
    const projector = await run({ log, views: [old], next: [next], parked: notes });
    const parked = { view: "a", urn: "urn:li:tag:a", position: position(5), reason: "", time: 0 };
    await projector.prepare(["a"], [parked]);
    expect(notes).toMatchObject([{ kind: "parked", position: 5, reason: "too large" }]);
    await projector.resume(["a"], true);
    expect(projector.progress().a?.parked).toBe(1);
    await projector.stop();
  });

  test("a replaced view misses no record and receives none twice, whatever fails", async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ append: fc.integer({ min: 1, max: 30 }) }),
        fc.record({ replace: fc.constantFrom("a", "b"), take: fc.boolean() }),
        fc.record({ fail: fc.constantFrom("a", "b") }),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const log = createArrayLog(10);
        const next = new Map<string, RecordingView>();
        let current = [viewAt("a", 0), viewAt("b", 5)];
        const projector = await startProjector({
          ...{ log, decode, views: current as readonly unknown[] as readonly View[] },
          ...{ retryMs: { first: 1, max: 2 }, idleMs: 1, batchMax: 7, onProgress: () => {} },
          generations: {
            openStaging: async ([name = ""]) =>
              [next.get(name)] as readonly unknown[] as readonly View[],
            makeLive: async () => async () => {},
          },
        });
        for (const step of all) {
          if ("append" in step) log.extend(step.append);
          else if ("fail" in step) {
            for (const view of current.filter(({ name }) => name === step.fail)) {
              let left = 2;
              view.before = () => {
                if (left-- > 0) throw new Error("busy");
              };
            }
          } else {
            const view = viewAt(step.replace, Math.floor((await log.head()) / 2));
            next.set(step.replace, view);
            await projector.prepare([step.replace], []);
            await projector.resume([step.replace], step.take);
            if (step.take) current = current.map((one) => (one.name === view.name ? view : one));
          }
        }
        const head = await log.head();
        await soon(() => expect(current.map((view) => view.at)).toEqual([head, head]));
        for (const view of current) expect(view.got).toEqual(range(1, head));
        await projector.stop();
      }),
      { numRuns: 30 },
    );
  });
});
