/** What a request asks, entity by entity. */
import type { AuditStamp, Change } from "../core/change.ts";
import { type Intent, systemOf } from "../core/decide.ts";
import { CatalogError } from "../core/errors.ts";
import type { Revision } from "../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import type { Appended } from "../log/change-log.ts";
import type { Entity } from "../model/model.ts";
import type { Prepared } from "./prepare.ts";

export interface EventIntent {
  readonly aspect: string;
  readonly intent: Intent;
  /** How many of the demand's intents came before it; absent: it has no place among them. */
  readonly after?: number | undefined;
}

/** What a request asks of one entity. */
export interface Demand {
  readonly urn: string;
  readonly entity: Entity;
  readonly intents: Intent[];
  /** Events of timeseries aspects, in order. */
  readonly events: EventIntent[];
  /** Where the streams of events end, if that matters. */
  readonly eventRevisions?: ReadonlyMap<string, Revision>;
}

export function demandsOf(prepared: readonly Prepared[]): readonly Demand[] {
  const byUrn = new Map<string, Demand>();
  for (const { urn, entity, aspect, intent } of prepared) {
    let demand = byUrn.get(urn);
    if (demand === undefined) {
      demand = { urn, entity, intents: [], events: [] };
      byUrn.set(urn, demand);
    }
    if (aspect.timeseries) {
      demand.events.push({ aspect: aspect.name, intent, after: demand.intents.length });
    } else demand.intents.push(intent);
  }
  return [...byUrn.values()];
}

/** All that a demand may write to. */
export const streamsOf = ({ urn, events }: Demand): readonly StreamName[] => [
  entityStream(urn),
  ...events.map(({ aspect }) => timeseriesStream(urn, aspect)),
];

/** Of what is asked that which some appends do not hold. */
export function without(
  demands: readonly Demand[],
  appended: ReadonlyMap<StreamName, Appended>,
): readonly Demand[] {
  if (appended.size === 0) return demands;
  return demands.flatMap((demand) => {
    const { urn } = demand;
    const intents = appended.has(entityStream(urn)) ? [] : demand.intents;
    const events = demand.events.filter(
      ({ aspect }) => !appended.has(timeseriesStream(urn, aspect)),
    );
    return intents.length + events.length === 0 ? [] : [{ ...demand, intents, events }];
  });
}

const NAMED_MAX = 20;

/** Why a request failed of which a part is in the log: it says which. */
export function inPart(error: unknown, asked: readonly Demand[], left: readonly Demand[]): unknown {
  const open = new Set(left.flatMap(({ urn, intents }) => (intents.length > 0 ? [urn] : [])));
  const written = asked.filter(({ urn, intents }) => intents.length > 0 && !open.has(urn));
  if (written.length === 0 || !(error instanceof CatalogError)) return error;
  const named = written.slice(0, NAMED_MAX).map(({ urn }) => `"${urn}"`);
  const more = written.length > NAMED_MAX ? ` and ${written.length - NAMED_MAX} more` : "";
  const hint = `Of the request ${named.join(", ")}${more} had been written when another writer came in between`;
  return new CatalogError(error.code, error.message, {
    hint: error.hint === undefined ? hint : `${hint}. ${error.hint}`,
    cause: error,
  });
}

/** An event as the log has it. */
export function eventChange({ urn, entity }: Demand, intent: Intent, created: AuditStamp): Change {
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
