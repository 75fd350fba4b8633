/**
 * Writes an event as a whole or not at all: reads the entities that it names, merges, and proposes the aspects
 * that change. Every proposal requires the version that it was merged with, so that concurrent events do not
 * overwrite each other. After a lost race, the merge is repeated.
 */
import type { Caller, Catalog, Proposal } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { isOvertaken, upsert } from "../core/write/upsert.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import type { JsonObject } from "../lib/json.ts";
import { type MappedEvent, mapEvent } from "./map-event.ts";
import { hasEvent, mergeEntity, STATE } from "./merge.ts";
import { validateEvent } from "./validate-event.ts";

type Writer = Pick<Catalog, "findEntities" | "ingest">;

/** Returns the position of the write; undefined for a repeated event, which writes nothing. */
export type AcceptEvent = (
  event: unknown,
  catalog: Writer,
  caller: Caller,
) => Promise<Position | undefined>;

const attemptsMax = 20;

/**
 * `namespace`: that of the urns. The result throws `malformed` for an invalid event, `too_large` for one with too
 * many parts, `conflict` after too many lost races, and the errors of rejected proposals.
 */
export function createAcceptEvent(namespace: string): AcceptEvent {
  const retryLimit = createConcurrencyLimit(1);
  return async (body, catalog, caller) => {
    const mapped = mapEvent(validateEvent(body, Date.now()), namespace);
    const attempt = () => write(mapped, catalog, caller);
    const first = await attempt();
    return first === LOST ? retried(attempt, retryLimit) : first;
  };
}

const LOST = Symbol("lost race");

/** Events that lost a race are merged again one at a time. */
const retried = (
  attempt: () => Promise<Position | undefined | typeof LOST>,
  limit: ConcurrencyLimit,
): Promise<Position | undefined> =>
  limit(async () => {
    for (let attempts = 2; attempts <= attemptsMax; attempts++) {
      const written = await attempt();
      if (written !== LOST) return written;
    }
    const message = `other writes changed entities of the event during ${attemptsMax} attempts`;
    throw new CatalogError("conflict", message, { hint: "Send the event again" });
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
    if (isOvertaken(error)) return LOST;
    throw error;
  }
}

async function proposalsOf(
  { subject, name, time, contributions }: MappedEvent,
  catalog: Writer,
): Promise<readonly Proposal[]> {
  // The subject comes last, because its state records that the event is written.
  const urns = [...contributions.keys()].filter((urn) => urn !== subject);
  const aspects = new Set([STATE]);
  for (const list of contributions.values()) {
    for (const one of list) if ("aspect" in one) aspects.add(one.aspect);
  }
  const found = await catalog.findEntities([...urns, subject], [...aspects]);
  const state = found.at(-1)?.aspects.find((aspect) => aspect.name === STATE);
  if (state !== undefined && hasEvent(JSON.parse(state.value), name)) return [];
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
        upsert(urn, aspect, value, stored.get(aspect)?.version ?? -1),
      ),
      ...events.map(({ aspect, value }) => upsert(urn, aspect, value)),
    ];
  });
}
