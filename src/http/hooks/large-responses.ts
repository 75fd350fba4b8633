/**
 * Bounds the memory of large responses, over all connections: their texts count until the client has
 * them. They are sent in pieces, so that no response delays others, and only one piece is copied at a
 * time. A client that reads nothing is disconnected.
 */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { CatalogError } from "../../core/errors.ts";
import { collectGarbageSoon, GARBAGE_BYTES } from "../../lib/collect-garbage.ts";
import { isRead } from "../request/is-read.ts";

/** Smaller responses are not counted. */
export const smallMax = 1024 * 1024;
/** Characters or bytes of a piece. */
const PIECE = 256 * 1024;

export interface ResponseLimits {
  /** Bytes, or characters, of all large responses; a larger one is sent when there is no other. */
  readonly bytesMax: number;
  /** Maximum time without reading. */
  readonly stalledMsMax: number;
}

export const responseLimits: ResponseLimits = {
  bytesMax: 128 * 1024 * 1024,
  stalledMsMax: 60_000,
};

/** Rejects reads with `unavailable` beyond the limit. To be added after the hook that compresses. */
export function limitLargeResponses(app: FastifyInstance, limits: ResponseLimits): void {
  let held = 0;

  function count(size: number, { raw }: FastifyReply): void {
    const { socket } = raw.req;
    // The client has disconnected: there is no further "close".
    if (socket.destroyed) return;
    held += size;
    // A response that waits for an earlier one on its connection ends with the connection.
    for (const one of [raw, socket]) one.on("close", release);
    function release(): void {
      for (const one of [raw, socket]) one.off("close", release);
      held -= size;
      if (size > GARBAGE_BYTES) collectGarbageSoon();
    }
    // Node.js closes a connection without progress in this time, or in the next.
    raw.setTimeout(limits.stalledMsMax);
  }

  app.addHook<unknown>("onSend", (request, reply, payload, done) => {
    const text = typeof payload === "string" || Buffer.isBuffer(payload) ? payload : "";
    if (text.length <= smallMax || request.method === "HEAD") {
      done(null, payload);
      return;
    }
    const endpoint = request.state?.endpoint;
    const exceeds = held > 0 && held + text.length > limits.bytesMax;
    // A write has happened already.
    if (exceeds && endpoint !== undefined && isRead(endpoint, request.body)) {
      collectGarbageSoon();
      done(noRoom(held, limits.bytesMax));
      return;
    }
    count(text.length, reply);
    // The length of a large text in bytes would take long to count.
    if (typeof text !== "string") reply.header("content-length", String(text.length));
    done(null, Readable.from(piecesOf(text), { objectMode: false }));
  });
}

function* piecesOf(text: string | Buffer): Iterable<string | Buffer> {
  for (let start = 0, end: number; start < text.length; start = end) {
    end = endOfPiece(text, start + PIECE);
    yield typeof text === "string" ? text.slice(start, end) : text.subarray(start, end);
  }
}

/** The end of a piece that does not split a character of two code units. */
function endOfPiece(text: string | Buffer, end: number): number {
  const splits = typeof text === "string" && (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return splits ? end + 1 : end;
}

const noRoom = (held: number, bytesMax: number): CatalogError =>
  new CatalogError(
    "unavailable",
    `the responses that clients have not read yet have ${held} bytes; at most ${bytesMax} are allowed`,
    {
      hint: "Send the request again later, request fewer entities at a time, or raise --responses-bytes-max",
    },
  );
