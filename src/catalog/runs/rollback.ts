/**
 * Rollback of an ingestion run. It appends the state that each entity would have without the run;
 * the log keeps the run's records, and every view follows. It first records that the run is rolled
 * back, so that later records of the run count and no later read restores the earlier ones. An
 * interrupted rollback can be repeated: entities that are already rolled back stay unchanged.
 *
 * All records written with a model registry are rolled back like one run.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type AuditStamp, NO_RUN_ID, type PlacedChange } from "../../core/change.ts";
import { currentAspect } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { markOf, type Registry, registryMark } from "../../core/rollback.ts";
import { entityStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { changesOf } from "../../log/whole-reads.ts";
import { openHistories } from "../../projector/history.ts";
import type { Addresses } from "../address.ts";
import type { Caller, Catalog, RollbackRequest, Written } from "../catalog.ts";
import { VERSION } from "../references/latest-version.ts";
import type { RolledBackVersion, VersionRollback } from "../references/version-rollback.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import type { Ingestion } from "../write/ingest.ts";
import { createDefaultAspects } from "../write/proposals/default-aspects.ts";
import type { ProposalValidation } from "../write/proposals/validated-proposal.ts";
import {
  type EntityRollback,
  type EntityRollbackRequest,
  type RollbackTools,
  rollBackEntity,
} from "./rollback-entity.ts";
import { createTally, type Tally } from "./rollback-tally.ts";
import {
  executionOf,
  type RunLedger,
  recordsOfRegistry,
  recordsOfRun,
  rollbackNote,
} from "./run-ledger.ts";

interface RollbackDependencies extends RollbackTools {
  readonly log: ChangeLog;
  readonly addresses: Addresses;
  readonly states: Pick<EntityCache, "read">;
  readonly ingestion: Pick<Ingestion, "rollBack" | "append" | "ingest">;
  readonly versionSets: VersionRollback;
  readonly validation: Pick<ProposalValidation, "defaultAspects">;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
  /** Called with the position of a rollback's records. */
  readonly onRolledBack: (position: Position) => void;
}

type Rollback = Catalog["rollbackRun"];

/** Concurrent rollbacks of entities: their appends share a commit. */
const workersMax = 16;
/** Attempts at an entity that other writers change. */
const attemptsMax = 10;

export function createRollback(dependencies: RollbackDependencies, ledger: RunLedger): Rollback {
  const { log, decode, addresses, states, ingestion, versionSets, namespace } = dependencies;
  const given = createDefaultAspects(dependencies);

  /** Entities that the run wrote, in order; true for those with events. */
  async function entitiesIn(
    records: AsyncIterable<PlacedChange>,
    upTo: Position,
  ): Promise<ReadonlyMap<string, boolean>> {
    const entities = new Map<string, boolean>();
    for await (const { position, urn, timeseries } of records) {
      if (position > upTo) break;
      if (urn === "" || !addresses.isKnown(urn)) continue;
      entities.set(urn, timeseries || (entities.get(urn) ?? false));
    }
    return entities;
  }

  async function rollBack(
    entities: ReadonlyMap<string, boolean>,
    request: EntityRollbackRequest,
    caller: Caller,
    { dryRun, onDeleted }: { readonly dryRun: boolean; readonly onDeleted: (urn: string) => void },
  ): Promise<Tally> {
    const tally = createTally(request);
    const histories = await openHistories(log, decode);
    /** Versions of entities before their rollback. */
    const versions: RolledBackVersion[] = [];

    async function rollbackOf(urn: string, events: boolean): Promise<EntityRollback> {
      const address = addresses.readable(urn);
      const changes = events
        ? histories.changes(urn, await log.head())
        : changesOf(log, decode, entityStream(urn));
      const found = await rollBackEntity(
        dependencies,
        address,
        withRunId(changes, request),
        request,
      );
      // Other writers may have events of an entity that would be deleted.
      const asks = !events && found.key !== undefined && found.others === 0;
      return asks ? rollbackOf(urn, true) : found;
    }

    async function write(urn: string, found: EntityRollback): Promise<Written | undefined> {
      const { entity } = addresses.readable(urn);
      const version = await versionSets.beforeRollback(urn, entity, found.commands);
      const written = await ingestion.rollBack(urn, found, caller);
      if (version !== undefined && written !== undefined) versions.push(version);
      return written;
    }

    async function rollBackOne(urn: string, events: boolean): Promise<void> {
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        // Reading the log does not yield by itself: yield between two entities.
        await yieldToEventLoop();
        const found = await rollbackOf(urn, events);
        const nothing = found.commands.length + found.events.length === 0;
        const written = dryRun || nothing ? { position: undefined } : await write(urn, found);
        if (written === undefined) continue;
        if (found.ends === "deleted" && !dryRun) onDeleted(urn);
        return tally.add(urn, found, written.position);
      }
      throw new CatalogError("conflict", `lost the race for "${urn}" ${attemptsMax} times`, {
        hint: "Send the request again: entities rolled back so far stay rolled back",
      });
    }

    // After a failure the other workers finish their entity: nothing is written after the response.
    let failed = false;
    const work = async (left: Iterable<[string, boolean]>): Promise<void> => {
      for (const [urn, events] of left) {
        if (failed) return;
        try {
          await rollBackOne(urn, events);
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    };
    try {
      for (const left of definitionsLast(entities)) {
        const workers = Array.from({ length: workersMax }, () => work(left));
        for (const one of await Promise.allSettled(workers)) {
          if (one.status === "rejected") throw one.reason;
        }
      }
    } finally {
      // After all entities: a later version of the set may be rolled back, too.
      if (versions.length > 0) {
        const { position, kept } = await versionSets.afterRollback(versions, caller);
        if (position !== undefined) tally.reach(position);
        for (const urn of kept) tally.keep(urn, VERSION);
      }
    }
    return tally;
  }

  /** Deleting a definition removes its values, which would be writes to the entities by another writer. */
  function definitionsLast(entities: ReadonlyMap<string, boolean>) {
    const isDefinition = ([urn]: [string, boolean]): boolean =>
      addresses.readable(urn).entity.name === "structuredProperty";
    const all = entities.entries().toArray();
    const [others, definitions] = [
      all.filter((one) => !isDefinition(one)),
      all.filter(isDefinition),
    ];
    return [others.values(), definitions.values()];
  }

  async function noteRollback(rolledBack: string | Registry, caller: Caller): Promise<Position> {
    const actor = caller.actor ?? dependencies.systemActor;
    const created: AuditStamp = { time: dependencies.now(), actor };
    const note = rollbackNote(rolledBack, namespace, created);
    const { position } = await ingestion.append(note, { actor: caller.actor }, note);
    return position ?? START;
  }

  /** Sets the status of the run's execution request entity, if there is one. */
  async function writeExecutionStatus(
    runId: string,
    status: string,
    caller: Caller,
  ): Promise<void> {
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
    if (position !== undefined) dependencies.onRolledBack(position);
  }

  async function rollBackRun(runId: string, { request, caller, admit, onDeleted }: RollbackCall) {
    const { dryRun, hardDelete } = request;
    if (runId === NO_RUN_ID || runId === "") {
      throw new CatalogError("malformed", `"${runId}" is not the id of a single run`, {
        hint: "Use a run id from POST /runs?action=list",
      });
    }
    const runs = await ledger.read();
    const run = runs.find(runId);
    if (run === undefined) return createTally({ runId, hardDelete }).result();
    let upTo = runs.position;
    let entities = await entitiesIn(recordsOfRun(dependencies, run), upTo);
    await admit?.([...entities.keys()]);
    if (!dryRun) {
      await writeExecutionStatus(runId, "ROLLING_BACK", caller);
      upTo = await noteRollback(runId, caller);
      // The run may have written more before the note.
      await ledger.read();
      entities = await entitiesIn(recordsOfRun(dependencies, run), upTo);
      await admit?.([...entities.keys()]);
    }
    const asked = { runId, upTo, isRolledBack: runs.isRolledBack, hardDelete, given };
    const tally = await rollBack(entities, asked, caller, { dryRun, onDeleted });
    if (!dryRun) {
      await writeExecutionStatus(runId, "ROLLED_BACK", caller);
      tally.reach(upTo);
      dependencies.onRolledBack(tally.result().position ?? upTo);
    }
    return tally.result();
  }

  async function rollBackRegistry(
    registry: Registry,
    { request, caller, admit, onDeleted }: RollbackCall,
  ) {
    const { dryRun, hardDelete } = request;
    const runs = await ledger.read();
    const entitiesOf = (
      part: { readonly after: Position; readonly last: Position },
      upTo = part.last,
    ) => entitiesIn(recordsOfRegistry(dependencies, registry, part), upTo);
    const seen = runs.position;
    const part = runs.findRegistry(registry);
    const entities = new Map(part && (await entitiesOf(part, seen)));
    await admit?.([...entities.keys()]);
    const runId = registryMark(registry);
    let upTo = seen;
    if (!dryRun && entities.size > 0) {
      upTo = await noteRollback(registry, caller);
      // More may have been written before the note.
      const more = await entitiesOf({ after: seen, last: upTo });
      for (const [urn, events] of more) entities.set(urn, events || (entities.get(urn) ?? false));
      await admit?.([...more.keys()]);
    }
    const asked = { runId, upTo, isRolledBack: runs.isRolledBack, hardDelete, given };
    const tally = await rollBack(entities, asked, caller, { dryRun, onDeleted });
    if (upTo > seen) {
      tally.reach(upTo);
      dependencies.onRolledBack(tally.result().position ?? upTo);
    }
    return tally.result();
  }

  return async (request, caller, admit, onDeleted = () => {}) => {
    const asked = { request, caller, admit, onDeleted };
    const { runId, registry } = request;
    return registry === undefined ? rollBackRun(runId, asked) : rollBackRegistry(registry, asked);
  };
}

interface RollbackCall {
  readonly request: RollbackRequest;
  readonly caller: Caller;
  readonly admit: Parameters<Rollback>[2];
  readonly onDeleted: (urn: string) => void;
}

/** For a registry, its records count as records of the rolled-back run. */
async function* withRunId(
  changes: AsyncIterable<PlacedChange>,
  { runId }: EntityRollbackRequest,
): AsyncIterable<PlacedChange> {
  for await (const change of changes) {
    const { system } = change;
    yield markOf(system) === runId ? { ...change, system: { ...system, runId } } : change;
  }
}
