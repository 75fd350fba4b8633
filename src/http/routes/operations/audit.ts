/** /operations?action=listAuditEvents: operations, writes and rejected requests with their callers. */
import type { AuditOutcome } from "../../../auth/audit.ts";
import { CatalogError } from "../../../core/errors.ts";
import { position } from "../../../core/position.ts";
import {
  complete,
  type Endpoint,
  objectWith,
  type Schema,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import { action, count, flag, malformed, text, unauthenticated } from "./operation-forms.ts";

const pageMax = 1_000;

const eventSchema: Schema = objectWith(["position", "time", "action", "outcome", "count"], {
  position: { type: "integer", description: "Position of its record in the log" },
  time: { type: "integer", description: "Epoch milliseconds" },
  action: text(
    "Name of the operation; of a write of the catalog UPSERT, RESTATE (what was there already) or DELETE",
  ),
  outcome: { type: "string", enum: ["allowed", "refused", "failed"] },
  actor: text("User of the request, if known"),
  address: text("Remote address; absent for writes, where the uses of the writer's token have it"),
  urn: text("Entity that the event concerns"),
  aspect: text("Aspect of a write"),
  detail: text("Reason of a rejection"),
  count: {
    type: "integer",
    description: "Number of occurrences: equal rejections are counted in one entry",
  },
});

interface Body {
  readonly actor?: string;
  readonly action?: string;
  readonly outcome?: AuditOutcome;
  readonly urn?: string;
  readonly startTimeMillis?: number;
  readonly endTimeMillis?: number;
  readonly writes?: boolean;
  readonly before?: number;
  readonly count?: number;
}

export const auditRoutes: readonly Endpoint[] = [
  {
    ...action,
    name: "listAuditEvents",
    summary: "List requests with their users, addresses and times, allowed or rejected",
    about:
      "The newest first: writes of the catalog, operations, what was done with access tokens and their uses (one an hour), and rejected requests. A page reads a bounded part of the log. As long as `end` is false, continue with its `position` as `before`, even if the page has no events.",
    body: {
      type: "object",
      properties: {
        actor: text("Only requests of this user"),
        action: text("Only events of this operation"),
        outcome: { type: "string", enum: ["allowed", "refused", "failed"] },
        urn: text("Only events that concern this entity"),
        startTimeMillis: count("Not before this time"),
        endTimeMillis: count("Not after this time"),
        writes: flag("`false` omits writes to the catalog"),
        before: count("Only events before this position of the log", 1),
        count: count(`At most so many: 100 when absent, ${pageMax} at most`, 1),
      },
    },
    response: valueSchema(
      complete({
        events: { type: "array", items: eventSchema },
        position: { type: "integer", description: "Position from which on all records were read" },
        end: { type: "boolean", description: "True if there are no earlier events" },
      }),
    ),
    errors: [unauthenticated, malformed],
    async handle({ body }, { operations }) {
      const { startTimeMillis, endTimeMillis, before, ...rest } = body as Body;
      const { count: wanted = 100 } = rest;
      if (wanted > pageMax) {
        throw new CatalogError("malformed", `count is ${wanted}`, {
          hint: `Send 1 to ${pageMax}`,
        });
      }
      const page = await operations.listAuditEvents({
        ...rest,
        from: startTimeMillis,
        to: endTimeMillis,
        before: before === undefined ? undefined : position(before),
        count: wanted,
      });
      return valueResponse(page);
    },
  },
];
