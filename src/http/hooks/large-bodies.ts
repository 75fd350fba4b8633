/**
 * Bodies that are too large for the main thread: the body thread parses and validates them. It gets the
 * bytes and returns proposals with validated values, or the parsed body.
 */
import { largeCharacters, type Proposal } from "../../catalog/catalog.ts";
import type { ApiRequest, Endpoint } from "../schemas/endpoint.ts";

/** The body thread reads larger bodies. */
export const largeBytes = largeCharacters;

export interface LargeBody {
  /** The endpoint that takes it; `id` is its endpointId. */
  readonly endpoint: Pick<Endpoint, "name" | "body"> & { readonly id: string };
  /** Transferred to the body thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The request without its body. */
  readonly request: Pick<ApiRequest, "key" | "path" | "parameters">;
  /** Aborts when the response was sent or the client has disconnected. */
  readonly signal: AbortSignal;
}

/** A body that has been validated. */
interface ReadBody {
  readonly body: unknown;
  /** For an endpoint with `proposals`: replace the body, which is then undefined. */
  readonly proposals?: readonly Proposal[];
}

export interface LargeBodies {
  /**
   * Rejects with the CatalogError of an invalid body; with `unavailable` when the body waits too long.
   */
  read(large: LargeBody): Promise<ReadBody>;
}

/** Wraps a read body, so that the framework passes it on unchanged as the request's body. */
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
