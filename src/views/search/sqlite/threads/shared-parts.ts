/**
 * Parts of segments in memory that the reader threads share. The first thread that needs a part
 * loads it and sends it to the others. A lock ensures that no part is loaded twice.
 */
import { type BroadcastChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { Range } from "../segments/bytes.ts";
import type { SegmentRow } from "../segments/segment.ts";

interface PartMessage {
  readonly segment: string;
  readonly offset: number;
  readonly memory: Uint8Array;
}

/** Includes the content checksum: ids are not unique across files that replace each other. */
const keyOf = ({ id, bytes, content }: SegmentRow): string => `${id} ${bytes} ${content}`;

export class SharedParts {
  private readonly lock: Int32Array;
  private readonly channel: BroadcastChannel;
  /** Parts by segment, then by offset. */
  private readonly parts = new Map<string, Map<number, Uint8Array>>();

  constructor(lock: SharedArrayBuffer, channel: BroadcastChannel) {
    this.lock = new Int32Array(lock);
    this.channel = channel;
    channel.onmessage = ({ data }) => this.take(data as PartMessage);
    channel.unref();
  }

  /** Evicts the parts of all other segments. */
  retain(segments: readonly SegmentRow[]): void {
    const keys = new Set(segments.map(keyOf));
    for (const key of this.parts.keys()) if (!keys.has(key)) this.parts.delete(key);
  }

  private take({ segment, offset, memory }: PartMessage): void {
    const parts = this.parts.get(segment) ?? new Map<number, Uint8Array>();
    this.parts.set(segment, parts);
    parts.set(offset, memory);
  }

  /** Loads a part with `read` if no thread has loaded it. */
  load(segment: SegmentRow, part: Range, read: () => Uint8Array): Uint8Array {
    const key = keyOf(segment);
    const known = this.parts.get(key)?.get(part[0]);
    if (known !== undefined) return known;
    const { lock } = this;
    while (Atomics.compareExchange(lock, 0, 0, 1) !== 0) Atomics.wait(lock, 0, 1);
    try {
      for (let sent = this.receive(); sent !== undefined; sent = this.receive()) this.take(sent);
      const loaded = this.parts.get(key)?.get(part[0]);
      if (loaded !== undefined) return loaded;
      const memory = new Uint8Array(new SharedArrayBuffer(part[1]));
      memory.set(read());
      const message: PartMessage = { segment: key, offset: part[0], memory };
      this.channel.postMessage(message);
      this.take(message);
      return memory;
    } finally {
      Atomics.store(lock, 0, 0);
      Atomics.notify(lock, 0);
    }
  }

  private receive(): PartMessage | undefined {
    // Node takes channels as well; its types do not say so.
    const port: object = this.channel;
    return receiveMessageOnPort(port as MessagePort)?.message as PartMessage | undefined;
  }
}
