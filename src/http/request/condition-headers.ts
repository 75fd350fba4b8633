/**
 * Conditional headers of writes. They apply to every proposal of the request that does not carry
 * the same header itself; an unsupported condition is rejected, never ignored.
 *
 * Reads use If-None-Match as HTTP defines it (entity-tags.ts) and ignore the others, which browsers and
 * caches may add: a full response is always correct.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Endpoint } from "../schemas/endpoint.ts";

type Conditions = Readonly<Record<string, string>>;

/** Names as sent, and as node spells them. */
const names = ["If-Version-Match", "If-Modified-Since", "If-Unmodified-Since", "If-None-Match"].map(
  (name) => [name, name.toLowerCase()] as const,
);

const SYNC = "X-DataHub-Sync-Index-Update";

/** Undefined without conditions. Throws `malformed` when the endpoint does not support them. */
export function readConditions(
  headers: IncomingHttpHeaders,
  { name: action, conditional }: Endpoint,
): Conditions | undefined {
  const found: Record<string, string> = {};
  let any = false;
  for (const [name, key] of names) {
    const value = headers[key];
    if (value === undefined) continue;
    found[name] = String(value);
    any = true;
  }
  // Not a condition: it delays the response until searches show the write. Endpoints that cannot wait ignore it.
  const sync = headers[SYNC.toLowerCase()];
  if (conditional && sync !== undefined) found[SYNC] = String(sync);
  if (headers["if-match"] !== undefined) {
    throw new CatalogError("malformed", "header If-Match is not supported", {
      hint: "Use If-Version-Match with the expected version of the aspect",
    });
  }
  if (conditional) return any || sync !== undefined ? found : undefined;
  if (!any) return undefined;
  throw new CatalogError(
    "malformed",
    `${action} supports no conditions, but the request has ${Object.keys(found).join(" and ")}`,
    {
      hint: "Use ingestProposal, ingestProposalBatch or the entity writes under /openapi, which support conditions",
    },
  );
}

/** Names of the conditions, without X-DataHub-Sync-Index-Update. */
export const asked = (conditions: Conditions | undefined): readonly string[] =>
  Object.keys(conditions ?? {}).filter((name) => name !== SYNC);

/** The proposal with the request's conditions; its own headers win. */
export function withConditions(proposal: Proposal, conditions: Conditions | undefined): Proposal {
  if (conditions === undefined) return proposal;
  const own = proposal.headers ?? {};
  const given = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const added = Object.entries(conditions).filter(([name]) => !given.has(name.toLowerCase()));
  return { ...proposal, headers: { ...own, ...Object.fromEntries(added) } };
}
