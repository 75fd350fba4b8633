/**
 * A change feed as texts, with heartbeats while nothing happens. It ends with an error where a record
 * of the log cannot be read; a client that resumes there is rejected.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ChangePage } from "../../catalog/catalog.ts";
import { isUnreadable } from "../../core/errors.ts";
import type { StreamForm } from "./change-text.ts";

/** Below the usual idle timeouts of proxies and load balancers. */
const heartbeatMs = 15_000;
/** Characters of one text, unless one change alone has more. */
const textMax = 256 * 1024;

const QUIET = Symbol("quiet");

export async function* feedTexts(
  pages: AsyncIterable<ChangePage>,
  form: StreamForm,
  options: { readonly signal: AbortSignal; readonly heartbeatMs?: number | undefined },
): AsyncIterable<string> {
  const { signal, heartbeatMs: every = heartbeatMs } = options;
  const source = pages[Symbol.asyncIterator]();
  let next = source.next();
  let begun = false;
  let position = 0 as ChangePage["position"];
  try {
    for (;;) {
      const won = await orQuiet(next, every);
      if (won === QUIET) {
        yield form.heartbeat(position);
        continue;
      }
      if (won.done === true) return;
      position = won.value.position;
      let text = begun ? "" : form.begin(position);
      begun = true;
      for (const change of won.value.changes) {
        text += form.change(change);
        if (text.length < textMax) continue;
        yield text;
        text = "";
      }
      if (text !== "") yield text;
      next = source.next();
    }
  } catch (error) {
    // The end of the stream aborts the wait; that is no error.
    if (signal.aborted) return;
    if (!isUnreadable(error)) throw error;
    yield form.fault(error, position);
  } finally {
    next.catch(() => undefined);
    await source.return?.();
  }
}

async function orQuiet<T>(next: Promise<T>, ms: number): Promise<T | typeof QUIET> {
  const over = new AbortController();
  try {
    return await Promise.race([
      next,
      pause(ms, QUIET, { signal: over.signal }).catch((): typeof QUIET => QUIET),
    ]);
  } finally {
    over.abort();
  }
}
