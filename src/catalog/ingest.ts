/**
 * Writing: proposals become appends, all of a request or none of it.
 *
 *   address → prepare → load the entities → decide → append → acknowledged
 *
 * Decisions use the newest states when they are appended (sliced-decisions.ts), so that requests of one
 * process do not lose races against each other. After a lost race against another writer of the log, the
 * request is decided again on the new state, a bounded number of times. A rejection is decided again
 * once, if another writer has changed the entity since it was read.
 */
import type { AuditStamp, Change } from "../core/change.ts";
import { type Intent, isEnd } from "../core/decide.ts";
import { CatalogError } from "../core/errors.ts";
import { createInTurn, turnOf } from "../core/in-turn.ts";
import { lastOf, type Position, type Revision, START } from "../core/position.ts";
import { entityStream, parseStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import { WrongRevision } from "../log/change-log.ts";
import { decodeRecord } from "../log/record-codec.ts";
import type { Addresses } from "./address.ts";
import { appendId, keyOf } from "./append-ids.ts";
import type { Caller, Ingested, Proposal, Written } from "./catalog.ts";
import { refuseTooMany } from "./checked-proposals.ts";
import type { DefinitionRemoval } from "./definition-removal.ts";
import { createDemandDecider, type Decided, type RequestTerms } from "./demand-decider.ts";
import { type Demand, demandsOf, type EventIntent, inPart, streamsOf, without } from "./demands.ts";
import type { Entry } from "./entity-states.ts";
import { inSlices } from "./in-slices.ts";
import { NO_OTHERS, readOthers } from "./other-entities.ts";
import type { Preparation, Prepared } from "./prepare.ts";
import { createRequestAppends, type RequestAppendsParts } from "./request-appends.ts";
import { decideInSlices } from "./sliced-decisions.ts";

/** How often a lost race is decided again before the caller is told. */
const attemptsMax = 5;

interface Dependencies extends RequestAppendsParts {
  readonly encode: (change: Change) => Uint8Array;
  readonly addresses: Addresses;
  readonly preparation: Preparation;
  readonly systemActor: string;
  readonly now: () => number;
  /** Waits while the aspect view is too far behind. */
  readonly admitted: () => Promise<void> | undefined;
  /** How many events of a timeseries aspect there are, every answered write counted. */
  readonly countEvents: (urn: string, aspect: string) => Promise<number>;
  /** True for a built-in entity, which exists even before a start has written it. */
  readonly isBuiltIn: (urn: string) => boolean;
  /** Urns of all entities of a type, including every acknowledged write. */
  readonly listUrns: (entityType: string) => Promise<readonly string[]>;
  /** Resolves when what is loaded again is what won the race. */
  readonly afterLostRace: () => Promise<void>;
  readonly definitionRemoval: () => DefinitionRemoval;
  /** Why the aspect view passes over an entity; undefined when it does not. */
  readonly parkedFor: (urn: string) => Promise<string | undefined>;
}

export interface Ingestion {
  /** `request` is what the caller's key stands for; the proposals when absent. */
  ingest(proposals: readonly Proposal[], caller: Caller, request?: unknown): Promise<Ingested>;
  /** Appends one timeseries change as it is; the entity need not exist. The key stands for `request`. */
  append(change: Change, caller: Caller, request: unknown): Promise<Written>;
  /**
   * What a rollback makes of an entity. Undefined: somebody has written to it since it was read, and
   * nothing is written.
   */
  undo(urn: string, undo: DecidedUndo, caller: Caller): Promise<Written | undefined>;
  /** The last change to the stream that the same request made before, under the caller's key. */
  earlier(
    stream: StreamName,
    caller: Caller,
    request: unknown,
  ): Promise<(Written & Pick<Change, "headers">) | undefined>;
}

/** What is to become of an entity, and of its events, as they are at some revisions. */
interface DecidedUndo {
  readonly revision: Revision;
  readonly intents: readonly Intent[];
  readonly events: readonly EventIntent[];
  readonly eventRevisions: ReadonlyMap<string, Revision>;
}

export function createIngestion(dependencies: Dependencies): Ingestion {
  const { log, encode, addresses, preparation, states, systemActor } = dependencies;
  const decider = createDemandDecider(dependencies);
  const requestAppends = createRequestAppends(dependencies);
  const largeInTurn = createInTurn(1);
  const keyed = new Map<string, Promise<Ingested>>();

  async function ingest(
    proposals: readonly Proposal[],
    caller: Caller,
    request: unknown = proposals,
  ): Promise<Ingested> {
    refuseTooMany(proposals.length);
    const stamp: AuditStamp = { time: dependencies.now(), actor: caller.actor ?? systemActor };
    const prepared = await prepareAll(proposals, stamp);
    const demands = demandsOf(prepared);
    if (demands.length === 0) return { position: dependencies.answered(), changed: [] };
    const waiting = dependencies.admitted();
    if (waiting !== undefined) await waiting;
    const key = keyOf(caller, request);
    const write = async (left = demands): Promise<Ingested> => {
      await refuseEmptyDeletes(prepared);
      return decideAndAppend(left, { stamp, key });
    };
    return removingValues(demands, () =>
      key === undefined ? write() : writeOnce(key, demands, write),
    );
  }

  /** Also removes the values of structured properties whose definitions the request deletes. */
  async function removingValues<T extends Written | undefined>(
    demands: readonly Demand[],
    write: () => Promise<T>,
  ): Promise<T> {
    const removal = dependencies.definitionRemoval();
    const deleted = removal.deletedBy(demands);
    if (deleted.length === 0) return write();
    await removal.ready();
    const written = await write();
    if (written === undefined) return written;
    const last = await removal.removeValues(deleted);
    return last > (written.position ?? START) ? { ...written, position: last } : written;
  }

  async function writeOnce(
    key: string,
    demands: readonly Demand[],
    write: (left?: readonly Demand[]) => Promise<Ingested>,
  ): Promise<Ingested> {
    return once(key, async () => {
      const earlier = await requestAppends.earlier(demands, key);
      if (earlier.size === 0) return write();
      const left = without(demands, earlier);
      const then = demands.filter((demand) => streamsOf(demand).some((one) => earlier.has(one)));
      // Where a call is one whole, all was written that the request had to.
      const now =
        dependencies.sharedLog && left.length > 0
          ? await write(left)
          : { position: lastOf([...earlier.values()]), changed: [] };
      const changed = new Set([...then.map(({ urn }) => urn), ...now.changed]);
      return { position: now.position, changed: [...changed] };
    });
  }

  /** Requests of one key go one after the other, so that each finds what the one before wrote. */
  async function once(key: string, work: () => Promise<Ingested>): Promise<Ingested> {
    const before = keyed.get(key);
    const running = (before ?? Promise.resolve()).then(work, work);
    keyed.set(key, running);
    try {
      return await running;
    } finally {
      if (keyed.get(key) === running) keyed.delete(key);
    }
  }

  /** The turn of a request that decides on large values ends when they are in the log. */
  async function decideAndAppend(
    asked: readonly Demand[],
    terms: Pick<RequestTerms, "stamp" | "key">,
  ): Promise<Ingested> {
    const turn = turnOf(largeInTurn);
    try {
      return await decideAndAppendWith(turn.take, asked, terms);
    } finally {
      turn.end();
    }
  }

  async function decideAndAppendWith(
    takeTurn: () => Promise<void>,
    asked: readonly Demand[],
    { stamp, key }: Pick<RequestTerms, "stamp" | "key">,
  ): Promise<Ingested> {
    /** What is not in the log yet. */
    let demands = asked;
    /** What is there already when an attempt is not the last. */
    const changed = new Set<string>();
    let reached: Position = START;
    const ends = new Map<StreamName, Revision>();
    const doubted = new Set<string>();
    for (let attempt = 1; ; attempt++) {
      const terms = { stamp, key, ends };
      const lastStep = await decideInSlices(demands, terms, { states, decider, takeTurn });
      const decided = lastStep();
      // An append that another request began has just failed: load again.
      if (decided === undefined) continue;
      if ("refusal" in decided) {
        const { entry, refusal } = decided;
        if (doubted.has(entry.urn) || !(await isOutdated(entry))) {
          throw inPart(refusal, asked, demands);
        }
        doubted.add(entry.urn);
        states.doubt([entry.urn]);
        continue;
      }
      try {
        const { position = reached } = await requestAppends.append(decided, key);
        const told = newsIn(decided);
        return {
          position: position > reached ? position : reached,
          changed: changed.size === 0 ? told : [...new Set([...changed, ...told])],
        };
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw inPart(error, asked, demands);
        if (error.appended.size > 0) {
          reached = lastOf([...error.appended.values(), { position: reached }]);
          dependencies.onAppended(reached, { timeseries: false });
          for (const urn of newsIn(decided, error.appended)) changed.add(urn);
          demands = without(demands, error.appended);
          if (demands.length === 0) return { position: reached, changed: [...changed] };
        }
        // Lost every time on what the view says: it may have passed over what the stream ends with.
        if (attempt >= attemptsMax - 1) ends.set(error.stream, await endOf(error));
        if (attempt >= attemptsMax) {
          const why = `lost the race for ${error.stream} ${attempt} times`;
          const conflict = { hint: "Send the request again", cause: error };
          throw inPart(new CatalogError("conflict", why, conflict), asked, demands);
        }
        // The log has what nobody here was told of: another writer's, or a batch that was kept
        // though its writer ended before it could say so.
        await dependencies.afterLostRace();
      }
    }
  }

  /** Whether another process has written to the entity since it was read. */
  async function isOutdated({ urn, state }: Entry): Promise<boolean> {
    if (!dependencies.sharedLog) return false;
    const options = { limit: 1, backward: true };
    const [last] = await log.readStream(entityStream(urn), "end", options);
    return last !== undefined && last.revision !== state?.revision;
  }

  /** Throws `conflict` where the entity waits behind a record that the view cannot take. */
  async function endOf({ stream, actual }: WrongRevision): Promise<Revision> {
    const urn = parseStream(stream)?.urn ?? "";
    const reason = await dependencies.parkedFor(urn);
    if (reason === undefined) return actual;
    throw new CatalogError("conflict", `"${urn}" is parked in the aspect view: ${reason}`, {
      hint: "It can be written again when that is retried or dropped: POST /operations?action=listParked",
    });
  }

  async function prepareAll(
    proposals: readonly Proposal[],
    stamp: AuditStamp,
  ): Promise<readonly Prepared[]> {
    const count = proposals.length;
    const addressed = await inSlices(proposals, (proposal, index) =>
      preparation.address(proposal, { index, count }),
    );
    const needed = (await inSlices(addressed, (one) => preparation.needs(one) ?? [])).flat();
    if (needed.length === 0) {
      return inSlices(addressed, (one) => preparation.prepare(one, stamp, NO_OTHERS));
    }
    const { listUrns, isBuiltIn } = dependencies;
    const reading = { addresses, states, preparation, stamp, listUrns, isBuiltIn };
    const othersAt = await readOthers(needed, addressed, reading);
    return inSlices(addressed, (one, index) => preparation.prepare(one, stamp, othersAt(index)));
  }

  /** Of events, which are no part of an entity's state: each delete takes what was told before it. */
  async function refuseEmptyDeletes(prepared: readonly Prepared[]): Promise<void> {
    const deletes = prepared.some(
      ({ aspect, intent }) => aspect.timeseries && intent.kind === "delete",
    );
    if (!deletes) return;
    /** Whether there are events, where the request itself says so; by urn and aspect. */
    const told = new Map<string, Map<string, boolean>>();
    const ended = new Set<string>();
    for (const { urn, entity, aspect, intent } of prepared) {
      if (isEnd(intent, entity.keyAspect)) {
        told.delete(urn);
        ended.add(urn);
      }
      if (!aspect.timeseries) continue;
      const ofUrn = told.get(urn) ?? new Map<string, boolean>();
      told.set(urn, ofUrn);
      const own = ofUrn.get(aspect.name) ?? (ended.has(urn) ? false : undefined);
      ofUrn.set(aspect.name, intent.kind !== "delete");
      if (intent.kind !== "delete") continue;
      if (own ?? (await dependencies.countEvents(urn, aspect.name)) > 0) continue;
      throw new CatalogError("not_found", `${intent.label}there is no "${aspect.name}" to delete`);
    }
  }

  async function appendUndo(
    demand: Demand,
    revision: Revision,
    caller: Caller,
  ): Promise<Written | undefined> {
    await dependencies.admitted();
    const stamp: AuditStamp = { time: dependencies.now(), actor: caller.actor ?? systemActor };
    const [entry] = await states.load([demand.urn]);
    if (entry?.state?.revision !== revision) {
      // The next read of the entity needs the result of the append in flight.
      await entry?.appending?.catch(() => {});
      states.doubt([demand.urn]);
      return undefined;
    }
    const terms = { stamp, key: undefined, ends: new Map(), delimiterOf: () => undefined };
    const decided = decider.decideEntity(demand, entry, terms);
    try {
      return await requestAppends.append([decided], undefined);
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      await dependencies.afterLostRace();
      return undefined;
    }
  }

  return {
    ingest,
    async undo(urn, { revision, intents, events, eventRevisions }, caller) {
      const { entity } = addresses.known(urn);
      const asked = { intents: [...intents], events: [...events], eventRevisions };
      const demand: Demand = { urn, entity, ...asked };
      return removingValues([demand], () => appendUndo(demand, revision, caller));
    },

    async append(change, caller, request) {
      const stream = timeseriesStream(change.urn, change.aspect);
      const id = appendId(keyOf(caller, request), stream);
      const appended = await log.append([
        { stream, expected: "any", records: [encode(change)], id },
      ]);
      const position = lastOf(appended);
      dependencies.onAppended(position, { timeseries: true });
      return { position };
    },

    async earlier(stream, caller, request) {
      const id = appendId(keyOf(caller, request), stream);
      const found = id && (await log.findAppend(stream, id));
      if (found === undefined) return undefined;
      const options = { limit: 1, backward: true };
      const [record] = await log.readStream(stream, found.revision, options);
      return { position: found.position, headers: record && decodeRecord(record)?.headers };
    },
  };
}

/** Entities of which something new was told; only what some appends hold, where those are given. */
const newsIn = (
  decided: readonly Decided[],
  appended?: ReadonlyMap<StreamName, unknown>,
): readonly string[] =>
  decided
    .filter(
      ({ news, appends }) =>
        news && (appended === undefined || appends.some(({ stream }) => appended.has(stream))),
    )
    .map(({ entry }) => entry.urn);
