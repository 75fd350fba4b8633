/**
 * Sends items in batches, several at a time, without changing the order of those that belong
 * together: items of one key go through one queue, and a queue has one batch under way at most.
 */
import { crc32 } from "node:zlib";

export interface BatchSender<T> {
  /**
   * Resolves when there is room for the next. Rejects when a batch of its queue was not sent: then
   * no more of that queue is.
   */
  add(item: T): Promise<void>;
  /** Resolves when everything was sent, rejects when something was not. */
  drain(): Promise<void>;
}

interface BatchSenderOptions<T> {
  readonly count: number;
  readonly batchMax: number;
  readonly batchBytesMax: number;
  readonly keyOf: (item: T) => string;
  readonly bytesOf: (item: T) => number;
  /** True when the two can be in one batch. */
  readonly mix: (a: T, b: T) => boolean;
  readonly send: (batch: readonly T[]) => Promise<void>;
}

interface Queue<T> {
  batch: T[];
  bytes: number;
  /** The batch under way, or the last one. */
  sending: Promise<void>;
}

export function createBatchSender<T>(options: BatchSenderOptions<T>): BatchSender<T> {
  const { count, batchMax, batchBytesMax, keyOf, bytesOf, mix, send } = options;
  const queues = Array.from(
    { length: count },
    (): Queue<T> => ({ batch: [], bytes: 0, sending: Promise.resolve() }),
  );

  /** Waits for the batch before: that is what keeps memory bounded and a queue in order. */
  async function flush(queue: Queue<T>): Promise<void> {
    await queue.sending;
    if (queue.batch.length === 0) return;
    queue.sending = send(queue.batch);
    // The next caller that awaits the queue gets the error; until then it must not be an unhandled
    // rejection.
    queue.sending.catch(() => {});
    queue.batch = [];
    queue.bytes = 0;
  }

  return {
    async add(item) {
      const queue = queues[crc32(keyOf(item)) % count] as Queue<T>;
      const bytes = bytesOf(item);
      const [first] = queue.batch;
      const fits =
        first === undefined ||
        (queue.batch.length < batchMax && queue.bytes + bytes <= batchBytesMax && mix(first, item));
      if (!fits) await flush(queue);
      queue.batch.push(item);
      queue.bytes += bytes;
    },

    async drain() {
      const ends = queues.map(async (queue) => {
        await flush(queue);
        await queue.sending;
      });
      const failed = (await Promise.allSettled(ends)).find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}
