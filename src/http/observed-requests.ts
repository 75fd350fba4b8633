/** What telemetry is told of requests: spans, and how long each took. */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Endpoint } from "./endpoint.ts";

/** As telemetry/traces.ts has it. */
export interface DoorTraces {
  request(
    request: Pick<IncomingMessage, "headers"> & { readonly method: string },
    go: () => void,
  ): (ended: { readonly route: string; readonly status: number }) => void;
}

export interface DoorMetrics {
  text(): Promise<string>;
  /** A request was answered. */
  observe(request: { route: string; method: string; status: number; seconds: number }): void;
}

/** What follows of a request happens within its span. */
export function traceRequests(app: FastifyInstance, traces: DoorTraces): void {
  const ends = new WeakMap<FastifyRequest, ReturnType<DoorTraces["request"]>>();
  app.addHook("onRequest", (request, _, done) => {
    const { method, headers } = request;
    ends.set(request, traces.request({ method, headers }, done));
  });
  app.addHook("onResponse", (request, reply, done) => {
    ends.get(request)?.({ route: routeOf(request.noted?.endpoint), status: reply.statusCode });
    done();
  });
}

/** Routes are the table's own, so that nobody can make up new ones. */
function routeOf(endpoint: Endpoint | undefined): string {
  if (endpoint === undefined) return "none";
  if (endpoint.kind !== "action") return endpoint.path;
  let route = actionRoutes.get(endpoint);
  if (route === undefined) {
    route = `${endpoint.path}?action=${endpoint.name}`;
    actionRoutes.set(endpoint, route);
  }
  return route;
}

/** A text that is made anew is looked through with each request that is counted by it. */
const actionRoutes = new WeakMap<Endpoint, string>();

export function countRequests(app: FastifyInstance, metrics: DoorMetrics): void {
  app.addHook("onResponse", (request, reply, done) => {
    const endpoint = request.noted?.endpoint;
    // How long a reader follows is no measure of the service.
    if (request.noted?.streamed === true) {
      done();
      return;
    }
    metrics.observe({
      route: routeOf(endpoint),
      method: endpoint?.method ?? "none",
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
    done();
  });
}
