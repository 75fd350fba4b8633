/**
 * Batches of views, told to whoever listens in the process: views are fed in a thread of their own,
 * which knows nothing of traces.
 */
import { BroadcastChannel } from "node:worker_threads";
import { saidBy } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { View } from "./sink.ts";

export interface ToldBatch {
  readonly view: string;
  readonly writes: number;
  /** Position that the view has with it. */
  readonly upTo: number;
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly error?: string | undefined;
}

/** The view, telling each batch on the channel of that name. */
export function tellBatches<V extends View>(view: V, channelName: string): V {
  const channel = new BroadcastChannel(channelName);
  channel.unref();
  const { sink } = view;
  return {
    ...view,
    sink: {
      ...sink,
      async apply(writes: readonly unknown[], upTo: Position, record?: string) {
        const start = Date.now();
        const batch = { view: view.name, writes: writes.length, upTo, start };
        try {
          await sink.apply(writes, upTo, record);
          channel.postMessage({ ...batch, end: Date.now() } satisfies ToldBatch);
        } catch (cause) {
          const error = saidBy(cause);
          channel.postMessage({ ...batch, end: Date.now(), error } satisfies ToldBatch);
          throw cause;
        }
      },
      async close(outcome?: "keep" | "discard") {
        channel.close();
        await sink.close(outcome);
      },
    },
  };
}

export function hearBatches(
  channelName: string,
  onBatch: (batch: ToldBatch) => void,
): { close(): void } {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = (message) => onBatch((message as { data: ToldBatch }).data);
  channel.unref();
  return { close: () => channel.close() };
}
