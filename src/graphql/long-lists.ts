/**
 * Lists of thousands of items. `graphql` completes a list in one piece, which blocks the thread for seconds if
 * an aspect has some 100,000 properties. An item that is a promise is completed on its own. A completed
 * item takes about a kilobyte, so the items of a request are limited.
 */
import { CatalogError } from "../core/errors.ts";
import type { AcquireSlot } from "../lib/concurrency-limit.ts";

const pieceItems = 1_000;
/** Of a completed item, about. */
const ITEM_BYTES = 1_024;
/** Maximum number of items of all long lists of a request. */
const itemsMax = 100_000;
/** A request with more items is a large one. */
const smallItemsMax = 10_000;

/** The long lists of one request. */
export interface LongLists {
  /** Throws `too_large` when the lists of the request have too many items; may wait for other requests. */
  admit(items: number): Promise<void>;
}

export const isLong = (items: number): boolean => items > pieceItems;

/** `acquireSlot`: waits until no other large request runs. */
export function createLongLists(acquireSlot: AcquireSlot): LongLists {
  let admitted = 0;
  return {
    async admit(items) {
      admitted += items;
      if (admitted > itemsMax) {
        const what = `the lists of the query have ${admitted} items; at most ${itemsMax} are allowed`;
        throw new CatalogError("too_large", what, {
          hint: "Ask for fewer lists, or read the aspect at GET /aspects/<urn>?aspect=<name>",
        });
      }
      if (admitted > smallItemsMax) await acquireSlot(admitted * ITEM_BYTES);
    },
  };
}

/** The same items. Other work of the thread runs between two pieces of them. */
export function inPieces(items: readonly unknown[]): readonly unknown[] {
  let yielded: Promise<void> = Promise.resolve();
  return items.map((item, index) => {
    if (index < pieceItems) return item;
    if (index % pieceItems === 0) yielded = yielded.then(yieldToEventLoop);
    return yielded.then(() => item);
  });
}

const yieldToEventLoop = () => new Promise<void>((begin) => setImmediate(begin));
