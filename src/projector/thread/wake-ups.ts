/**
 * WakeUps: messages that wake the projector after an append. One is sent at a time, and the next when
 * the projector has answered with its position. Appends within some milliseconds share a poke, so that
 * small writes are applied together; with a pending wait, it is sent at once.
 *
 * The projector may have read before the last append: if its answer is behind the head, another poke
 * follows. No poke is sent for records that the projector has applied: it would not answer.
 */
import type { Position } from "../../core/position.ts";

export interface WakeUps {
  /** The log has a new head. */
  poke(position: Position): void;
  /** A caller waits for the projector: sends a delayed poke now. */
  flush(): void;
  /** The highest position of the projector's views. */
  reached(position: number): void;
}

/** How much later a poke is sent: the first after a pause, and the next after one. */
const GATHERED_MS = { first: 5, next: 250 };

/** `send` returns whether the projector runs. */
export function createWakeUps(send: () => boolean, gatheredMs = GATHERED_MS): WakeUps {
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
