/**
 * What a node answers: everything, or, without the role `api`, how it is (health, numbers, documents)
 * and operations on it. Whoever balances requests over all nodes then finds out at once, and not from
 * a worker that is slow because it feeds views.
 */
import { CatalogError } from "../core/errors.ts";
import type { Endpoint } from "./endpoint.ts";

/** Throws `unavailable` for what is asked of a node that has not the role for it. */
export function refuseUnserved(endpoint: Endpoint, servesApi: boolean): void {
  if (servesApi || isServedByAll(endpoint)) return;
  throw new CatalogError("unavailable", "this node has not the role api", {
    hint: "Ask a node that has it: --roles names what a node does; this one answers /health, /metrics, /status and /operations",
  });
}

const isServedByAll = ({ access, group, open, path }: Endpoint): boolean =>
  access !== undefined || (group === undefined && open === true) || path === "/metrics";
