import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import { type ProjectorProgress, startProjector } from "../../src/projector/projector.ts";
import type { Projector, ProjectorParts } from "../../src/projector/projector-parts.ts";
import type { View } from "../../src/projector/sink.ts";
import {
  type ArrayLog,
  createArrayLog,
  createRecordingView,
  decode,
  type RecordingView,
  range,
} from "./array-log.ts";

const running: Projector[] = [];
afterEach(async () => {
  for (const projector of running.splice(0)) await projector.stop();
});

async function start(
  log: ArrayLog,
  views: readonly RecordingView[],
  options: Partial<ProjectorParts> = {},
): Promise<Projector> {
  const projector = await startProjector({
    log,
    views: views as readonly unknown[] as readonly View[],
    decode,
    onProgress: () => {},
    retryMs: { first: 1, max: 4 },
    idleMs: 2,
    ...options,
  });
  running.push(projector);
  return projector;
}

const reaches = (view: RecordingView, at: number) => soon(() => expect(view.at).toBe(at));

/** A busy machine takes time. */
const soon = <T>(check: () => T) => vi.waitFor(check, { timeout: 60_000, interval: 2 });

const everything = (view: RecordingView, last: number) => expect(view.got).toEqual(range(1, last));

describe("views that follow the log", () => {
  test("views receive every record in order, and positions are reported", async () => {
    const log = createArrayLog(250);
    const views = [createRecordingView("a"), createRecordingView("b")];
    const reports: ProjectorProgress[] = [];
    await start(log, views, { batchMax: 100, onProgress: (progress) => reports.push(progress) });
    for (const view of views) await reaches(view, 250);
    for (const view of views) everything(view, 250);
    const positions = [100, 200, 250].map((at) => ({ a: { position: at }, b: { position: at } }));
    expect(reports).toEqual(positions);
  });

  test("views share pages and decoded records", async () => {
    const log = createArrayLog(250);
    const decoded = vi.fn(decode);
    const views = [createRecordingView("a"), createRecordingView("b")];
    await start(log, views, { batchMax: 100, decode: decoded });
    for (const view of views) await reaches(view, 250);
    expect(decoded).toHaveBeenCalledTimes(250);
    expect(log.pages).toEqual([
      [1, 100],
      [101, 200],
      [201, 250],
    ]);
  });

  test("views start at their checkpoints", async () => {
    const log = createArrayLog(20);
    const view = createRecordingView("a", { at: position(15) });
    const projector = await start(log, [view]);
    expect(projector.progress()).toEqual({ a: { position: 15 } });
    await reaches(view, 20);
    expect(view.got).toEqual(range(16, 20));
  });

  test("views are not fed by a log that ends before their checkpoint", async () => {
    const view = createRecordingView("a", { at: position(15) });
    await expect(start(createArrayLog(14), [view])).rejects.toMatchObject({
      code: "unavailable",
      message: 'the view "a" is at position 15, but the log ends at 14',
      hint: expect.stringContaining("npm run -s annals -- rebuild"),
    });
    expect(view.got).toEqual([]);
  });

  test("views skip records that they ignore", async () => {
    const log = createArrayLog(10);
    const view = createRecordingView("a", { ignores: (at) => at > 4 });
    await start(log, [view]);
    await reaches(view, 10);
    expect(view.got).toEqual(range(1, 4));
  });

  test("views skip records without a change", async () => {
    const view = createRecordingView("a");
    await start(createArrayLog(10), [view], {
      decode: (record) => (record.position % 2 === 0 ? undefined : decode(record)),
    });
    await reaches(view, 10);
    expect(view.got).toEqual([1, 3, 5, 7, 9]);
  });

  test("views receive a new record at once when the projector is notified", async () => {
    const log = createArrayLog();
    const view = createRecordingView("a");
    const projector = await start(log, [view], { idleMs: 600_000 });
    for (const at of range(1, 30)) {
      log.extend(1);
      projector.wake();
      await reaches(view, at);
    }
    everything(view, 30);
  });

  test("views receive a new record soon without a notification", async () => {
    const log = createArrayLog();
    const view = createRecordingView("a");
    await start(log, [view], { idleMs: 2 });
    log.extend(3);
    await reaches(view, 3);
  });

  test("batches are limited in bytes", async () => {
    const log = createArrayLog(20, 8 * 1024 * 1024);
    const view = createRecordingView("a");
    await start(log, [view]);
    await reaches(view, 20);
    expect(view.batches).toEqual([4, 4, 4, 4, 4]);
  });
});

describe("a view that is behind", () => {
  test("a view behind does not delay the others, and shares pages when it reaches the next", async () => {
    const log = createArrayLog(1_000);
    const late = createRecordingView("late");
    const early = createRecordingView("early", { at: position(950) });
    // The early view is done before the late one has got further than a batch.
    early.after = () => expect(late.got.length).toBeLessThanOrEqual(100);
    await start(log, [late, early], { batchMax: 100 });
    await reaches(late, 1_000);
    expect(early.at).toBe(1_000);
    everything(late, 1_000);
    expect(early.got).toEqual(range(951, 1_000));
    early.after = () => {};
    log.pages.length = 0;
    log.extend(5);
    await reaches(late, 1_005);
    expect(log.pages).toEqual([[1_001, 1_005]]);
  });

  test("a view less than a batch behind is waited for, and does not overtake the next", async () => {
    const log = createArrayLog(100);
    const decoded = vi.fn(decode);
    const late = createRecordingView("late");
    const early = createRecordingView("early", { at: position(5) });
    await start(log, [late, early], { batchMax: 10, decode: decoded });
    await reaches(late, 100);
    await reaches(early, 100);
    everything(late, 100);
    expect(early.got).toEqual(range(6, 100));
    expect(decoded).toHaveBeenCalledTimes(100);
  });
});

test("a view that waits for a stuck view does not keep the projector busy", async () => {
  const countBetween = vi.fn((from: Position, to: Position) => to - from);
  const log = Object.assign(createArrayLog(10), { countBetween });
  const source = createRecordingView("source", { at: position(3) });
  source.before = () => {
    throw new Error("the store is away");
  };
  const made = Object.assign(createRecordingView("made", { at: position(3) }), {
    builtFrom: ["source"],
    costly: true,
  });
  const ahead = Object.assign(createRecordingView("ahead", { at: position(5) }), { costly: true });
  await start(log, [source, made, ahead], {
    idleMs: 600_000,
    retryMs: { first: 600_000, max: 600_000 },
  });
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  const before = countBetween.mock.calls.length;
  for (let n = 0; n < 100; n++) await new Promise(setImmediate);
  expect(countBetween.mock.calls.length - before).toBeLessThan(10);
});

describe("a costly view", () => {
  const costly = (view: RecordingView) => Object.assign(view, { costly: true });

  test("a costly view gets one turn in four while others progress, and all turns afterwards", async () => {
    const log = createArrayLog(100);
    const quick = createRecordingView("quick");
    const slow = costly(createRecordingView("slow"));
    const order: string[] = [];
    let before = { quick: 0, slow: 0 };
    await start(log, [quick, slow], {
      batchMax: 10,
      onProgress: () => {
        if (quick.at > before.quick) order.push("quick");
        if (slow.at > before.slow) order.push("slow");
        before = { quick: quick.at, slow: slow.at };
      },
    });
    await reaches(slow, 100);
    for (const view of [quick, slow]) everything(view, 100);
    const four = ["quick", "quick", "quick", "quick", "slow"];
    expect(order.slice(0, 12)).toEqual([...four, ...four, "quick", "quick"]);
    expect(order.slice(12).every((one) => one === "slow")).toBe(true);
  });

  test("a costly view uses cached pages, and reads older ones itself", async () => {
    const log = createArrayLog(100);
    const quick = createRecordingView("quick");
    const slow = costly(createRecordingView("slow"));
    quick.at = position(50);
    await start(log, [quick, slow], { batchMax: 10 });
    await reaches(slow, 100);
    expect(slow.got).toEqual(range(1, 100));
    const firsts = log.pages.map(([first]) => first).toSorted((a, b) => a - b);
    expect(firsts).toEqual([1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
  });

  test("a costly view receives a new record at once like the others", async () => {
    const log = createArrayLog(1);
    const quick = createRecordingView("quick");
    const slow = costly(createRecordingView("slow"));
    const projector = await start(log, [quick, slow], { idleMs: 60_000 });
    await reaches(slow, 1);
    log.extend(1);
    projector.wake();
    await reaches(slow, 2);
    everything(quick, 2);
  });
});

describe("a view that fails", () => {
  test("a failing view is reported, does not delay the others, and catches up when it recovers", async () => {
    const log = createArrayLog(20);
    const failing = createRecordingView("failing");
    const other = createRecordingView("other");
    failing.before = () => {
      throw new Error("disk is full");
    };
    const projector = await start(log, [failing, other], { batchMax: 10 });
    await reaches(other, 20);
    log.extend(20);
    await reaches(other, 40);
    expect(projector.progress()).toEqual({
      failing: { position: 0, error: "disk is full" },
      other: { position: 40 },
    });
    failing.before = () => {};
    await reaches(failing, 40);
    everything(failing, 40);
    everything(other, 40);
    await soon(() => expect(projector.progress().failing).toEqual({ position: 40 }));
  });

  test("a failing view is tried again after pauses that double up to a limit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 0 });
    try {
      const view = createRecordingView("a");
      const attempts: number[] = [];
      view.before = () => {
        attempts.push(Date.now());
        throw new Error("not yet");
      };
      await start(createArrayLog(1), [view], { retryMs: { first: 20, max: 80 }, idleMs: 5 });
      for (let ms = 0; ms < 320; ms++) {
        await vi.advanceTimersByTimeAsync(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const pauses = attempts.slice(1).map((at, n) => at - (attempts[n] ?? 0));
      expect(pauses).toEqual([20, 40, 80, 80, 80]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a batch that was stored despite an error is not applied again", async () => {
    const log = createArrayLog(10);
    const view = createRecordingView("a");
    view.after = () => {
      view.after = () => {};
      throw new Error("the answer was lost");
    };
    await start(log, [view], { batchMax: 4 });
    await reaches(view, 10);
    everything(view, 10);
  });

  test("a view keeps failing while its position is unknown", async () => {
    const log = createArrayLog(5);
    const view = createRecordingView("a");
    view.before = () => {
      throw new Error("gone");
    };
    let asked = 0;
    const sink = {
      ...view.sink,
      position: async () => {
        asked++;
        if (asked === 2 || asked === 3) throw new Error("still gone");
        if (asked === 4) view.before = () => {};
        return view.at;
      },
    };
    const errors: unknown[] = [];
    await start(log, [{ ...view, sink }], {
      onProgress: (progress) => errors.push(progress.a?.error),
      // The pause is over before the answer comes, which must not count as another failure.
      retryMs: { first: 0, max: 0 },
    });
    await reaches(view, 5);
    everything(view, 5);
    expect(errors).toEqual(["gone", "still gone", "still gone", undefined]);
  });
});

describe("a record that cannot be processed", () => {
  test("an undecodable record stops all views right before it, until it can be decoded", async () => {
    const log = createArrayLog(10);
    const views = [createRecordingView("a"), createRecordingView("b")];
    let readable = false;
    const projector = await start(log, views, {
      decode: (record) => {
        if (record.position === 7 && !readable) throw new Error("no such schema");
        return decode(record);
      },
    });
    for (const view of views) await reaches(view, 6);
    const error = "record at position 7 could not be decoded: no such schema";
    await soon(() =>
      expect(projector.progress()).toEqual({
        a: { position: 6, error },
        b: { position: 6, error },
      }),
    );
    readable = true;
    for (const view of views) await reaches(view, 10);
    for (const view of views) everything(view, 10);
  });

  test("a record that one view cannot project stops that view alone, right before it", async () => {
    const log = createArrayLog(10);
    const failing = createRecordingView("failing");
    const other = createRecordingView("other");
    const failingProjection: RecordingView = {
      ...failing,
      project: (change) => {
        if (change.position === 7) throw new Error("no version");
        return [change.position];
      },
    };
    const projector = await start(log, [failingProjection, other]);
    await reaches(other, 10);
    await soon(() =>
      expect(projector.progress().failing).toEqual({
        position: 6,
        error: 'change at position 7 of "urn:li:tag:a" could not be projected: no version',
      }),
    );
    everything(failing, 6);
  });

  test("an unreadable record is read when the log recovers", async () => {
    const log = createArrayLog(10);
    log.failure = new Error("log is away");
    const view = createRecordingView("a");
    const projector = await start(log, [view]);
    await soon(() => expect(projector.progress().a?.error).toBe("log is away"));
    log.failure = undefined;
    await reaches(view, 10);
    await soon(() => expect(projector.progress().a).toEqual({ position: 10 }));
  });
});

describe("stopping the projector", () => {
  test("a stop waits for the batch in flight and starts no other", async () => {
    const log = createArrayLog(100);
    const view = createRecordingView("a");
    const inFlight = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    view.before = () => {
      inFlight.resolve();
      return finish.promise;
    };
    const projector = await start(log, [view], { batchMax: 10 });
    await inFlight.promise;
    let stopped = false;
    const stop = projector.stop().then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(stopped).toBe(false);
    finish.resolve();
    await stop;
    expect(view.at).toBe(10);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(view.at).toBe(10);
    expect(projector.progress()).toEqual({ a: { position: 10 } });
  });

  test("a stop of an idle projector is immediate and can be repeated", async () => {
    const projector = await start(createArrayLog(), [createRecordingView("a")], {
      idleMs: 600_000,
    });
    await projector.stop();
    await projector.stop();
  });
});

test("a view with an unknown position prevents the start", async () => {
  const view = createRecordingView("a");
  const sink = { ...view.sink, position: () => Promise.reject(new Error("no such table")) };
  await expect(start(createArrayLog(), [{ ...view, sink }])).rejects.toThrow("no such table");
});

test("every view receives every record once, in order, whatever fails on the way", async () => {
  const failures = fc.array(fc.constantFrom("none", "none", "before", "after"), { maxLength: 12 });
  const begin = fc.integer({ min: 0, max: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(begin, failures), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 25 }),
      async (given, batchMax) => {
        const log = createArrayLog(60);
        const views = given.map(([at, outcomes], n) => {
          const view = createRecordingView(`view ${n}`, { at: position(at) });
          const left = [...outcomes];
          let outcome: string | undefined;
          view.before = () => {
            outcome = left.shift();
            if (outcome === "before") throw new Error("not kept");
          };
          view.after = () => {
            if (outcome === "after") throw new Error("kept, but who knows");
          };
          return view;
        });
        const projector = await start(log, views, { batchMax, retryMs: { first: 0, max: 1 } });
        log.extend(20);
        projector.wake();
        for (const view of views) await reaches(view, 80);
        await projector.stop();
        for (const [n, view] of views.entries()) {
          expect(view.got).toEqual(range((given[n]?.[0] ?? 0) + 1, 80));
        }
      },
    ),
    { numRuns: 40 },
  );
});

describe("restoring", () => {
  test("a restore gives each view the records up to its position, between two batches", async () => {
    const log = createArrayLog(50);
    const [near, far] = ["near", "far"].map((name) => createRecordingView(name)) as [
      RecordingView,
      RecordingView,
    ];
    far.before = () => {
      if (far.got.length >= 20) throw new Error("no room");
    };
    const projector = await start(log, [near, far], { batchMax: 10 });
    await reaches(near, 50);
    expect(await projector.restore(["urn:li:tag:a"])).toEqual([]);
    expect(near.restored).toEqual(range(1, 50));
    expect(far.restored).toEqual(range(1, 20));
    expect(near.batches).toHaveLength(5);
  });

  test("a stopped projector rejects a restore", async () => {
    const projector = await start(createArrayLog(1), [createRecordingView("a")]);
    const stopping = projector.stop();
    const unavailable = expect.objectContaining({ code: "unavailable" });
    await expect(projector.restore(["urn:li:tag:a"])).rejects.toEqual(unavailable);
    await stopping;
  });
});

describe("deferred work of a view", () => {
  test("deferred work is done part by part while the view continues", async () => {
    const log = createArrayLog(10);
    const view = createRecordingView("a");
    let parts = 0;
    const sink = {
      ...view.sink,
      maintain: async () => {
        parts++;
        if (parts === 5) log.extend(10);
        return parts < 30;
      },
    };
    await start(log, [{ ...view, sink }], { idleMs: 60_000 });
    await reaches(view, 20);
    await soon(() => expect(parts).toBeGreaterThanOrEqual(30));
    everything(view, 20);
  });

  test("a failure of deferred work is a failure of the view, and is tried again", async () => {
    const view = createRecordingView("a");
    let broken = true;
    let parts = 0;
    const sink = {
      ...view.sink,
      async maintain() {
        if (broken) throw new Error("disk is full");
        parts++;
        return false;
      },
    };
    const errors: unknown[] = [];
    await start(createArrayLog(3), [{ ...view, sink }], {
      onProgress: (progress) => errors.push(progress.a?.error),
      retryMs: { first: 1, max: 1 },
      idleMs: 1,
    });
    await soon(() => expect(errors).toContain("disk is full"));
    broken = false;
    await soon(() => expect(parts).toBeGreaterThan(0));
    await soon(() => expect(errors.at(-1)).toBeUndefined());
  });
});
