/** Views in a server, which projectors of several processes may feed. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { type Position, position } from "../../src/core/position.ts";
import { startProjector } from "../../src/projector/projector.ts";
import type { Projector, ProjectorParts } from "../../src/projector/projector-parts.ts";
import type { View } from "../../src/projector/sink.ts";
import { type ArrayLog, createArrayLog, createRecordingView, decode, range } from "./array-log.ts";

const running: Projector[] = [];
afterEach(async () => {
  for (const projector of running.splice(0)) await projector.stop();
});

/** The rows of the server, and a view of it for each process: the checkpoint is compared and set. */
function createServer() {
  const rows: Position[] = [];
  let at = position(0);
  const counts = { conflicts: 0 };
  function open(shared: "leader" | "standby"): View & { readonly applied: number[] } {
    const view = createRecordingView("graph");
    const applied: number[] = [];
    let known: Position | undefined;
    return {
      ...(view as unknown as View),
      shared,
      applied,
      sink: {
        ...view.sink,
        async position() {
          known = at;
          return at;
        },
        async apply(writes, upTo) {
          // Other processes get a turn between the read and the write of the checkpoint.
          await new Promise((resolve) => setImmediate(resolve));
          if (known !== at) {
            counts.conflicts++;
            throw new CatalogError("conflict", "moved by another projector");
          }
          rows.push(...(writes as Position[]));
          applied.push(upTo);
          at = upTo;
          known = upTo;
        },
      },
    };
  }
  return { open, rows, counts, position: () => at };
}

async function start(
  log: ArrayLog,
  view: View,
  options: Partial<ProjectorParts> = {},
): Promise<Projector> {
  const projector = await startProjector({
    ...{ log, views: [view], decode, onProgress: () => {} },
    ...{ retryMs: { first: 1, max: 4 }, idleMs: 2, takeOverMs: 60, ...options },
  });
  running.push(projector);
  return projector;
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 2 });

describe("a view in a server", () => {
  test("one of two projectors feeds the view, and each record is applied once", async () => {
    const log = createArrayLog(100);
    const server = createServer();
    const views = [server.open("leader"), server.open("leader")];
    for (const view of views) await start(log, view, { batchMax: 7 });
    for (let n = 0; n < 20; n++) {
      log.extend(10);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await soon(() => expect(server.position()).toBe(300));
    expect(server.rows).toEqual(range(1, 300));
    // The standby does not compete after it lost once.
    expect(server.counts.conflicts).toBeLessThan(10);
  });

  test("the standby takes over when the active projector ends", async () => {
    const log = createArrayLog(10);
    const server = createServer();
    const [first, second] = [server.open("leader"), server.open("leader")];
    const one = await start(log, first);
    const other = await start(log, second);
    await soon(() => expect(server.position()).toBe(10));
    const [active, idle] = first.applied.length > 0 ? [one, other] : [other, one];
    // The standby has to notice that it is one.
    log.extend(10);
    await soon(() => expect(server.position()).toBe(20));
    await active.stop();
    log.extend(10);
    await soon(() => expect(server.position()).toBe(30));
    expect(server.rows).toEqual(range(1, 30));
    await soon(() => expect(idle.progress()).toEqual({ graph: { position: 30 } }));
  });

  test("an unresponsive view does not delay others, whether watched or failing", async () => {
    const log = createArrayLog(10);
    const server = createServer();
    const silent = createServer();
    let silence = false;
    const muted = (shared: "leader" | "standby"): View => {
      const view = silent.open(shared);
      const never = () => new Promise<never>(() => {});
      return {
        ...view,
        name: `silent ${shared}`,
        sink: {
          ...view.sink,
          position: () => (silence ? never() : view.sink.position()),
          async apply() {
            silence = true;
            throw new CatalogError("unavailable", "the server is slow");
          },
        },
      };
    };
    const feeder = createServer();
    await start(log, feeder.open("leader"));
    const views = [muted("standby"), server.open("standby"), muted("leader")];
    const reported: number[] = [];
    const watcher = await startProjector({
      ...{ log, views, decode, idleMs: 2, takeOverMs: 60, retryMs: { first: 1, max: 4 } },
      onProgress: (progress) => reported.push(progress.graph?.position ?? 0),
    });
    await soon(() => expect(silence).toBe(true));
    await start(log, server.open("leader"));
    log.extend(10);
    await soon(() => expect(reported.at(-1)).toBe(20));
    await soon(() => expect(feeder.position()).toBe(20));
    void watcher.stop();
  });

  test("a watched view is never fed, and its position is reported", async () => {
    const log = createArrayLog(10);
    const server = createServer();
    const watched = server.open("standby");
    const watcher = await start(log, watched, { takeOverMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.position()).toBe(0);
    await start(log, server.open("leader"));
    await soon(() =>
      expect(watcher.progress()).toEqual({ graph: { position: 10, elsewhere: true } }),
    );
    expect(watched.applied).toEqual([]);
  });

  test("a view of another model is left to its projector, and taken over when that ends", async () => {
    const log = createArrayLog(10);
    const server = createServer();
    const own = await start(log, server.open("leader"));
    await soon(() => expect(server.position()).toBe(10));
    const other = { ...server.open("leader"), builtWithAnotherModel: () => true };
    const projector = await start(log, other);
    expect(projector.progress()).toEqual({ graph: { position: 10, elsewhere: true } });
    for (let n = 0; n < 10; n++) {
      log.extend(1);
      own.wake();
      await soon(() => expect(server.position()).toBe(11 + n));
    }
    expect([other.applied, server.counts.conflicts]).toEqual([[], 0]);
    await own.stop();
    // A projector does not take over a view that is not behind.
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(projector.progress()).toEqual({ graph: { position: 20, elsewhere: true } });
    log.extend(5);
    await soon(() => expect(projector.progress()).toEqual({ graph: { position: 25 } }));
  });

  test("an awaited view publishes its position for other processes, whatever it ignores", async () => {
    const log = createArrayLog(10);
    const server = createServer();
    const ignoring = { ...server.open("leader"), project: () => [] };
    await start(log, { ...ignoring, awaited: true });
    await soon(() => expect(server.position()).toBe(10));
  });

  test("only the process that feeds the view can restore entities", async () => {
    const log = createArrayLog(3);
    const server = createServer();
    const watcher = await start(log, server.open("standby"));
    expect(await watcher.restore(["urn:li:tag:a"])).toEqual([
      {
        ...{ urn: "urn:li:tag:a", view: "graph", elsewhere: true },
        reason: expect.stringContaining("role projector"),
      },
    ]);
  });
});
