/** A start waits for a view that moves, and not for one that will not come. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { catchUp } from "../../src/projector/catch-up.ts";

const limits = { waitMsMax: 400, failingMsMax: 60, lookMs: 20 };
const unreached = new CatalogError("unavailable", "not there yet");

/** A view that is there after so long; `failing` tells what ails it after so many milliseconds. */
function view(afterMs: number, failing: (ms: number) => string | undefined = () => undefined) {
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
  };
}

test("waits as long as the view may come", async () => {
  await catchUp(view(150), "aspects", position(9), limits);
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
  const gone = { reached: () => Promise.reject(unreached), errors: () => ({ aspects: "gone" }) };
  await expect(catchUp(gone, "aspects", position(9), limits)).rejects.toBe(unreached);
});
