/** A start waits for a view that moves, and not for one that will not come. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { catchUp } from "../../src/projector/thread/catch-up.ts";

const limits = { waitMsMax: 400, failingMsMax: 60, lookMs: 20 };
const unreached = new CatalogError("unavailable", "not there yet");

/**
 * A view that is complete after so long. `failing` returns its error after so many milliseconds; its position changes
 * every `movesMs`.
 */
function view(
  afterMs: number,
  failing: (ms: number) => string | undefined = () => undefined,
  movesMs = Number.POSITIVE_INFINITY,
) {
  const begun = performance.now();
  const passed = () => performance.now() - begun;
  return {
    async reached(_view: string, _head: unknown, { timeoutMs }: { timeoutMs: number }) {
      await pause(Math.max(0, Math.min(timeoutMs, afterMs - passed())));
      if (passed() < afterMs - 1) throw unreached;
    },
    errors(): Readonly<Record<string, string>> {
      const why = failing(passed());
      return why === undefined ? {} : { aspects: why };
    },
    positions: () => ({ aspects: position(Math.floor(passed() / movesMs)) }),
  };
}

test("waits as long as the view may come", async () => {
  await catchUp(view(150), "aspects", position(9), limits);
});

test("a view that moves is waited for longer than one that stands still", async () => {
  const own = { ...limits, waitMsMax: Number.POSITIVE_INFINITY, stillMsMax: 200 };
  await catchUp(view(600, undefined, 50), "aspects", position(9), own);
  const still = catchUp(view(10_000), "aspects", position(9), own);
  await expect(still).rejects.toBe(unreached);
  const bounded = catchUp(view(10_000, undefined, 50), "aspects", position(9), limits);
  await expect(bounded).rejects.toBe(unreached);
});

test("bears a view that fails for a while", async () => {
  const failing = (ms: number) => (ms < 45 || (ms > 80 && ms < 120) ? "busy" : undefined);
  await catchUp(view(200, failing), "aspects", position(9), limits);
});

test("ends with the reason of a view that keeps failing", async () => {
  const coming = catchUp(
    view(10_000, () => "log is damaged"),
    "aspects",
    position(9),
    limits,
  );
  await expect(coming).rejects.toMatchObject({
    code: "unavailable",
    message: 'the view "aspects" does not come to the end of the log: log is damaged',
  });
});

test("ends when the time is up, and when nobody waits at all", async () => {
  const begun = performance.now();
  await expect(catchUp(view(10_000), "aspects", position(9), limits)).rejects.toBe(unreached);
  expect(performance.now() - begun).toBeGreaterThan(390);
  const gone = {
    reached: () => Promise.reject(unreached),
    errors: () => ({ aspects: "gone" }),
    positions: () => ({}),
  };
  await expect(catchUp(gone, "aspects", position(9), limits)).rejects.toBe(unreached);
});
