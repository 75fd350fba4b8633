/**
 * Wake-ups: messages that wake the projector after an append. One wake-up is pending at a time; the
 * projector replies with its position. Appends within some milliseconds share a wake-up, so that
 * small writes are batched. With a waiting caller, the wake-up is sent immediately.
 *
 * The projector may have read the log before the last append: if its reply is behind the head,
 * another wake-up follows. No wake-up is sent for applied records: the projector would not reply.
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

/** Delay of a wake-up after an append: after a pause (`first`), and under load (`next`). */
const WAKE_UP_DELAY_MS = { first: 5, next: 250 };

/** `send`: returns true if the projector runs. */
export function createWakeUps(send: () => boolean, delayMs = WAKE_UP_DELAY_MS): WakeUps {
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
    const { first, next } = delayMs;
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
