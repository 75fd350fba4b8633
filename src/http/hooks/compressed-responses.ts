/**
 * Compresses responses for clients that accept it. Streams stay as they are: each change must reach its reader
 * at once. So do small responses, which would gain nothing.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import { codingFor, compress } from "./content-coding.ts";

/** Smaller responses fit one packet anyway. */
const charactersMin = 1_024;
/** Bounds the memory of compressors. More responses at a time are sent uncompressed. */
const atOnceMax = 32;
/** The proxy of DataHub's web container sends it, and drops Content-Encoding from responses. */
const PROXY_HEADER = "x-datahub-request-source";

export function compressResponses(app: FastifyInstance): void {
  let running = 0;
  app.addHook<unknown>("onSend", (request, reply, payload, done) => {
    if (typeof payload !== "string" || payload.length < charactersMin) {
      if (reply.statusCode === 304) vary(reply);
      done(null, payload);
      return;
    }
    vary(reply);
    const { headers, method } = request;
    const accepted = headers["accept-encoding"];
    const coding =
      accepted === undefined || method === "HEAD" || headers[PROXY_HEADER] !== undefined
        ? undefined
        : codingFor(String(accepted));
    const fixed = request.state?.fixed;
    if (coding === undefined || (fixed === undefined && running >= atOnceMax)) {
      done(null, payload);
      return;
    }
    running++;
    const compressed =
      fixed?.text === payload ? fixed.compressed(coding) : compress(payload, coding, "fast");
    compressed
      .finally(() => running--)
      .then(
        (bytes) => {
          // Meanwhile the token of the request has ended, and an error was sent (ended-tokens.ts).
          if (reply.raw.headersSent) return;
          reply.header("content-encoding", coding);
          done(null, bytes);
        },
        (error: Error) => {
          if (!reply.raw.headersSent) done(error);
        },
      );
  });
}

function vary(reply: FastifyReply): void {
  const names = reply.getHeader("vary");
  reply.header("vary", names === undefined ? "Accept-Encoding" : `${names}, Accept-Encoding`);
}
