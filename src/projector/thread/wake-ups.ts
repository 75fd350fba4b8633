/**
 * Wake-ups: messages that wake the projector after an append. One is sent at a time, and the next when
 * the projector has answered with its position. Appends within some milliseconds share a wake-up, so
 * that small writes are applied together; with a pending wait, it is sent at once.
 *
 * The projector may have read the log before the last append: if its answer is behind the head, another
 * wake-up follows. None is sent for records that the projector has applied: it would not answer.
 */
import type { Position } from "../../core/position.ts";

interface WakeUps {
  /** The log has a new head. */
  appended(position: Position): void;
  /** A caller waits for the projector: sends a delayed wake-up now. */
  flush(): void;
  /** The highest position of the projector's views. */
  reached(position: number): void;
}

/** Delay of a wake-up after an append: of the first after a pause, and of the next ones. */
const GATHERED_MS = { first: 5, next: 250 };

/** `send` returns whether the projector runs. */
export function createWakeUps(send: () => boolean, gatheredMs = GATHERED_MS): WakeUps {
  let head = 0;
  let highestPosition = 0;
  let unanswered = false;
  let hasWaiter = false;
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function sendNow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (unanswered) return;
    hasWaiter = false;
    if (highestPosition >= head) return;
    sentAt = performance.now();
    unanswered = send();
  }

  function sendSoon(): void {
    if (timer !== undefined || highestPosition >= head) return;
    const { first, next } = gatheredMs;
    timer = setTimeout(sendNow, Math.max(first, sentAt + next - performance.now())).unref();
  }

  return {
    appended(position) {
      head = Math.max(head, position);
      sendSoon();
    },
    flush() {
      hasWaiter = true;
      sendNow();
    },
    reached(position) {
      highestPosition = position;
      unanswered = false;
      if (hasWaiter) sendNow();
      else sendSoon();
    },
  };
}
