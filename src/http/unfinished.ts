/**
 * Connections whose request never comes to its end: a stop does not wait for them. Those that have
 * sent a request whole are left to their answers.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

export interface Unfinished {
  /**
   * From now on a connection ends with its answer; after the grace those end, too, that have no
   * whole request under way.
   */
  cut(): void;
}

/** How long a request that has begun to come may go on coming, and how often is looked then. */
const graceMs = { first: 2_000, next: 500 };

/** Knows the connections that come from now on. */
export function watchUnfinished(server: Server): Unfinished {
  const requests = new Map<Socket, Set<IncomingMessage>>();
  let stopping = false;

  server.on("connection", (socket: Socket) => {
    requests.set(socket, new Set());
    socket.once("close", () => requests.delete(socket));
  });
  server.on("request", (request, response) => {
    const own = requests.get(request.socket);
    own?.add(request);
    response.once("close", () => {
      own?.delete(request);
      // It would be kept for a next request that nobody takes.
      if (stopping && own?.size === 0) request.socket.destroySoon();
    });
  });

  function look(): void {
    for (const [socket, own] of requests) {
      if (![...own].some((request) => request.complete)) socket.destroy();
    }
    if (requests.size > 0) setTimeout(look, graceMs.next).unref();
  }

  return {
    cut() {
      stopping = true;
      setTimeout(look, graceMs.first).unref();
    },
  };
}
