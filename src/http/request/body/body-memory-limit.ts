/**
 * Bounds the bytes of the request bodies in flight, over all connections: the received part of a body
 * counts until its response ends. A large body that exceeds the limit is rejected before it has arrived
 * completely. Small bodies have a reserve of their own, so that large ones do not block them.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { CatalogError } from "../../../core/errors.ts";

/** A parsed body takes some times the memory of its text. */
export const heldBytesMax = 32 * 1024 * 1024;
/** Bodies up to this size may use the reserve. */
const smallBytesMax = 1024 * 1024;
const RESERVE_BYTES = 32 * 1024 * 1024;

interface HeldBodies {
  /**
   * Counts the bytes of a body, decompressed; to be called before anything reads it. `ownMax`: the limit
   * of this body. Its reader rejects a larger one with 413.
   */
  watch(body: Readable, response: ServerResponse, ownMax: number): void;
  /** Number of counted bytes. */
  bytes(): number;
}

export function createHeldBodies(bytesMax: number): HeldBodies {
  let held = 0;

  return {
    watch(body, response, ownMax) {
      let own = 0;
      const count = (chunk: Buffer): void => {
        own += chunk.length;
        held += chunk.length;
        if (own > ownMax) {
          release();
          return;
        }
        const max = own <= smallBytesMax ? bytesMax + RESERVE_BYTES : bytesMax;
        if (held <= max) return;
        const error = noRoom(held, bytesMax);
        release();
        // The reader of the body sends the error and discards the rest of the body.
        body.emit("error", error);
      };
      const release = (): void => {
        body.off("data", count);
        held -= own;
        own = 0;
      };
      body.on("data", count);
      response.once("finish", release);
      response.once("close", release);
    },
    bytes: () => held,
  };
}

const noRoom = (held: number, bytesMax: number): CatalogError =>
  new CatalogError(
    "unavailable",
    `the bodies of all requests in flight have ${held} bytes; at most ${bytesMax} are allowed`,
    { hint: "Send the request again later, send fewer at a time, or raise --bodies-bytes-max" },
  );
