/**
 * The endpoints of a node. Without the role `api` it serves only health, metrics, documents and
 * operations, so that a load balancer with a wrong target fails at once instead of slowing a worker.
 */
import { CatalogError } from "../core/errors.ts";
import type { Endpoint } from "./schemas/endpoint.ts";

/** Throws `unavailable` for an endpoint of a role that the node does not have. */
export function refuseUnserved(endpoint: Endpoint, servesApi: boolean): void {
  if (servesApi || isServedByAll(endpoint)) return;
  throw new CatalogError("unavailable", "this node has not the role api", {
    hint: "Ask a node that has it: --roles names what a node does; this one answers /health, /metrics, /status and /operations",
  });
}

const isServedByAll = ({ access, group, open, path }: Endpoint): boolean =>
  access !== undefined || (group === undefined && open === true) || path === "/metrics";
