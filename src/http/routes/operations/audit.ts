/** /operations?action=listAuditEvents: operations, writes and rejected requests with their callers. */
import type { AuditOutcome } from "../../../auth/audit.ts";
import { CatalogError } from "../../../core/errors.ts";
import { position } from "../../../core/position.ts";
import { type Endpoint, flag, text, valueResponse } from "../../schemas/endpoint.ts";
import { action, count } from "./operation-forms.ts";

const pageMax = 1_000;

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
