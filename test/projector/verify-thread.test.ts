/** The thread that verifies views (src/projector/verify/verify-thread.ts) while it gives way. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { verifyInThread } from "../../src/projector/verify/verifying.ts";
import { restOf } from "../../src/projector/watch-busy.ts";
import { workedMs } from "./resting-verification.ts";

const module = new URL("resting-verification.ts", import.meta.url).href;
const asked = { module, config: {}, views: [], grade: "full", urns: [] } as const;
/** After each part, or longer. */
const restMs = workedMs * restOf(1);

/** This thread, which answers, has much to do: that is what is given way to. */
let working: NodeJS.Timeout;
beforeEach(() => {
  working = setInterval(() => {
    const until = performance.now() + 15;
    while (performance.now() < until);
  }, 20);
});
afterEach(() => clearInterval(working));

interface Begun {
  /** Resolves when it has rested once: it rests again then. */
  readonly rested: Promise<void>;
  readonly ended: Promise<unknown>;
}

function begin(
  options: { readonly signal: AbortSignal; readonly ready?: Promise<void> },
  growers?: number,
): Begun {
  const rested = Promise.withResolvers<void>();
  const onProgress = (_: number, restedMs: number) => {
    if (restedMs >= restMs) rested.resolve();
  };
  const ended = verifyInThread({ ...asked, growers }, { ...options, onProgress });
  ended.catch(() => {});
  return { rested: rested.promise, ended };
}

const givenUp = { code: "unavailable", message: "it was given up" };

test("is given up while it rests", async () => {
  const stopping = new AbortController();
  const { rested, ended } = begin({ signal: stopping.signal });
  await rested;
  // In the middle of its next rest.
  await new Promise((resolve) => setTimeout(resolve, restMs / 2));
  stopping.abort();
  await expect(ended).rejects.toMatchObject(givenUp);
});

test("is given up while it rests when what it waits for does not come", async () => {
  const ready = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const { rested, ended } = begin({ signal, ready: ready.promise }, 1);
  await rested;
  await new Promise((resolve) => setTimeout(resolve, restMs / 2));
  ready.reject(new CatalogError("internal", "the growing has failed"));
  await expect(ended).rejects.toMatchObject(givenUp);
});
