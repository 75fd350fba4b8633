/**
 * Bounds the bytes of request bodies that are held at once, over all connections: what has come of
 * a body counts until its request is answered. A large body that finds no room is refused before it
 * is read to its end; small ones always find some, so that the service stays in use meanwhile.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { CatalogError } from "../core/errors.ts";

/** A parsed body takes some times the memory of its text. */
export const heldBytesMax = 256 * 1024 * 1024;
/** Bodies up to this size are taken in any case. */
const smallBytesMax = 1024 * 1024;

export interface HeldBodies {
  /** Counts a body; to be called before anybody reads it. */
  watch(request: IncomingMessage, response: ServerResponse): void;
  /** How many bytes are held. */
  bytes(): number;
}

export function createHeldBodies(bytesMax: number): HeldBodies {
  let held = 0;

  return {
    watch(request, response) {
      const { "content-length": length = "0", "transfer-encoding": coding } = request.headers;
      if (length === "0" && coding === undefined) return;
      let own = 0;
      const count = (chunk: Buffer): void => {
        own += chunk.length;
        held += chunk.length;
        if (held <= bytesMax || own <= smallBytesMax) return;
        const error = noRoom(held, bytesMax);
        release();
        // The reader of the body answers with it, and what is still to come is passed over.
        request.emit("error", error);
      };
      const release = (): void => {
        request.off("data", count);
        held -= own;
        own = 0;
      };
      request.on("data", count);
      response.once("finish", release);
      response.once("close", release);
    },
    bytes: () => held,
  };
}

const noRoom = (held: number, bytesMax: number): CatalogError =>
  new CatalogError(
    "unavailable",
    `the bodies of all requests under way have ${held} bytes of at most ${bytesMax}`,
    { hint: "Send the request again in a moment, or fewer at a time" },
  );
