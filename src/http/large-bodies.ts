/**
 * Bodies that are too large for the main thread: another thread parses and validates them. The door
 * hands over the bytes and gets proposals with validated values, or the parsed body.
 */
import type { Proposal } from "../catalog/catalog.ts";
import type { Ask } from "./endpoint.ts";

/** Larger bodies are read by another thread: to parse and validate 1 MiB takes up to 300 ms. */
export const largeBytes = 256 * 1024;

export interface LargeBody {
  /** endpointId of the endpoint that takes it. */
  readonly endpoint: string;
  /** It changes hands. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentEncoding: string | undefined;
  /** The request without its body. */
  readonly ask: Pick<Ask, "key" | "path" | "parameters">;
  /** Aborts when the response has ended, whether it was sent or its client left. */
  readonly signal: AbortSignal;
}

/** A body that has been validated. */
export interface ReadBody {
  readonly body: unknown;
  /** Of an endpoint that has `proposals`: in the place of the body, which is undefined. */
  readonly proposals?: readonly Proposal[];
}

export interface LargeBodies {
  /**
   * Rejects with the CatalogError of a body that is refused; `unavailable` where its turn does not come
   * in time.
   */
  read(large: LargeBody): Promise<ReadBody>;
}

/** A read body in the place of the request's body: the framework passes it on as it is. */
export class ReadBodyHolder {
  readonly read: ReadBody;

  constructor(read: ReadBody) {
    this.read = read;
  }
}

/** The bytes in a buffer of their own, which can be transferred to another thread. */
export function transferable(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = body;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === body.length;
  return whole ? new Uint8Array(buffer) : Uint8Array.from(body);
}
