/**
 * Notes operations and rejected requests in the audit trail. The log records catalog writes itself.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditOutcome, AuditTrail } from "../../auth/audit.ts";
import { ForgedActor } from "../request/caller/caller.ts";
import type { ApiResponse } from "../schemas/endpoint.ts";

type Trail = Pick<AuditTrail, "record">;

const REJECTED = [401, 403, 429];
/** Operations that only read are not state, except reads of the audit trail. */
const LOOKS = /^(?:get|list)(?!AuditEvents$)/;

export function auditRequests(app: FastifyInstance, trail: Trail): void {
  app.addHook("onResponse", (request, reply, done) => {
    const state = request.state;
    const rejected = REJECTED.includes(reply.statusCode) || state?.failure instanceof ForgedActor;
    const endpoint = state?.endpoint;
    const operates = endpoint?.access === "operator" && !LOOKS.test(endpoint.name);
    if (rejected || operates) {
      const outcome: AuditOutcome = rejected
        ? "refused"
        : reply.statusCode < 400
          ? "allowed"
          : "failed";
      trail.record({
        action: endpoint?.name ?? "none",
        outcome,
        actor: state?.apiRequest?.caller.actor ?? state?.failure?.actor,
        address: request.socket.remoteAddress,
        urn: rejected ? undefined : urnOf(request.body),
        detail: rejected ? state?.failure?.message : state?.failure?.code,
      });
    }
    done();
  });
}

/** The entity of an operation's request. */
function urnOf(body: unknown): string | undefined {
  const urn = (body as { readonly urn?: unknown } | null | undefined)?.urn;
  return typeof urn === "string" ? urn.slice(0, 2_048) : undefined;
}

/** Notes the audited events of an endpoint's response. */
export function noteAudited(
  trail: Trail | undefined,
  audited: NonNullable<ApiResponse["audited"]>,
  request: FastifyRequest,
): void {
  const actor = request.state?.apiRequest?.caller.actor;
  const address = request.socket.remoteAddress;
  for (const note of audited) trail?.record({ ...note, actor, address });
}
