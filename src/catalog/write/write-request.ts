/** Write requests: the commands of a request, grouped by entity. */
import type { AuditStamp, Change } from "../../core/change.ts";
import { type Intent, systemOf } from "../../core/decide.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Revision } from "../../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import type { Appended } from "../../log/change-log.ts";
import type { Entity } from "../../model/model.ts";
import type { Prepared } from "./proposals/validate-proposals.ts";

export interface EventIntent {
  readonly aspect: string;
  readonly intent: Intent;
  /**
   * Number of aspect commands before the event in the request; absent: it has no order among them.
   */
  readonly after?: number | undefined;
}

/** The commands of a request for one entity. */
export interface WriteRequest {
  readonly urn: string;
  readonly entity: Entity;
  readonly intents: Intent[];
  /** Events of timeseries aspects, in order. */
  readonly events: EventIntent[];
  /** Expected revisions of the event streams by aspect, if they matter. */
  readonly eventRevisions?: ReadonlyMap<string, Revision>;
}

export function writeRequestsOf(prepared: readonly Prepared[]): readonly WriteRequest[] {
  const byUrn = new Map<string, WriteRequest>();
  for (const { urn, entity, aspect, intent } of prepared) {
    let writeRequest = byUrn.get(urn);
    if (writeRequest === undefined) {
      writeRequest = { urn, entity, intents: [], events: [] };
      byUrn.set(urn, writeRequest);
    }
    if (aspect.timeseries) {
      writeRequest.events.push({ aspect: aspect.name, intent, after: writeRequest.intents.length });
    } else writeRequest.intents.push(intent);
  }
  return [...byUrn.values()];
}

/** The streams that a write request may append to. */
export const streamsOf = ({ urn, events }: WriteRequest): readonly StreamName[] => [
  entityStream(urn),
  ...events.map(({ aspect }) => timeseriesStream(urn, aspect)),
];

/** The write requests without the parts that are already appended. */
export function without(
  writeRequests: readonly WriteRequest[],
  appended: ReadonlyMap<StreamName, Appended>,
): readonly WriteRequest[] {
  if (appended.size === 0) return writeRequests;
  return writeRequests.flatMap((writeRequest) => {
    const { urn } = writeRequest;
    const intents = appended.has(entityStream(urn)) ? [] : writeRequest.intents;
    const events = writeRequest.events.filter(
      ({ aspect }) => !appended.has(timeseriesStream(urn, aspect)),
    );
    return intents.length + events.length === 0 ? [] : [{ ...writeRequest, intents, events }];
  });
}

const NAMED_MAX = 20;

/** Error for a partially committed request; names the entities that were written. */
export function inPart(
  error: unknown,
  asked: readonly WriteRequest[],
  left: readonly WriteRequest[],
): unknown {
  const open = new Set(left.flatMap(({ urn, intents }) => (intents.length > 0 ? [urn] : [])));
  const written = asked.filter(({ urn, intents }) => intents.length > 0 && !open.has(urn));
  if (written.length === 0 || !(error instanceof CatalogError)) return error;
  const named = written.slice(0, NAMED_MAX).map(({ urn }) => `"${urn}"`);
  const more = written.length > NAMED_MAX ? ` and ${written.length - NAMED_MAX} more` : "";
  const hint = `The request is partially committed: ${named.join(", ")}${more}. Another writer changed the next entity`;
  return new CatalogError(error.code, error.message, {
    hint: error.hint === undefined ? hint : `${hint}. ${error.hint}`,
    cause: error,
  });
}

/** The change that the log stores for an event. */
export function eventChange(
  { urn, entity }: WriteRequest,
  intent: Intent,
  created: AuditStamp,
): Change {
  const { value } = intent;
  const text = typeof value === "object" ? value.text : undefined;
  return {
    urn,
    entityType: entity.name,
    aspect: intent.aspect,
    changeType: intent.kind === "delete" ? "DELETE" : "UPSERT",
    value: text,
    created,
    system: { ...systemOf(intent.system, undefined, created), schemaVersion: intent.schemaVersion },
    headers: intent.headers,
  };
}
