/**
 * Pokes: messages that wake the projector because the log has grown. One is sent at a time, and the
 * next when the projector has answered it with its position. Appends of some milliseconds share
 * one, so that small writes are applied together; a poke that somebody waits for is sent at once.
 *
 * The projector may have read before the last append. If its answer is behind that, another poke
 * follows. No poke is sent about what the projector has: it would not be answered.
 */
import type { Position } from "../core/position.ts";

export interface Pokes {
  /** The log has grown to a position. */
  poke(position: Position): void;
  /** Somebody waits for the projector. */
  flush(): void;
  /** The projector's foremost view is at a position. */
  reached(position: number): void;
}

/** How much later a poke is sent: the first after a pause, and the next after one. */
const GATHERED_MS = { first: 5, next: 250 };

/** `send` returns whether the projector runs. */
export function createPokes(send: () => boolean, gatheredMs = GATHERED_MS): Pokes {
  let head = 0;
  let foremost = 0;
  let unanswered = false;
  let waited = false;
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function sendNow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (unanswered) return;
    waited = false;
    if (foremost >= head) return;
    sentAt = performance.now();
    unanswered = send();
  }

  function sendSoon(): void {
    if (timer !== undefined || foremost >= head) return;
    const { first, next } = gatheredMs;
    timer = setTimeout(sendNow, Math.max(first, sentAt + next - performance.now())).unref();
  }

  return {
    poke(position) {
      head = Math.max(head, position);
      sendSoon();
    },
    flush() {
      waited = true;
      sendNow();
    },
    reached(position) {
      foremost = position;
      unanswered = false;
      if (waited) sendNow();
      else sendSoon();
    },
  };
}
