/**
 * Names of streams. The versioned aspects of one entity share one stream, so that one append writes
 * several aspects atomically. Each timeseries aspect of an entity has its own stream, so that its
 * events do not conflict with other writes. The name of a stream contains the urn, which records
 * omit.
 */
export type StreamName = string;

export type StreamOf =
  | { readonly kind: "entity"; readonly urn: string }
  | { readonly kind: "timeseries"; readonly urn: string; readonly aspect: string }
  /** Truncations of a timeseries aspect, for all entities of the type. */
  | {
      readonly kind: "truncation";
      readonly urn?: undefined;
      readonly entityType: string;
      readonly aspect: string;
    }
  /** Platform events of producers, which have no entity. */
  | { readonly kind: "event"; readonly urn?: undefined };

const ENTITY = "entity-";
const TIMESERIES = "timeseries-";
const TRUNCATION = "truncation-";

export const entityStream = (urn: string): StreamName => ENTITY + urn;

/** `timeseries-<aspect>-<urn>`; aspect names hold no "-". */
export const timeseriesStream = (urn: string, aspect: string): StreamName =>
  `${TIMESERIES}${aspect}-${urn}`;

/** `truncation-<entity type>-<aspect>`; names of entity types hold no "-" either. */
export const truncationStream = (entityType: string, aspect: string): StreamName =>
  `${TRUNCATION}${entityType}-${aspect}`;

/** Platform events that clients produced (core/platform-event.ts). */
export const PLATFORM_EVENTS: StreamName = "platform-events";

/** The start of every job, in order: the n-th job's at revision n - 1. */
export const JOBS: StreamName = "jobs";

/** States of one job. */
export const jobStream = (id: string): StreamName => `job-${id}`;

/** Records that a view could not apply, and their retries and drops. */
export const parkingStream = (view: string): StreamName => `parking-${view}`;

/** Jobs for the node that projects a view (jobs/cluster/job-queue.ts). */
export const DISPATCHED: StreamName = "handed";

/** States of one such job. */
export const dispatchedStream = (id: string): StreamName => `handed-${id}`;

/** The schemas that producers of events registered (feed/schema-registry.ts). */
export const SCHEMAS: StreamName = "schemas";

/** Audit events of one day (UTC) that leave no other record: `audit-2026-11-21`. */
export const auditStream = (day: string): StreamName => `${AUDIT}${day}`;
const AUDIT = "audit-";

/** Sampled uses of an access token. */
export const tokenUseStream = (urn: string): StreamName => `${TOKEN_USE}${urn}`;
const TOKEN_USE = "token-use-";

/** The stream holds records of the audit trail. */
export const isAuditStream = (name: StreamName): boolean =>
  name.startsWith(AUDIT) || name.startsWith(TOKEN_USE);

/** Subject of a stream; undefined for streams without changes (jobs, parking, schemas, audit). */
export function parseStream(name: StreamName): StreamOf | undefined {
  if (name.startsWith(ENTITY)) return { kind: "entity", urn: name.slice(ENTITY.length) };
  if (name.startsWith(TRUNCATION)) return parseTruncation(name);
  if (name === PLATFORM_EVENTS) return { kind: "event" };
  if (!name.startsWith(TIMESERIES)) return undefined;
  const end = name.indexOf("-", TIMESERIES.length);
  if (end < 0) return undefined;
  return {
    kind: "timeseries",
    aspect: name.slice(TIMESERIES.length, end),
    urn: name.slice(end + 1),
  };
}

function parseTruncation(name: StreamName): StreamOf | undefined {
  const end = name.indexOf("-", TRUNCATION.length);
  if (end < 0) return undefined;
  const entityType = name.slice(TRUNCATION.length, end);
  return { kind: "truncation", entityType, aspect: name.slice(end + 1) };
}
