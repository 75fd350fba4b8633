/** A start waits for a view that progresses, and fails for a view that does not. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { catchUp } from "../../src/projector/thread/catch-up.ts";

const limits = { waitMsMax: 400, failingMsMax: 60, pollMs: 20 };
const unreached = new CatalogError("unavailable", "not there yet");

/**
 * A view that is complete after this time. `failing` returns its error after that many milliseconds; its position changes
 * every `movesMs`.
 */
function view(
  afterMs: number,
  failing: (ms: number) => string | undefined = () => undefined,
  movesMs = Number.POSITIVE_INFINITY,
) {
  const started = performance.now();
  const passed = () => performance.now() - started;
  return {
    async reached(_view: string, _head: unknown, { timeoutMs }: { timeoutMs: number }) {
      // Not read from the clock again: a timer may end a moment early.
      const left = afterMs - passed();
      await pause(Math.max(0, Math.min(timeoutMs, left)));
      if (left > timeoutMs) throw unreached;
    },
    errors(): Readonly<Record<string, string>> {
      const why = failing(passed());
      return why === undefined ? {} : { aspects: why };
    },
    positions: () => ({ aspects: position(Math.floor(passed() / movesMs)) }),
  };
}

test("a start waits until the view has caught up", async () => {
  await catchUp(view(150), "aspects", position(9), limits);
});

test("a view that progresses gets more time than one that does not", async () => {
  const own = { ...limits, waitMsMax: Number.POSITIVE_INFINITY, stalledMsMax: 200 };
  await catchUp(view(600, undefined, 50), "aspects", position(9), own);
  const still = catchUp(view(10_000), "aspects", position(9), own);
  await expect(still).rejects.toBe(unreached);
  const bounded = catchUp(view(10_000, undefined, 50), "aspects", position(9), limits);
  await expect(bounded).rejects.toBe(unreached);
});

test("a view may fail for a while", async () => {
  const failing = (ms: number) => (ms < 45 || (ms > 80 && ms < 120) ? "busy" : undefined);
  await catchUp(view(200, failing), "aspects", position(9), limits);
});

test("a start fails with the error of a view that keeps failing", async () => {
  const coming = catchUp(
    view(10_000, () => "log is damaged"),
    "aspects",
    position(9),
    limits,
  );
  await expect(coming).rejects.toMatchObject({
    code: "unavailable",
    message: 'the view "aspects" does not reach the end of the log: log is damaged',
  });
});

test("a start fails when the time is up, and at once without a projector", async () => {
  const started = performance.now();
  await expect(catchUp(view(10_000), "aspects", position(9), limits)).rejects.toBe(unreached);
  expect(performance.now() - started).toBeGreaterThan(390);
  const gone = {
    reached: () => Promise.reject(unreached),
    errors: () => ({ aspects: "gone" }),
    positions: () => ({}),
  };
  await expect(catchUp(gone, "aspects", position(9), limits)).rejects.toBe(unreached);
});
