/**
 * Undoing a run of ingestion. It writes what each entity would be if the run had told nothing, as
 * further records: the log keeps what was told, and every view follows. It notes first that the run
 * is undone, so that what the run tells from then on counts, and that nothing later brings back what
 * it told. A rollback that was cut short is asked for again: what is undone already comes to nothing.
 *
 * What was told with a model registry is undone as if one run had told it.
 */
import { setImmediate as turn } from "node:timers/promises";
import { type AuditStamp, NO_RUN_ID, type PlacedChange } from "../core/change.ts";
import { currentAspect } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { markOf, type Registry, registryMark } from "../core/undo.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { openHistories } from "../projector/history.ts";
import type { Addresses } from "./address.ts";
import type { Caller, Catalog, RollbackRequest } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import { createGiven } from "./given-aspects.ts";
import type { Ingestion } from "./ingest.ts";
import type { Preparation } from "./prepare.ts";
import { createTally, type Tally } from "./rollback-tally.ts";
import {
  executionOf,
  type RunLedger,
  recordsOfRegistry,
  recordsOfRun,
  rollbackNote,
} from "./run-ledger.ts";
import { changesOf } from "./stream-changes.ts";
import { type EntityUndo, type UndoRequest, type UndoTools, undoEntity } from "./undo-entity.ts";

interface RollbackDependencies extends UndoTools {
  readonly log: ChangeLog;
  readonly addresses: Addresses;
  readonly states: Pick<EntityStates, "read">;
  readonly ingestion: Pick<Ingestion, "undo" | "append" | "ingest">;
  readonly preparation: Pick<Preparation, "given">;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
  /** A rollback has written at a position. */
  readonly onUndone: (position: Position) => void;
}

type Rollback = Catalog["rollbackRun"];

/** Entities that are undone side by side: their appends share a commit. */
const lanesMax = 16;
/** How often an entity that others write to is looked at again. */
const attemptsMax = 10;

export function createRollback(dependencies: RollbackDependencies, ledger: RunLedger): Rollback {
  const { log, addresses, states, ingestion, namespace } = dependencies;
  const given = createGiven(dependencies);

  /** Entities that the run told of, in the order in which it did, and whether of events, too. */
  async function toldIn(
    records: AsyncIterable<PlacedChange>,
    upTo: Position,
  ): Promise<ReadonlyMap<string, boolean>> {
    const told = new Map<string, boolean>();
    for await (const { position, urn, timeseries } of records) {
      if (position > upTo) break;
      if (urn === "" || !addresses.isKnown(urn)) continue;
      told.set(urn, timeseries || (told.get(urn) ?? false));
    }
    return told;
  }

  async function undo(
    told: ReadonlyMap<string, boolean>,
    request: UndoRequest,
    caller: Caller,
    { dryRun, onDeleted }: { readonly dryRun: boolean; readonly onDeleted: (urn: string) => void },
  ): Promise<Tally> {
    const tally = createTally(request);
    const histories = await openHistories(log, dependencies.decode);
    const left = told.entries();

    async function undoing(urn: string, events: boolean): Promise<EntityUndo> {
      const address = addresses.known(urn);
      const changes = events
        ? histories.changes(urn, await log.head())
        : changesOf(dependencies, urn);
      const found = await undoEntity(dependencies, address, asTold(changes, request), request);
      // Others may have told events of what would end.
      const asks = !events && found.key !== undefined && found.others === 0;
      return asks ? undoing(urn, true) : found;
    }

    async function undoOne(urn: string, events: boolean): Promise<void> {
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        // Reading the log is no reason to wait: others have their turn between two entities.
        await turn();
        const found = await undoing(urn, events);
        const nothing = found.intents.length + found.events.length === 0;
        const written =
          dryRun || nothing ? { position: undefined } : await ingestion.undo(urn, found, caller);
        if (written === undefined) continue;
        if (found.ends === "deleted" && !dryRun) onDeleted(urn);
        return tally.add(urn, found, written.position);
      }
      throw new CatalogError("conflict", `lost the race for "${urn}" ${attemptsMax} times`, {
        hint: "Send the request again: what is undone already stays so",
      });
    }

    // Where one fails, the others end what they have begun: nothing is written after the answer.
    let failed = false;
    const lane = async (): Promise<void> => {
      for (const [urn, events] of left) {
        if (failed) return;
        try {
          await undoOne(urn, events);
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: lanesMax }, lane));
    for (const one of lanes) if (one.status === "rejected") throw one.reason;
    return tally;
  }

  async function noteRollback(undone: string | Registry, caller: Caller): Promise<Position> {
    const actor = caller.actor ?? dependencies.systemActor;
    const created: AuditStamp = { time: dependencies.now(), actor };
    const note = rollbackNote(undone, namespace, created);
    const { position } = await ingestion.append(note, { actor: caller.actor }, note);
    return position ?? START;
  }

  /** Where a client tells of its runs, it is told there, too, what becomes of this one. */
  async function tellExecution(runId: string, status: string, caller: Caller): Promise<void> {
    const urn = executionOf(runId, namespace);
    if (!addresses.isKnown(urn)) return;
    const [state] = await states.read([urn]);
    const result = state && currentAspect(state, "dataHubExecutionRequestResult")?.value;
    if (result === undefined) return;
    const proposal = {
      entityType: "dataHubExecutionRequest",
      entityUrn: urn,
      changeType: "UPSERT" as const,
      aspectName: "dataHubExecutionRequestResult",
      aspect: { value: { ...JSON.parse(result), status } },
    };
    const { position } = await ingestion.ingest([proposal], { actor: caller.actor });
    if (position !== undefined) dependencies.onUndone(position);
  }

  async function undoRun(runId: string, { request, caller, admit, onDeleted }: Asked) {
    const { dryRun, hardDelete } = request;
    if (runId === NO_RUN_ID || runId === "") {
      throw new CatalogError("malformed", `"${runId}" is the id of no single run`, {
        hint: "Name a run of POST /runs?action=list",
      });
    }
    const runs = await ledger.read();
    const run = runs.find(runId);
    if (run === undefined) return createTally({ runId, hardDelete }).answer();
    let upTo = runs.position;
    let told = await toldIn(recordsOfRun(dependencies, run), upTo);
    await admit?.([...told.keys()]);
    if (!dryRun) {
      await tellExecution(runId, "ROLLING_BACK", caller);
      upTo = await noteRollback(runId, caller);
      // The run may have told more before that.
      await ledger.read();
      told = await toldIn(recordsOfRun(dependencies, run), upTo);
      await admit?.([...told.keys()]);
    }
    const asked = { runId, upTo, isUndone: runs.isUndone, hardDelete, given };
    const tally = await undo(told, asked, caller, { dryRun, onDeleted });
    if (!dryRun) {
      await tellExecution(runId, "ROLLED_BACK", caller);
      tally.reach(upTo);
      dependencies.onUndone(tally.answer().position ?? upTo);
    }
    return tally.answer();
  }

  async function undoRegistry(registry: Registry, { request, caller, admit, onDeleted }: Asked) {
    const { dryRun, hardDelete } = request;
    const runs = await ledger.read();
    const toldSince = (after: Position, last: Position) =>
      toldIn(recordsOfRegistry(dependencies, registry, { after, last }), last);
    const seen = runs.position;
    const told = new Map(await toldSince(START, seen));
    await admit?.([...told.keys()]);
    const runId = registryMark(registry);
    let upTo = seen;
    if (!dryRun && told.size > 0) {
      upTo = await noteRollback(registry, caller);
      // More may have been told before that.
      const more = await toldSince(seen, upTo);
      for (const [urn, events] of more) told.set(urn, events || (told.get(urn) ?? false));
      await admit?.([...more.keys()]);
    }
    const asked = { runId, upTo, isUndone: runs.isUndone, hardDelete, given };
    const tally = await undo(told, asked, caller, { dryRun, onDeleted });
    if (upTo > seen) {
      tally.reach(upTo);
      dependencies.onUndone(tally.answer().position ?? upTo);
    }
    return tally.answer();
  }

  return async (request, caller, admit, onDeleted = () => {}) => {
    const asked = { request, caller, admit, onDeleted };
    const { runId, registry } = request;
    return registry === undefined ? undoRun(runId, asked) : undoRegistry(registry, asked);
  };
}

interface Asked {
  readonly request: RollbackRequest;
  readonly caller: Caller;
  readonly admit: Parameters<Rollback>[2];
  readonly onDeleted: (urn: string) => void;
}

/** Where a registry is undone, what was told with it is told by the run of that name. */
async function* asTold(
  changes: AsyncIterable<PlacedChange>,
  { runId }: UndoRequest,
): AsyncIterable<PlacedChange> {
  for await (const change of changes) {
    const { system } = change;
    yield markOf(system) === runId ? { ...change, system: { ...system, runId } } : change;
  }
}
