/**
 * Events of applied batches, sent from the projector's thread to the thread that records traces.
 */
import { BroadcastChannel } from "node:worker_threads";
import { messageOf } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { View } from "../sink.ts";

interface BatchEvent {
  readonly view: string;
  readonly writes: number;
  /** Position of the view after the batch. */
  readonly upTo: number;
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly error?: string | undefined;
}

/** Wraps a view so that it publishes each batch on the channel. */
export function publishBatches<V extends View>(view: V, channelName: string): V {
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
          channel.postMessage({ ...batch, end: Date.now() } satisfies BatchEvent);
        } catch (cause) {
          const error = messageOf(cause);
          channel.postMessage({ ...batch, end: Date.now(), error } satisfies BatchEvent);
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

export function subscribeToBatches(
  channelName: string,
  onBatch: (batch: BatchEvent) => void,
): { close(): void } {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = (message) => onBatch((message as { data: BatchEvent }).data);
  channel.unref();
  return { close: () => channel.close() };
}
