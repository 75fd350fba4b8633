/**
 * Decides the write requests of a request in slices, and yields to the event loop between them, so that a
 * large request does not block other requests. Each decision records the state that it is based on.
 * The last step is synchronous: it repeats the decisions on entities whose state has changed since.
 * The result therefore equals that of one synchronous step over all write requests.
 */
import type { EntityState } from "../../core/entity-state.ts";
import { appendAll } from "../../lib/lists.ts";
import { createPause, type Pause } from "../time-slices.ts";
import { computeAhead } from "./computed-ahead.ts";
import {
  delimiters,
  type EntityDecision,
  type RejectedRequest,
  type RequestTerms,
  type WriteDecider,
} from "./decide-request.ts";
import type { EntityCache, Entry } from "./entity-cache.ts";
import type { WriteRequest } from "./write-request.ts";

/** Number of write requests whose entities are loaded together. */
const LOADED_MAX = 200;
/** Outdated decisions that the last step repeats; if there are more, slices repeat them first. */
const REPEATED_MAX = 100;
/** After this many rounds, the last step repeats all outdated decisions. */
const ROUNDS_MAX = 5;

interface Parts {
  readonly states: Pick<EntityCache, "load" | "find">;
  readonly decider: Pick<WriteDecider, "platformsOf" | "decideRequested">;
  readonly pause?: Pause | undefined;
  /** Resolves when no other request decides on large values. */
  readonly acquireSlot: () => Promise<void>;
}

/**
 * Returns one decision for each write request, based on the newest states, or the first rejection. Returns
 * undefined if an append of another request has just failed: then the entities must be loaded again.
 * The caller must append the decisions synchronously.
 */
type LastStep = () => readonly EntityDecision[] | RejectedRequest | undefined;

/** A write request with its entity, and the decision once there is one. */
interface Loaded {
  readonly writeRequest: WriteRequest;
  readonly terms: RequestTerms;
  entry: Entry;
  /** The state that the decision is based on. */
  state?: EntityState | undefined;
  decided?: EntityDecision;
}

export async function decideInSlices(
  writeRequests: readonly WriteRequest[],
  terms: Omit<RequestTerms, "delimiterOf">,
  { states, decider, acquireSlot, pause = createPause() }: Parts,
): Promise<LastStep> {
  async function load(some: readonly WriteRequest[]): Promise<readonly Loaded[]> {
    const platforms = decider.platformsOf(some);
    // One load, so that nothing is awaited between the last entity and the first decision.
    const entries = await states.load([...some.map(({ urn }) => urn), ...platforms]);
    const own = { ...terms, delimiterOf: delimiters(platforms, entries.slice(some.length)) };
    return some.map((writeRequest, i) => ({
      writeRequest,
      entry: entries[i] as Entry,
      terms: own,
    }));
  }

  /** The rejection; undefined when the write request is accepted. */
  function decide(one: Loaded): RejectedRequest | undefined {
    const { writeRequest, entry } = one;
    try {
      one.state = entry.state;
      one.decided = decider.decideRequested(writeRequest, entry, one.terms);
      return undefined;
    } catch (rejection) {
      return { entry, rejection };
    }
  }

  const largeValuesOf = ({ writeRequest, entry }: Loaded) =>
    entry.state && computeAhead(writeRequest.commands, entry.state);

  /** One request at a time, so that two requests do not compute the same value on the same state. */
  async function computeLarge(one: Loaded): Promise<void> {
    await acquireSlot();
    one.entry = states.find(one.writeRequest.urn) ?? one.entry;
    await largeValuesOf(one)?.();
  }

  async function decideAll(some: readonly Loaded[]): Promise<RejectedRequest | undefined> {
    for (const [index, one] of some.entries()) {
      // The first decision follows a load, whose waiting time is no work.
      const pausing = index > 0 ? pause() : undefined;
      if (pausing !== undefined) await pausing;
      if (largeValuesOf(one) !== undefined) await computeLarge(one);
      if (one.entry.state === undefined) continue;
      const rejected = decide(one);
      if (rejected !== undefined) return rejected;
    }
    return undefined;
  }

  /** True if the decision is not based on the entity's current state. */
  function isOutdated(one: Loaded): boolean {
    if (one.decided === undefined || one.entry.state !== one.state) return true;
    const now = states.find(one.writeRequest.urn);
    // An evicted entry is durable, and the log checks its revision.
    if (now === undefined || now === one.entry) return false;
    const isDurable = one.entry.appending === undefined && now.appending === undefined;
    if (!isDurable || now.state?.revision !== one.state?.revision) return true;
    // Evicted and loaded again: the same state in another entry.
    one.entry = now;
    one.state = now.state;
    one.decided = { ...one.decided, entry: now };
    return false;
  }

  function decideOutdated(all: readonly Loaded[]): ReturnType<LastStep> {
    for (const one of all.filter(isOutdated)) {
      one.entry = states.find(one.writeRequest.urn) ?? one.entry;
      if (one.entry.state === undefined) return undefined;
      const rejected = decide(one);
      if (rejected !== undefined) return rejected;
    }
    return all.map(({ decided }) => decided as EntityDecision);
  }

  const all: Loaded[] = [];
  for (let i = 0; i < writeRequests.length; i += LOADED_MAX) {
    if (i > 0) await pause();
    const loaded = await load(writeRequests.slice(i, i + LOADED_MAX));
    const rejected = await decideAll(loaded);
    if (rejected !== undefined) return () => rejected;
    appendAll(all, loaded);
  }
  for (let round = 1; round < ROUNDS_MAX; round++) {
    const outdated = all.filter(isOutdated);
    if (outdated.length <= REPEATED_MAX) break;
    for (const one of outdated) one.entry = states.find(one.writeRequest.urn) ?? one.entry;
    const rejected = await decideAll(outdated);
    if (rejected !== undefined) return () => rejected;
  }
  return () => decideOutdated(all);
}
