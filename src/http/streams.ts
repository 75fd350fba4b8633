/**
 * Answers that have no end of their own. As many as there may be at once, each for a bounded time,
 * and none longer than its reader takes what is sent: whoever goes on afterwards asks again from the
 * place that it has.
 */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { CatalogError } from "../core/errors.ts";
import type { StreamedBody } from "./endpoint.ts";

export interface Streams {
  /** Throws `rate_limited` when too many are open. The reply ends with the body. */
  send(body: StreamedBody, reply: FastifyReply): Promise<FastifyReply>;
  /** Ends all, and every one that begins from now on. */
  close(): void;
}

export interface StreamLimits {
  readonly atOnceMax: number;
  /** After so long it ends; the reader asks again, and is judged again. */
  readonly lifeMsMax: number;
  /** A reader that takes nothing for so long is let go. */
  readonly stalledMsMax: number;
}

export const streamLimits: StreamLimits = {
  atOnceMax: 100,
  lifeMsMax: 3_600_000,
  stalledMsMax: 120_000,
};

/** Characters that wait for a reader, beside what the system holds for the connection. */
const WAITING_MAX = 64 * 1024;

/** `onFault` is told what broke a stream that had begun: nobody else can be. */
export function createStreams(limits: StreamLimits, onFault: (fault: Error) => void): Streams {
  const open = new Set<AbortController>();
  let closed = false;

  function begin(): AbortController {
    if (open.size >= limits.atOnceMax) {
      throw new CatalogError("rate_limited", `${open.size} feeds are open, as many as may be`, {
        hint: "End one that nobody reads, or read page by page with Accept: application/json",
        retryAfterSeconds: 10,
      });
    }
    const ending = new AbortController();
    open.add(ending);
    return ending;
  }

  return {
    async send(body, reply) {
      const ending = begin();
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
      for (const ending of open) ending.abort();
    },
  };
}

/** Lets go when nobody asks for the next text in time. */
async function* whileTaken(
  texts: AsyncIterable<string>,
  stalledMsMax: number,
  letGo: () => void,
): AsyncIterable<string> {
  for await (const text of texts) {
    const stalled = setTimeout(letGo, stalledMsMax).unref();
    try {
      yield text;
    } finally {
      clearTimeout(stalled);
    }
  }
}
