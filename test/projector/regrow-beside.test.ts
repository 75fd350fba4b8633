/** Growing views beside those in use, whatever the log and the other views do meanwhile. */
import { expect, test, vi } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { regrowBeside } from "../../src/projector/regrow-beside.ts";
import type { View } from "../../src/projector/sink.ts";
import { createArrayLog, createRecordingView, decode, range } from "./array-log.ts";

const parts = {
  decode,
  notes: { load: async () => [] },
  onProgress: () => {},
  signal: new AbortController().signal,
};

test("comes to its end beside writers that never rest", async () => {
  const log = createArrayLog(10_000);
  const head = async () => {
    log.grow(6_000);
    return log.head();
  };
  const view = createRecordingView("graph");
  const hastes = new Set<number>();
  await regrowBeside({
    ...parts,
    log: { ...log, head },
    views: [view as unknown as View],
    onNear: log.head,
    rest: async (_, haste) => void hastes.add(haste),
  });
  expect(view.at).toBe(await log.head());
  expect(view.closed).toBe("keep");
  // It let them have less and less.
  expect([...hastes]).toEqual([1, 2, 4, 8, 16]);
});

test("is in no haste where it comes nearer", async () => {
  const log = createArrayLog(10_000);
  const view = createRecordingView("graph");
  const hastes = new Set<number>();
  await regrowBeside({
    ...{ ...parts, log, views: [view as unknown as View], onNear: log.head },
    rest: async (_, haste) => void hastes.add(haste),
  });
  expect([...hastes]).toEqual([1]);
});

test("waits for a log that does not answer for a moment", async () => {
  const log = createArrayLog(100);
  const readAll = vi.fn(log.readAll);
  for (let n = 0; n < 2; n++) readAll.mockRejectedValueOnce(new CatalogError("unavailable", "no"));
  const view = createRecordingView("graph");
  await regrowBeside({
    ...parts,
    log: { ...log, readAll },
    views: [view as unknown as View],
    onNear: log.head,
  });
  expect(view.got).toEqual(range(1, 100));
});

test("is in place before what it replaces is cleared away, and never behind that", async () => {
  const log = createArrayLog(100);
  const view = createRecordingView("graph");
  const told: string[] = [];
  let inPlace = 100;
  const sink = {
    ...view.sink,
    async publish() {
      told.push(`publish at ${view.at}`);
      if (view.at >= inPlace) return;
      throw new CatalogError("conflict", `the one in place is at ${inPlace}`);
    },
    async close(outcome?: "keep" | "discard") {
      told.push(`close: ${outcome}`);
    },
  };
  await regrowBeside({
    ...{ ...parts, log, views: [{ ...view, sink } as unknown as View] },
    async onNear() {
      // Somebody else goes on with the other one, and is further by now.
      log.grow(20);
      inPlace = 120;
      return position(100);
    },
    onInPlace: () => void told.push("in place"),
  });
  expect(told).toEqual(["publish at 100", "publish at 120", "in place", "close: keep"]);
});

test("is compared where it stands still, and comes near once more", async () => {
  const log = createArrayLog(100);
  const view = createRecordingView("graph");
  const told: string[] = [];
  const sink = {
    ...view.sink,
    grown: async () => ({ position: position(view.at) }),
    publish: async () => void told.push(`publish at ${view.at}`),
  };
  const whole = { ...parts, log, views: [{ ...view, sink } as unknown as View] };
  await regrowBeside({
    ...whole,
    async onGrown(grown) {
      told.push(`compare at ${grown.graph?.position}`);
      log.grow(20);
    },
    async onNear() {
      told.push(`near at ${view.at}`);
      return log.head();
    },
  });
  expect(told).toEqual(["compare at 100", "near at 120", "publish at 120"]);
  expect(view.closed).toBe("keep");

  told.length = 0;
  const growing = regrowBeside({
    ...whole,
    onGrown: () => Promise.reject(new CatalogError("internal", "it lacks a row")),
    onNear: () => Promise.reject(new Error("nothing is to be replaced")),
  });
  await expect(growing).rejects.toThrow("it lacks a row");
  expect(told).toEqual([]);
  expect(view.closed).toBe("discard");
});
