/** Building staging generations while the log and the live generations change. */
import { expect, test, vi } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { buildStaging } from "../../src/projector/rebuild/staging.ts";
import type { View } from "../../src/projector/sink.ts";
import { createArrayLog, createRecordingView, decode, range } from "./array-log.ts";

const parts = {
  decode,
  parkingStore: { load: async () => [] },
  onProgress: () => {},
  signal: new AbortController().signal,
};

test("a build ends although writers never pause", async () => {
  const log = createArrayLog(10_000);
  const head = async () => {
    log.extend(6_000);
    return log.head();
  };
  const view = createRecordingView("graph");
  await buildStaging({
    ...parts,
    log: { ...log, head },
    views: [view as unknown as View],
    onNear: log.head,
  });
  expect(view.at).toBe(await log.head());
  expect(view.closed).toBe("keep");
});

test("a build waits for a log that is briefly unavailable", async () => {
  const log = createArrayLog(100);
  const readAll = vi.fn(log.readAll);
  for (let n = 0; n < 2; n++) readAll.mockRejectedValueOnce(new CatalogError("unavailable", "no"));
  const view = createRecordingView("graph");
  await buildStaging({
    ...parts,
    log: { ...log, readAll },
    views: [view as unknown as View],
    onNear: log.head,
  });
  expect(view.got).toEqual(range(1, 100));
});

test("a generation is published before the live one is removed, and never behind it", async () => {
  const log = createArrayLog(100);
  const view = createRecordingView("graph");
  const steps: string[] = [];
  let livePosition = 100;
  const sink = {
    ...view.sink,
    async publish() {
      steps.push(`publish at ${view.at}`);
      if (view.at >= livePosition) return;
      throw new CatalogError("conflict", `the one in place is at ${livePosition}`);
    },
    async close(outcome?: "keep" | "discard") {
      steps.push(`close: ${outcome}`);
    },
  };
  await buildStaging({
    ...{ ...parts, log, views: [{ ...view, sink } as unknown as View] },
    async onNear() {
      // Another process moves the live generation meanwhile.
      log.extend(20);
      livePosition = 120;
      return position(100);
    },
    onLive: () => void steps.push("in place"),
  });
  expect(steps).toEqual(["publish at 100", "publish at 120", "in place", "close: keep"]);
});

test("a view in a server is verified at a fixed position, and then catches up again", async () => {
  const log = createArrayLog(100);
  const view = createRecordingView("graph");
  const steps: string[] = [];
  const sink = {
    ...view.sink,
    staged: async () => ({ position: position(view.at) }),
    publish: async () => void steps.push(`publish at ${view.at}`),
  };
  const whole = { ...parts, log, views: [{ ...view, sink } as unknown as View] };
  await buildStaging({
    ...whole,
    async onStaged(staged) {
      steps.push(`compare at ${staged.graph?.position}`);
      log.extend(20);
    },
    async onNear() {
      steps.push(`near at ${view.at}`);
      return log.head();
    },
  });
  expect(steps).toEqual(["compare at 100", "near at 120", "publish at 120"]);
  expect(view.closed).toBe("keep");

  steps.length = 0;
  const building = buildStaging({
    ...whole,
    onStaged: () => Promise.reject(new CatalogError("internal", "it lacks a row")),
    onNear: () => Promise.reject(new Error("nothing is to be replaced")),
  });
  await expect(building).rejects.toThrow("it lacks a row");
  expect(steps).toEqual([]);
  expect(view.closed).toBe("discard");
});
