/**
 * Writes a request: its proposals become appends to the log, all of them or none.
 *
 *   address → validate → load the entities → decide → append → acknowledge
 *
 * A decision is made on the newest states and appended at once (sliced-decisions.ts), so that requests of
 * one process do not lose races against each other. After a lost race against another writer of the log,
 * the request is decided again on the new state. After `attemptsMax` lost races it fails with
 * `conflict` (HTTP 409). A rejection is decided again once, if another writer has changed the entity
 * since it was read.
 */
import type { AuditStamp, Change } from "../../core/change.ts";
import { type AspectCommand, isEntityDelete } from "../../core/decide.ts";
import { CatalogError } from "../../core/errors.ts";
import { lastOf, type Position, type Revision, START } from "../../core/position.ts";
import { entityStream, parseStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import { createConcurrencyLimit, slotOf } from "../../lib/concurrency-limit.ts";
import { WrongRevision } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import type { Addresses } from "../address.ts";
import type { Caller, Ingested, Proposal, Written } from "../catalog.ts";
import type { DefinitionRemoval } from "../references/definition-removal.ts";
import { inTimeSlices } from "../time-slices.ts";
import { createAppendRequest, type RequestAppendsParts } from "./append-request.ts";
import { createWriteDecider, type EntityDecision, type RequestTerms } from "./decide-request.ts";
import type { Entry } from "./entity-cache.ts";
import { appendId, keyOf } from "./idempotency.ts";
import { requireProposalsMax } from "./proposals/checked-proposals.ts";
import { NO_OTHER_ENTITIES, readOtherEntities } from "./proposals/other-entities.ts";
import type { ProposalValidation, ValidatedProposal } from "./proposals/validated-proposal.ts";
import { decideInSlices } from "./sliced-decisions.ts";
import {
  type EventCommand,
  inPart,
  streamsOf,
  type WriteRequest,
  without,
  writeRequestsOf,
} from "./write-request.ts";

/** Attempts at a decision before the caller gets a conflict. */
const attemptsMax = 5;

interface Dependencies extends RequestAppendsParts {
  readonly encode: (change: Change) => Uint8Array;
  readonly addresses: Addresses;
  readonly validation: ProposalValidation;
  readonly systemActor: string;
  readonly now: () => number;
  /** Waits while the aspect view lags too far behind. */
  readonly untilViewFollows: () => Promise<void> | undefined;
  /** Number of events of a timeseries aspect, including every acknowledged write. */
  readonly countEvents: (urn: string, aspect: string) => Promise<number>;
  /** True for a built-in entity, which exists even before a start has written it. */
  readonly isBuiltIn: (urn: string) => boolean;
  /** Urns of all entities of a type, including every acknowledged write. */
  readonly listUrns: (entityType: string) => Promise<readonly string[]>;
  /** Resolves when the next load includes the write that won the race. */
  readonly afterLostRace: () => Promise<void>;
  readonly definitionRemoval: () => DefinitionRemoval;
  /** The reason if the entity is parked in the aspect view. */
  readonly parkedFor: (urn: string) => Promise<string | undefined>;
}

export interface Ingestion {
  /** `request`: what the idempotency key of the caller stands for; the proposals when absent. */
  ingest(proposals: readonly Proposal[], caller: Caller, request?: unknown): Promise<Ingested>;
  /**
   * Appends one timeseries change unchanged; the entity need not exist. The idempotency key applies
   * to `request`.
   */
  append(change: Change, caller: Caller, request: unknown): Promise<Written>;
  /**
   * Writes the rollback of an entity. Undefined: another write came first, and nothing is written.
   */
  rollBack(urn: string, rollBack: RollbackDecision, caller: Caller): Promise<Written | undefined>;
  /** The last change to the stream that the same request made before, under the caller's key. */
  earlier(
    stream: StreamName,
    caller: Caller,
    request: unknown,
  ): Promise<(Written & Pick<Change, "headers">) | undefined>;
}

/** Commands for an entity and its events, decided at these revisions. */
interface RollbackDecision {
  readonly revision: Revision;
  readonly commands: readonly AspectCommand[];
  readonly events: readonly EventCommand[];
  readonly eventRevisions: ReadonlyMap<string, Revision>;
}

export function createIngestion(dependencies: Dependencies): Ingestion {
  const { log, encode, addresses, validation, states, systemActor } = dependencies;
  const decider = createWriteDecider(dependencies);
  const requestAppends = createAppendRequest(dependencies);
  const withLargeSlot = createConcurrencyLimit(1);
  const keyed = new Map<string, Promise<Ingested>>();

  async function ingest(
    proposals: readonly Proposal[],
    caller: Caller,
    request: unknown = proposals,
  ): Promise<Ingested> {
    requireProposalsMax(proposals.length);
    const stamp: AuditStamp = { time: dependencies.now(), actor: caller.actor ?? systemActor };
    const validated = await validateAll(proposals, stamp);
    const writeRequests = writeRequestsOf(validated);
    if (writeRequests.length === 0) return { position: dependencies.acknowledged(), changed: [] };
    const waiting = dependencies.untilViewFollows();
    if (waiting !== undefined) await waiting;
    const key = keyOf(caller, request);
    const write = async (left = writeRequests): Promise<Ingested> => {
      await rejectEmptyDeletes(validated);
      return decideAndAppend(left, { stamp, key });
    };
    return removingValues(writeRequests, () =>
      key === undefined ? write() : writeOnce(key, writeRequests, write),
    );
  }

  /** Also removes the values of structured properties whose definitions the request deletes. */
  async function removingValues<T extends Written | undefined>(
    writeRequests: readonly WriteRequest[],
    write: () => Promise<T>,
  ): Promise<T> {
    const removal = dependencies.definitionRemoval();
    const deleted = removal.deletedBy(writeRequests);
    if (deleted.length === 0) return write();
    await removal.ready();
    const written = await write();
    if (written === undefined) return written;
    const last = await removal.removeValues(deleted);
    return last > (written.position ?? START) ? { ...written, position: last } : written;
  }

  async function writeOnce(
    key: string,
    writeRequests: readonly WriteRequest[],
    write: (left?: readonly WriteRequest[]) => Promise<Ingested>,
  ): Promise<Ingested> {
    return once(key, async () => {
      const earlier = await requestAppends.earlier(writeRequests, key);
      if (earlier.size === 0) return write();
      const left = without(writeRequests, earlier);
      const then = writeRequests.filter((writeRequest) =>
        streamsOf(writeRequest).some((one) => earlier.has(one)),
      );
      // An append to an embedded log is atomic: a repeated request was written completely.
      const now =
        dependencies.sharedLog && left.length > 0
          ? await write(left)
          : { position: lastOf([...earlier.values()]), changed: [] };
      const changed = new Set([...then.map(({ urn }) => urn), ...now.changed]);
      return { position: now.position, changed: [...changed] };
    });
  }

  /**
   * Requests with the same key run one after another, so that each finds the writes of the previous
   * one.
   */
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

  /** Requests that decide on large values run one at a time, until their values are in the log. */
  async function decideAndAppend(
    asked: readonly WriteRequest[],
    terms: Pick<RequestTerms, "stamp" | "key">,
  ): Promise<Ingested> {
    const slot = slotOf(withLargeSlot);
    try {
      return await decideAndAppendWith(slot.acquire, asked, terms);
    } finally {
      slot.release();
    }
  }

  async function decideAndAppendWith(
    acquireSlot: () => Promise<void>,
    asked: readonly WriteRequest[],
    { stamp, key }: Pick<RequestTerms, "stamp" | "key">,
  ): Promise<Ingested> {
    /** Write requests that are not in the log yet. */
    let writeRequests = asked;
    /** Entities that earlier attempts have changed. */
    const changed = new Set<string>();
    let reached: Position = START;
    const streamEnds = new Map<StreamName, Revision>();
    const invalidated = new Set<string>();
    for (let attempt = 1; ; attempt++) {
      const terms = { stamp, key, streamEnds };
      const lastStep = await decideInSlices(writeRequests, terms, { states, decider, acquireSlot });
      const decided = lastStep();
      // An append that another request began has just failed: load again.
      if (decided === undefined) continue;
      if ("rejection" in decided) {
        const { entry, rejection } = decided;
        if (invalidated.has(entry.urn) || !(await isOutdated(entry))) {
          throw inPart(rejection, asked, writeRequests);
        }
        invalidated.add(entry.urn);
        states.invalidate([entry.urn]);
        continue;
      }
      try {
        const { position = reached } = await requestAppends.append(decided, key);
        const urns = changedIn(decided);
        return {
          position: position > reached ? position : reached,
          changed: changed.size === 0 ? urns : [...new Set([...changed, ...urns])],
        };
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw inPart(error, asked, writeRequests);
        if (error.appended.size > 0) {
          reached = lastOf([...error.appended.values(), { position: reached }]);
          dependencies.onAppended(reached, { timeseries: false });
          for (const urn of changedIn(decided, error.appended)) changed.add(urn);
          writeRequests = without(writeRequests, error.appended);
          if (writeRequests.length === 0) return { position: reached, changed: [...changed] };
        }
        // Lost every time with the view's state: the view may skip the last records of the stream.
        if (attempt >= attemptsMax - 1) streamEnds.set(error.stream, await endOf(error));
        if (attempt >= attemptsMax) {
          const message = `other writers changed ${error.stream} during all ${attempt} attempts`;
          const options = { hint: "Send the request again", cause: error };
          throw inPart(new CatalogError("conflict", message, options), asked, writeRequests);
        }
        // The log has a record that this process has not read: of another writer, or of a batch
        // whose writer ended before it acknowledged the batch.
        await dependencies.afterLostRace();
      }
    }
  }

  /**
   * True if another process has written to the entity since it was read. Throws `gone` if it was deleted
   * from the log for good.
   */
  async function isOutdated({ urn, state }: Entry): Promise<boolean> {
    if (!dependencies.sharedLog) return false;
    const options = { limit: 1, backward: true };
    const [last] = await log.readStream(entityStream(urn), "end", options);
    if (last === undefined) await log.rejectGone?.(entityStream(urn));
    return last !== undefined && last.revision !== state?.revision;
  }

  /** The actual end of the stream. Throws `conflict` if the entity is parked in the aspect view. */
  async function endOf({ stream, actual }: WrongRevision): Promise<Revision> {
    const urn = parseStream(stream)?.urn ?? "";
    const reason = await dependencies.parkedFor(urn);
    if (reason === undefined) return actual;
    throw new CatalogError("conflict", `"${urn}" is parked in the aspect view: ${reason}`, {
      hint: "Retry or drop the parked record before writing again: annals parked, or POST /operations?action=listParked",
    });
  }

  async function validateAll(
    proposals: readonly Proposal[],
    stamp: AuditStamp,
  ): Promise<readonly ValidatedProposal[]> {
    const count = proposals.length;
    const addressed = await inTimeSlices(proposals, (proposal, index) =>
      validation.address(proposal, { index, count }),
    );
    const needed = (
      await inTimeSlices(addressed, (one) => validation.dependencies(one) ?? [])
    ).flat();
    if (needed.length === 0) {
      return inTimeSlices(addressed, (one) => validation.validate(one, stamp, NO_OTHER_ENTITIES));
    }
    const { listUrns, isBuiltIn } = dependencies;
    const reading = { addresses, states, validation, stamp, listUrns, isBuiltIn };
    const othersAt = await readOtherEntities(needed, addressed, reading);
    return inTimeSlices(addressed, (one, index) =>
      validation.validate(one, stamp, othersAt(index)),
    );
  }

  /**
   * Rejects deletes of events if there are none. Events are not part of an entity's state. A delete
   * covers the events before it.
   */
  async function rejectEmptyDeletes(prepared: readonly ValidatedProposal[]): Promise<void> {
    const deletes = prepared.some(
      ({ aspect, command }) => aspect.timeseries && command.kind === "delete",
    );
    if (!deletes) return;
    /** Existence of events as far as the request determines it; by urn and aspect. */
    const eventsExist = new Map<string, Map<string, boolean>>();
    const ended = new Set<string>();
    for (const { urn, entity, aspect, command } of prepared) {
      if (isEntityDelete(command, entity.keyAspect)) {
        eventsExist.delete(urn);
        ended.add(urn);
      }
      if (!aspect.timeseries) continue;
      const ofUrn = eventsExist.get(urn) ?? new Map<string, boolean>();
      eventsExist.set(urn, ofUrn);
      const own = ofUrn.get(aspect.name) ?? (ended.has(urn) ? false : undefined);
      ofUrn.set(aspect.name, command.kind !== "delete");
      if (command.kind !== "delete") continue;
      if (own ?? (await dependencies.countEvents(urn, aspect.name)) > 0) continue;
      throw new CatalogError("not_found", `${command.label}there is no "${aspect.name}" to delete`);
    }
  }

  async function appendRollBack(
    writeRequest: WriteRequest,
    revision: Revision,
    caller: Caller,
  ): Promise<Written | undefined> {
    await dependencies.untilViewFollows();
    const stamp: AuditStamp = { time: dependencies.now(), actor: caller.actor ?? systemActor };
    const [entry] = await states.load([writeRequest.urn]);
    if (entry?.state?.revision !== revision) {
      // The next read of the entity needs the result of the append in flight.
      await entry?.appending?.catch(() => {});
      states.invalidate([writeRequest.urn]);
      return undefined;
    }
    const terms = { stamp, key: undefined, streamEnds: new Map(), delimiterOf: () => undefined };
    const decided = decider.decideEntity(writeRequest, entry, terms);
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
    async rollBack(urn, { revision, commands, events, eventRevisions }, caller) {
      const { entity } = addresses.readable(urn);
      const asked = { commands: [...commands], events: [...events], eventRevisions };
      const writeRequest: WriteRequest = { urn, entity, ...asked };
      return removingValues([writeRequest], () => appendRollBack(writeRequest, revision, caller));
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

/** Urns of changed entities; with `appended`, only those with an append in it. */
const changedIn = (
  decided: readonly EntityDecision[],
  appended?: ReadonlyMap<StreamName, unknown>,
): readonly string[] =>
  decided
    .filter(
      ({ hasChanges, appends }) =>
        hasChanges &&
        (appended === undefined || appends.some(({ stream }) => appended.has(stream))),
    )
    .map(({ entry }) => entry.urn);
