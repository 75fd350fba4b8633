/**
 * Writes an event: reads the entities that it names, merges, and proposes the aspects that change, all or
 * none. Every proposal states the version that it was merged with, so that concurrent events do not
 * overwrite each other; the merge is repeated after a lost race.
 */
import type { Caller, Catalog, Proposal } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { entityTypeOf } from "../core/urn.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import type { JsonObject } from "../lib/json.ts";
import { type MappedEvent, mapEvent } from "./map-event.ts";
import { knowsEvent, mergeEntity, STATE } from "./merge.ts";
import { validateEvent } from "./validate-event.ts";

type Writer = Pick<Catalog, "findEntities" | "ingest">;

/** Undefined for a repeated event: there was nothing to write. */
type AcceptEvent = (
  event: unknown,
  catalog: Writer,
  caller: Caller,
) => Promise<Position | undefined>;

const attemptsMax = 20;

/** Throws `malformed` for an invalid event, and the errors of proposals. */
export function createAcceptEvent(namespace: string): AcceptEvent {
  const again = createConcurrencyLimit(1);
  return async (body, catalog, caller) => {
    const mapped = mapEvent(validateEvent(body), namespace);
    const attempt = () => write(mapped, catalog, caller);
    const first = await attempt();
    return first === LOST ? retried(attempt, again) : first;
  };
}

const LOST = Symbol("lost race");

/** Events that lost a race are merged again one at a time. */
const retried = (
  attempt: () => Promise<Position | undefined | typeof LOST>,
  inTurn: ConcurrencyLimit,
): Promise<Position | undefined> =>
  inTurn(async () => {
    for (let attempts = 2; attempts <= attemptsMax; attempts++) {
      const written = await attempt();
      if (written !== LOST) return written;
    }
    throw new CatalogError("conflict", "other events kept changing the entities of this one", {
      hint: "Send it again",
    });
  });

async function write(
  mapped: MappedEvent,
  catalog: Writer,
  { actor }: Caller,
): Promise<Position | undefined | typeof LOST> {
  const proposals = await proposalsOf(mapped, catalog);
  if (proposals.length === 0) return undefined;
  try {
    return (await catalog.ingest(proposals, { actor })).position;
  } catch (error) {
    if (error instanceof CatalogError && error.failedCondition) return LOST;
    throw error;
  }
}

async function proposalsOf(
  { subject, name, time, contributions }: MappedEvent,
  catalog: Writer,
): Promise<readonly Proposal[]> {
  // The subject comes last: its state says that the event is written.
  const urns = [...contributions.keys()].filter((urn) => urn !== subject);
  const aspects = new Set([STATE]);
  for (const list of contributions.values()) {
    for (const one of list) if ("aspect" in one) aspects.add(one.aspect);
  }
  const found = await catalog.findEntities([...urns, subject], [...aspects]);
  const isKnown = found.at(-1)?.aspects.find((aspect) => aspect.name === STATE);
  if (isKnown !== undefined && knowsEvent(JSON.parse(isKnown.value), name)) return [];
  return [...urns, subject].flatMap((urn, index) => {
    const list = contributions.get(urn) ?? [];
    const stored = new Map((found[index]?.aspects ?? []).map((aspect) => [aspect.name, aspect]));
    const current = new Map(
      [...stored].map(([aspect, { value }]) => [aspect, JSON.parse(value) as JsonObject]),
    );
    const event = urn === subject ? name : undefined;
    const merged = mergeEntity(list, current, { time, event });
    const events = list.filter((one) => one.kind === "event");
    return [
      ...[...merged].map(([aspect, value]) =>
        proposal(urn, aspect, value, stored.get(aspect)?.version ?? -1),
      ),
      ...events.map(({ aspect, value }) => proposal(urn, aspect, value)),
    ];
  });
}

/** With the version that the aspect must have; events of timeseries have none. */
const proposal = (
  urn: string,
  aspectName: string,
  value: JsonObject,
  version?: number,
): Proposal => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType: "UPSERT",
  aspectName,
  aspect: { contentType: "application/json", value: JSON.stringify(value) },
  ...(version !== undefined && { headers: { "If-Version-Match": String(version) } }),
});
