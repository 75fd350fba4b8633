/**
 * Sends items in batches, several at a time, without changing the order of those that belong
 * together: items of one key go through one lane, and a lane has one batch under way at most.
 */
import { crc32 } from "node:zlib";

export interface Lanes<T> {
  /**
   * Resolves when there is room for the next. Rejects when a batch of its lane was not sent: then
   * no more of that lane is.
   */
  add(item: T): Promise<void>;
  /** Resolves when everything was sent, rejects when something was not. */
  drain(): Promise<void>;
}

interface LanesOptions<T> {
  readonly count: number;
  readonly batchMax: number;
  readonly batchBytesMax: number;
  readonly keyOf: (item: T) => string;
  readonly bytesOf: (item: T) => number;
  /** True when the two can be in one batch. */
  readonly mix: (a: T, b: T) => boolean;
  readonly send: (batch: readonly T[]) => Promise<void>;
}

interface Lane<T> {
  batch: T[];
  bytes: number;
  /** The batch under way, or the last one. */
  sending: Promise<void>;
}

export function createLanes<T>(options: LanesOptions<T>): Lanes<T> {
  const { count, batchMax, batchBytesMax, keyOf, bytesOf, mix, send } = options;
  const lanes = Array.from(
    { length: count },
    (): Lane<T> => ({ batch: [], bytes: 0, sending: Promise.resolve() }),
  );

  /** Waits for the batch before: that is what keeps memory bounded and a lane in order. */
  async function flush(lane: Lane<T>): Promise<void> {
    await lane.sending;
    if (lane.batch.length === 0) return;
    lane.sending = send(lane.batch);
    // The next caller that awaits the lane gets the error; until then it must not be an unhandled
    // rejection.
    lane.sending.catch(() => {});
    lane.batch = [];
    lane.bytes = 0;
  }

  return {
    async add(item) {
      const lane = lanes[crc32(keyOf(item)) % count] as Lane<T>;
      const bytes = bytesOf(item);
      const [first] = lane.batch;
      const fits =
        first === undefined ||
        (lane.batch.length < batchMax && lane.bytes + bytes <= batchBytesMax && mix(first, item));
      if (!fits) await flush(lane);
      lane.batch.push(item);
      lane.bytes += bytes;
    },

    async drain() {
      const ends = lanes.map(async (lane) => {
        await flush(lane);
        await lane.sending;
      });
      const failed = (await Promise.allSettled(ends)).find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}
