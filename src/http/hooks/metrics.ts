/** Traces requests and measures their durations. */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Endpoint } from "../schemas/endpoint.ts";

/** As telemetry/traces.ts has it. */
export interface ServerTraces {
  request(
    request: Pick<IncomingMessage, "headers"> & { readonly method: string },
    go: () => void,
  ): (ended: { readonly route: string; readonly status: number }) => void;
}

export interface ServerMetrics {
  text(): Promise<string>;
  /** Called after the response. */
  observe(request: { route: string; method: string; status: number; seconds: number }): void;
}

/** Runs the handling of each request within its span. */
export function traceRequests(app: FastifyInstance, traces: ServerTraces): void {
  const ends = new WeakMap<FastifyRequest, ReturnType<ServerTraces["request"]>>();
  app.addHook("onRequest", (request, _, done) => {
    const { method, headers } = request;
    ends.set(request, traces.request({ method, headers }, done));
  });
  app.addHook("onResponse", (request, reply, done) => {
    ends.get(request)?.({ route: routeOf(request.state?.endpoint), status: reply.statusCode });
    done();
  });
}

/** Routes come from the table, so that clients cannot create labels. */
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

/** Caches the labels, because building a string per request is slow to look up. */
const actionRoutes = new WeakMap<Endpoint, string>();

export function countRequests(app: FastifyInstance, metrics: ServerMetrics): void {
  app.addHook("onResponse", (request, reply, done) => {
    const endpoint = request.state?.endpoint;
    // A stream's duration depends on its reader.
    if (request.state?.streamed === true) {
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
