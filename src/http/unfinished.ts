/**
 * Connections whose request never comes to its end: a stop does not wait for them. Those that have
 * sent a request whole are left to their answers.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

interface Unfinished {
  /**
   * From now on a connection ends with its answer; after the grace those end, too, that have no
   * whole request under way.
   */
  cut(): void;
  /** The responses in flight: those that are not completely sent yet. */
  responses(): Iterable<ServerResponse>;
}

/** How long a request that has begun to come may go on coming, and how often is looked then. */
const graceMs = { first: 2_000, next: 500 };

/** Knows the connections that come from now on. */
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
    // Those that are over are let go with the next: a listener for each would cost more.
    const over = own.every(isOver);
    own[over ? 0 : own.length] = response;
    if (over) own.length = 1;
    if (stopping) endWith(response, own);
  });

  /** The connection ends with its last answer: it would be kept for a request that nobody takes. */
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

/** Its answer was sent, or nobody is there to have it. */
const isOver = (response: ServerResponse): boolean => response.closed;
