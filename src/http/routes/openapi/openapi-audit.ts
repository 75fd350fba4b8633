/** /openapi/v1/events/audit/search: the audit trail in the form of DataHub's usage events. */
import type { AuditEvent } from "../../../auth/audit.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position } from "../../../core/position.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Operations } from "../../../jobs/operations.ts";
import { dayMs } from "../../../lib/calendar.ts";
import { ownValue } from "../../../lib/own-value.ts";
import { complete, type Endpoint, text } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

const sizeMax = 1_000;
/** Pages of the trail that one request reads at most; each reads a bounded part of the log. */
const pagesMax = 10;

interface UsageEvent {
  readonly eventType: string;
  readonly timestamp: number;
  readonly actorUrn?: string | undefined;
  readonly sourceIP?: string | undefined;
  readonly loginSource?: string | undefined;
  readonly entityUrn?: string | undefined;
  readonly entityType?: string | undefined;
  readonly aspectName?: string | undefined;
}

/** By entity type: the events of its creation, its other writes and its deletion. */
const kinds: Readonly<Record<string, { create: string; update: string; delete: string }>> = {
  corpuser: { create: "CreateUserEvent", update: "UpdateUserEvent", delete: "DeleteEntityEvent" },
  dataHubAccessToken: {
    ...{ create: "CreateAccessTokenEvent", update: "UpdateAspectEvent" },
    delete: "RevokeAccessTokenEvent",
  },
  dataHubPolicy: {
    ...{ create: "CreatePolicyEvent", update: "UpdatePolicyEvent", delete: "DeletePolicyEvent" },
  },
  dataHubIngestionSource: {
    ...{ create: "CreateIngestionSourceEvent", update: "UpdateIngestionSourceEvent" },
    delete: "DeleteEntityEvent",
  },
};
const otherKinds = {
  ...{ create: "EntityEvent", update: "UpdateAspectEvent", delete: "DeleteEntityEvent" },
};

/** Undefined for an event that DataHub has no type for, such as an operation. */
function usageEventOf(event: AuditEvent): UsageEvent | undefined {
  const { action, outcome, actor, address, urn, aspect, time: timestamp } = event;
  const common = { timestamp, actorUrn: actor, sourceIP: address };
  if (action === "logIn") {
    const loginSource = event.detail?.split(" ", 1)[0];
    const eventType = outcome === "allowed" ? "LogInEvent" : "FailedLogInEvent";
    return { eventType, ...common, loginSource };
  }
  if (urn === undefined || aspect === undefined || outcome !== "allowed") return undefined;
  const entityType = entityTypeOf(urn);
  const kind = ownValue(kinds, entityType) ?? otherKinds;
  const isKey = aspect.endsWith("Key");
  const removed = action === "DELETE";
  const eventType = isKey ? (removed ? kind.delete : kind.create) : kind.update;
  return { eventType, ...common, entityUrn: urn, entityType, aspectName: aspect };
}

interface Filters {
  readonly eventTypes?: readonly string[] | null;
  readonly entityTypes?: readonly string[] | null;
  readonly aspectTypes?: readonly string[] | null;
  readonly actorUrns?: readonly string[] | null;
}

type Parameters = {
  readonly startTime?: number;
  readonly endTime?: number;
  readonly size?: number;
  readonly scrollId?: string;
};

const among = (names: readonly string[] | null | undefined, name: string | undefined): boolean =>
  names === undefined || names === null || names.length === 0 || names.includes(name ?? "");

const passes = (event: UsageEvent, filters: Filters): boolean =>
  among(filters.eventTypes, event.eventType) &&
  among(filters.entityTypes, event.entityType) &&
  among(filters.aspectTypes, event.aspectName) &&
  among(filters.actorUrns, event.actorUrn);

/** The newest events, as many as fit, and the position to continue from; undefined at the end. */
async function search(
  operations: Pick<Operations, "listAuditEvents">,
  filters: Filters,
  asked: { readonly from: number; readonly to: number; readonly size: number; before?: Position },
) {
  const events: UsageEvent[] = [];
  let { before } = asked;
  for (let pages = 0; pages < pagesMax; pages++) {
    const { from, to, size } = asked;
    const page = await operations.listAuditEvents({ from, to, before, count: size });
    for (const one of page.events) {
      const event = usageEventOf(one);
      before = one.position;
      if (event === undefined || !passes(event, filters)) continue;
      events.push(event);
      if (events.length === size) return { events, before };
    }
    if (page.end) return { events, before: undefined };
    before = page.position;
  }
  return { events, before };
}

const names = (description: string) => ({
  type: ["array", "null"],
  items: { type: "string" },
  description,
});

export const auditSearchRoutes: readonly Endpoint[] = [
  {
    method: "POST",
    kind: "page",
    group: "OpenAPI",
    access: "operator",
    path: "/openapi/v1/events/audit/search",
    name: "searchAuditEvents",
    parameters: [
      query.long("startTime", "Epoch milliseconds; a day ago when absent"),
      query.long("endTime", "Exclusive; now when absent"),
      query.long("size", `1 to ${sizeMax}; 10 when absent`),
      query.string("scrollId", "Scroll id of the previous response"),
      query.boolean("includeRaw", "Ignored, as in DataHub"),
    ],
    body: {
      type: "object",
      properties: {
        eventTypes: names("LogInEvent, FailedLogInEvent, UpdateAspectEvent and so on"),
        entityTypes: names("Entity types"),
        aspectTypes: names("Names of aspects"),
        actorUrns: names("Urns of users"),
      },
    },
    async handle({ parameters, body }, { operations, now }) {
      const { startTime, endTime, size = 10, scrollId = "" } = parameters as Parameters;
      if (size < 1 || size > sizeMax || !/^\d{0,15}$/.test(scrollId)) {
        throw new CatalogError("malformed", "size or scrollId is not valid", {
          hint: `size is 1 to ${sizeMax}; scrollId is that of the response before`,
        });
      }
      const { events, before } = await search(operations, body as Filters, {
        from: startTime ?? now() - dayMs,
        to: (endTime ?? now() + 1) - 1,
        size,
        ...(scrollId !== "" && { before: position(Number(scrollId)) }),
      });
      const more = before !== undefined;
      const json = JSON.stringify({
        nextScrollId: more ? String(before) : null,
        count: events.length,
        total: events.length + (more ? 1 : 0),
        usageEvents: events,
      });
      return { json, keep: false };
    },
  },
  {
    method: "POST",
    kind: "page",
    group: "OpenAPI",
    path: "/openapi/v1/tracking/track",
    name: "trackBrowserUsage",
    body: complete({ type: text("Type of the event") }),
    handle: () => ({}),
  },
];
