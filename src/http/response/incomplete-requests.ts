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
  const connections = new Map<Socket, ServerResponse[]>();
  let stopping = false;

  server.on("connection", (socket: Socket) => {
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    const own = connections.get(request.socket);
    if (own === undefined) return;
    // Finished responses are removed with the next request, which is cheaper than a listener each.
    const over = own.every(isOver);
    own[over ? 0 : own.length] = response;
    if (over) own.length = 1;
    if (stopping) endWith(response, own);
  });

  /** Closes the connection after its last response, because no further request is served. */
  function endWith(response: ServerResponse, own: readonly ServerResponse[]): void {
    response.once("close", () => {
      if (own.every(isOver)) response.req.socket.destroySoon();
    });
  }

  function look(): void {
    for (const [socket, own] of connections) {
      const whole = own.some((one) => !isOver(one) && one.req.complete);
      if (!whole) socket.destroy();
    }
    if (connections.size > 0) setTimeout(look, graceMs.next).unref();
  }

  return {
    *responses() {
      for (const own of connections.values()) {
        for (const response of own) if (!isOver(response)) yield response;
      }
    },

    cut() {
      stopping = true;
      for (const own of connections.values()) {
        for (const response of own) if (!isOver(response)) endWith(response, own);
      }
      setTimeout(look, graceMs.first).unref();
    },
  };
}

/** The response was sent, or the client has disconnected. */
const isOver = (response: ServerResponse): boolean => response.closed;
