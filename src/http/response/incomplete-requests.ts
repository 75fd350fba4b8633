/**
 * Connections with incomplete requests: a stop does not wait for them. Complete requests get their
 * responses.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

interface Unfinished {
  /**
   * From now on connections close after their response; after the grace period also those without
   * a complete request in flight.
   */
  cut(): void;
  /** The responses in flight: those that are not completely sent yet. */
  responses(): Iterable<ServerResponse>;
}

/** Time for incomplete requests to arrive, and the interval of checks after it. */
const graceMs = { first: 2_000, next: 500 };

/** Tracks connections that open from now on. */
export function watchUnfinished(server: Server): Unfinished {
  const connections = new Map<Socket, Set<ServerResponse>>();
  let stopping = false;

  server.on("connection", (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    const own = connections.get(socket);
    if (own === undefined) return;
    own.add(response);
    // Sent, or the client has disconnected. The connection must not keep the response in memory.
    response.once("close", () => {
      own.delete(response);
      // No further request is served.
      if (stopping && own.size === 0) socket.destroySoon();
    });
  });

  function checkConnections(): void {
    for (const [socket, own] of connections) {
      if (!own.values().some(({ req }) => req.complete)) socket.destroy();
    }
    if (connections.size > 0) setTimeout(checkConnections, graceMs.next).unref();
  }

  return {
    *responses() {
      for (const own of connections.values()) yield* own;
    },

    cut() {
      stopping = true;
      setTimeout(checkConnections, graceMs.first).unref();
    },
  };
}
