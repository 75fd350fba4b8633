/**
 * Responses without an end of their own. Limits bound their number, in total and per user, and the
 * duration of each. A client that reads nothing is disconnected. To continue, a client sends the last
 * position that it has.
 */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { CatalogError } from "../../core/errors.ts";
import type { StreamedBody } from "../schemas/endpoint.ts";

/** The reader of a stream, and the controller that ends the stream. */
interface StreamReader {
  /** Urn of the authenticated user; without one, the address of the client. */
  readonly name: string;
  readonly ending: AbortController;
}

export interface Streams {
  /**
   * Sends the body until it ends or `ending` aborts. Throws `rate_limited` when too many streams are open,
   * in all or of this reader.
   */
  send(body: StreamedBody, reply: FastifyReply, reader: StreamReader): Promise<FastifyReply>;
  /** Ends all streams, also those that start later. */
  close(): void;
}

export interface StreamLimits {
  readonly atOnceMax: number;
  /** Maximum number of open streams of one reader; 0 for no limit. */
  readonly perUserMax: number;
  /** Maximum duration; a client that reconnects is authorized again. */
  readonly lifeMsMax: number;
  /** Maximum time without reading before the client is disconnected. */
  readonly stalledMsMax: number;
}

export const streamLimits: StreamLimits = {
  atOnceMax: 100,
  perUserMax: 20,
  lifeMsMax: 3_600_000,
  stalledMsMax: 120_000,
};

/** Characters buffered per client, in addition to the socket's buffer. */
const WAITING_MAX = 64 * 1024;

/** `onFault`: called with the error that broke a started stream, which the client cannot receive. */
export function createStreams(limits: StreamLimits, onFault: (fault: Error) => void): Streams {
  const open = new Map<AbortController, string>();
  let closed = false;

  function begin({ name, ending }: StreamReader): void {
    const retry = { retryAfterSeconds: 10 };
    const { perUserMax } = limits;
    const own = [...open.values()].filter((other) => other === name).length;
    if (perUserMax > 0 && own >= perUserMax) {
      throw new CatalogError(
        "rate_limited",
        `"${name}" has ${own} open change feeds; at most ${perUserMax} are allowed`,
        {
          hint: "Close a feed, read page by page with Accept: application/json, or raise --streams-per-user-max",
          ...retry,
        },
      );
    }
    if (open.size >= limits.atOnceMax) {
      throw new CatalogError("rate_limited", `${open.size} feeds are open, as many as may be`, {
        hint: "Close a feed, read page by page with Accept: application/json, or raise --streams-max",
        ...retry,
      });
    }
    open.set(ending, name);
  }

  return {
    async send(body, reply, reader) {
      begin(reader);
      const { ending } = reader;
      const life = setTimeout(() => ending.abort(), limits.lifeMsMax).unref();
      const { raw } = reply;
      const end = (): void => {
        clearTimeout(life);
        ending.abort();
        open.delete(ending);
      };
      raw.once("close", end);
      if (closed || raw.destroyed) ending.abort();
      try {
        const texts = await body.open(ending.signal);
        // The response has failed meanwhile: its token has ended.
        if (reply.sent) return reply;
        const taken = whileTaken(texts, limits.stalledMsMax, () => raw.destroy());
        const options = { objectMode: false, highWaterMark: WAITING_MAX };
        const stream = Readable.from(taken, options);
        stream.on("error", (fault) => {
          if (!ending.signal.aborted) onFault(fault);
        });
        return reply.send(stream);
      } catch (error) {
        end();
        throw error;
      }
    },

    close() {
      closed = true;
      for (const ending of open.keys()) ending.abort();
    },
  };
}

/** Ends when the client does not take the next text in time. */
async function* whileTaken(
  texts: AsyncIterable<string>,
  stalledMsMax: number,
  disconnect: () => void,
): AsyncIterable<string> {
  for await (const text of texts) {
    const stalled = setTimeout(disconnect, stalledMsMax).unref();
    try {
      yield text;
    } finally {
      clearTimeout(stalled);
    }
  }
}
