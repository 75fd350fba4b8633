/**
 * Ends responses whose access token ends while they are in flight: change feeds, long polls, slow uploads
 * and downloads. One timer checks the tokens of all responses in flight against the newest states. So
 * requests have no extra cost, and nodes that share a log agree.
 *
 * A write whose body has arrived completely still gets its response, which reports what was written.
 */
import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { CatalogError } from "../../core/errors.ts";
import { isRead } from "../request/is-read.ts";
import type { RequestState } from "../request/parse-request.ts";

export interface EndedTokens {
  /** Registers a response before its request is handled. */
  watch(reply: FastifyReply, state: RequestState): void;
  close(): void;
}

interface Dependencies {
  /** The responses in flight. */
  readonly responses: () => Iterable<ServerResponse>;
  /** The error that ends responses to this Authorization header; undefined while its token is valid. */
  readonly endOf: (authorization: string) => Promise<CatalogError | undefined>;
}

/** Time between two checks. A response ends at most two checks and one read after its token. */
const checkMs = 250;

const mark = Symbol("watched");
interface Watched {
  readonly reply: FastifyReply;
  readonly state: RequestState;
  /** The token has ended, and the response was asked to end. */
  ending?: boolean;
}
type Marked = ServerResponse & { [mark]?: Watched };

export function endWithTokens({ responses, endOf }: Dependencies): EndedTokens {
  const underCheck = new Set<string>();

  function check(): void {
    const byToken = new Map<string, Watched[]>();
    for (const response of responses()) {
      const watched = (response as Marked)[mark];
      const { authorization } = response.req.headers;
      if (watched === undefined || authorization === undefined) continue;
      if (underCheck.has(authorization)) continue;
      byToken.set(authorization, [...(byToken.get(authorization) ?? []), watched]);
    }
    for (const [authorization, watched] of byToken) {
      underCheck.add(authorization);
      endOf(authorization)
        .then((fault) => {
          if (fault !== undefined) for (const one of watched) end(one, fault);
        })
        // States that cannot be read now are read by the next check.
        .catch(() => undefined)
        .finally(() => underCheck.delete(authorization));
    }
  }

  const timer = setInterval(check, checkMs).unref();
  return {
    watch(reply, state) {
      (reply.raw as Marked)[mark] = { reply, state };
    },
    close: () => clearInterval(timer),
  };
}

/** The first call asks the response to end, the second one closes the connection. */
function end(watched: Watched, fault: CatalogError): void {
  const { reply, state, ending } = watched;
  const { raw } = reply;
  if (raw.closed || state.endpoint === undefined || state.endpoint.open === true) return;
  state.ending?.abort();
  if (raw.headersSent) {
    if (ending === true) raw.destroy();
    watched.ending = true;
  } else if (!reply.sent && (!raw.req.complete || isRead(state.endpoint, reply.request.body))) {
    reply.send(fault);
  }
}
