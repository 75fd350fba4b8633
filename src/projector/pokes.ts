/**
 * Pokes on their way to a projector, one at a time: the next is sent when the last was answered, so
 * that a thousand appends in a row cost it a handful of messages.
 *
 * The projector answers by telling a position that it has come to. What it read then may have been
 * read before the last append, which is told after the answer. A poke about what it has already is
 * not sent: it would not be answered, and hold back the next.
 */
import type { Position } from "../core/position.ts";

export interface Pokes {
  /** The log has come to a position. */
  poke(position: Position): void;
  /** The projector has told that its foremost view is at a position. */
  reached(position: number): void;
}

/** `send` tells whether anybody was there to be sent to. */
export function createPokes(send: () => boolean): Pokes {
  let head = 0;
  let foremost = 0;
  let sent = false;
  const sendOnce = (): void => {
    if (!sent && foremost < head) sent = send();
  };
  return {
    poke(position) {
      head = Math.max(head, position);
      sendOnce();
    },
    reached(position) {
      foremost = position;
      sent = false;
      sendOnce();
    },
  };
}
