/** Assembles the use cases of the catalog over ports. app/service.ts opens adapters and threads. */
import type { EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { jsonLimits } from "../core/json-text.ts";
import { type Position, START } from "../core/position.ts";
import { createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { appendAll } from "../lib/lists.ts";
import { promptHead } from "../log/cached-head.ts";
import { watchLog } from "../log/log-health.ts";
import { readOnlyParking } from "../projector/parking/parking.ts";
import type { AccessContext } from "./access/access-filter.ts";
import { readBuiltInEntities } from "./access/built-in-entities.ts";
import type { ReadPorts } from "./access/filtered-readers.ts";
import { createAddresses } from "./address.ts";
import type { Catalog, ReadView } from "./catalog.ts";
import type { CatalogParts } from "./catalog-parts.ts";
import { createRestoreEdges, type RestoreEdges } from "./graph/restore-edges.ts";
import { entitiesBehind } from "./read/entities-behind.ts";
import { createEnvelopes } from "./read/read-entities.ts";
import {
  accessFilteredPorts,
  createFilteredReading,
  createReading,
  deletedRowsOf,
  type ReadingTools,
} from "./read/reading.ts";
import { createShownPositions } from "./read-consistency.ts";
import { createDefinitionRemoval } from "./references/definition-removal.ts";
import { createDeleteReferences } from "./references/references.ts";
import { createVersionSets } from "./references/version-sets.ts";
import { createRollback } from "./runs/rollback.ts";
import { createRunLedger } from "./runs/run-ledger.ts";
import { createRuns, createSeenRuns } from "./runs/runs.ts";
import { createSearchFields } from "./search/filter/fields.ts";
import { createHiddenStages } from "./search/hidden-stages.ts";
import { soonReached } from "./search/soon-found.ts";
import { createDelete } from "./write/delete.ts";
import { createEntityCache } from "./write/entity-cache.ts";
import { createIngestion } from "./write/ingest.ts";
import { createProduceEvent } from "./write/produce-event.ts";
import { createWriteDefaults } from "./write/proposals/default-aspects.ts";
import { proposalsOf } from "./write/proposals/legacy-snapshots.ts";
import { rejectOwnHeaders } from "./write/proposals/reserved-headers.ts";
import { createProposalValidation } from "./write/proposals/validate-proposals.ts";
import { createStreamStates } from "./write/stream-states.ts";

/** Maximum number of urns in a page. */
const listedMax = 1_000;
/** Number of requests for past states that are folded concurrently. */
const foldedAtOnceMax = 4;

const ASPECTS = "aspects";
const TIMESERIES = "timeseries";
const GRAPH = "graph";
const SEARCH = "search";

const viewOf: Readonly<Record<ReadView, string>> = {
  entities: ASPECTS,
  timeseries: TIMESERIES,
  relationships: GRAPH,
  search: SEARCH,
};

/** A catalog that can be restricted to the entities that one caller may see. */
interface ScopedCatalog extends Catalog {
  /**
   * The catalog for one caller: restricted or filtered entities do not exist for its reads. Writes
   * are unchanged, but references are removed from visible entities only.
   */
  authorizedFor(context: AccessContext): Catalog;
  /** An entity with every durable write, if it is cached. */
  peek(urn: string): EntityState | undefined;
  /**
   * A number that changes whenever reads of entities may change: by writes of this process and by
   * records that it has read from the log. Undefined while it does not follow the log.
   */
  entitiesVersion(): number | undefined;
  /** Writes missing default aspects as the system actor; returns their number. */
  writeDefaults(urns: readonly string[]): Promise<number>;
  readonly restoreEdges: RestoreEdges;
  /** Removes values of deleted structured properties that an earlier process left behind. */
  removeLeftValues(): Promise<void>;
}

export async function createCatalog(parts: CatalogParts): Promise<ScopedCatalog> {
  const { model, aspects, timeseries, graph, progress, namespace, now } = parts;
  const log = watchLog(parts.log, now);
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;
  const timeoutMs = parts.waitMsMax;
  const addresses = createAddresses(model, { namespace, limits: parts.urnLimits });
  const reached = (view: string) => (position: Position) =>
    progress.positions()[view] !== undefined && (progress.positions()[view] ?? START) >= position
      ? Promise.resolve()
      : progress.reached(view, position, { timeoutMs });

  // The position that each view needs to show every acknowledged write.
  const head = await log.head();
  const answered = { [ASPECTS]: head, [TIMESERIES]: head, [GRAPH]: head };
  const caughtUp = (view: keyof typeof answered) => () => reached(view)(answered[view] ?? START);

  /** The same with writes of other processes: for deletes and rejections that depend on a view. */
  const complete = (view: keyof typeof answered) => async () =>
    parts.sharedLog ? reached(view)(await log.head()) : caughtUp(view)();

  /** The search view has no acknowledged position of its own: it shows every versioned aspect. */
  const searchCaughtUp = async () =>
    reached(SEARCH)(parts.sharedLog ? await log.head() : (answered[ASPECTS] ?? START));

  const soonFound = () => soonReached(SEARCH, answered[ASPECTS] ?? START, { log, progress });

  const keyAspectOf = (type: string) => model.entities.get(type)?.keyAspect;
  const fold = createStreamStates(log, keyAspectOf);
  const states = createEntityCache({
    reader: aspects,
    fold,
    async parkedAmong(urns) {
      if ((progress.parked()[ASPECTS] ?? 0) === 0) return new Set();
      const parking = await readOnlyParking(log, ASPECTS);
      return new Set(urns.filter((urn) => parking.find(urn) !== undefined));
    },
    behind: parts.sharedLog ? undefined : await entitiesBehind(log, progress.positions()[ASPECTS]),
    reached: reached(ASPECTS),
    onProgress: (listener) =>
      progress.onProgress((positions) => listener(positions[ASPECTS] ?? START)),
    bytesMax: parts.cacheBytesMax,
    ...(parts.sharedLog && { fromLog: fold }),
  });

  progress.onRestored(states.evict);

  const validation = createProposalValidation({
    model,
    addresses,
    namespace,
    aspectBytesMax: parts.aspectBytesMax,
    jsonLimits: parts.jsonLimits ?? jsonLimits,
    patchRules: parts.patchRules,
    valueThread: parts.valueThread,
    onContradictedKey: parts.onContradictedKey,
  });

  let builtIns: ReadonlySet<string> | undefined;
  const plainIngestion = createIngestion({
    log,
    sharedLog: parts.sharedLog,
    encode: parts.encode,
    addresses,
    validation,
    states,
    systemActor,
    now,
    untilViewFollows() {
      // A shared log accepts writes whatever the views do. Positions of any other log number its records.
      if (parts.sharedLog) return undefined;
      const behind = (answered[ASPECTS] ?? START) - (progress.positions()[ASPECTS] ?? START);
      if (behind <= parts.lagMax) return undefined;
      return reached(ASPECTS)(((answered[ASPECTS] ?? START) - parts.lagMax) as Position);
    },
    async afterLostRace() {
      // With a shared log the entity is folded from its stream.
      if (parts.sharedLog) return;
      const position = await log.head();
      progress.notifyAppended(position);
      await reached(ASPECTS)(position);
    },
    definitionRemoval: () => definitionRemoval,
    async parkedFor(urn) {
      return (await readOnlyParking(log, ASPECTS)).find(urn)?.reason;
    },
    async countEvents(urn, aspect) {
      await complete(TIMESERIES)();
      return timeseries.count({ urn, aspect });
    },
    isBuiltIn(urn) {
      const stamp = { time: 0, actor: systemActor };
      builtIns ??= new Set(readBuiltInEntities(model, namespace, stamp).map((one) => one.urn));
      return builtIns.has(urn);
    },
    async listUrns(entityType) {
      await complete(ASPECTS)();
      const urns: string[] = [];
      for (;;) {
        const next = await aspects.urnsAfter(entityType, urns.at(-1) ?? "", listedMax);
        appendAll(urns, next);
        if (next.length < listedMax) return urns;
      }
    },
    acknowledged: () => answered[ASPECTS] ?? START,
    onAppended(position, of) {
      if (position > (answered[ASPECTS] ?? START)) answered[ASPECTS] = position;
      if (position > (answered[GRAPH] ?? START)) answered[GRAPH] = position;
      if (of.timeseries && position > (answered[TIMESERIES] ?? START)) {
        answered[TIMESERIES] = position;
      }
      progress.notifyAppended(position);
    },
  });

  const versionSets = createVersionSets({
    ingestion: plainIngestion,
    model,
    states,
    graph,
    caughtUp: complete(GRAPH),
    namespace,
    patchRules: parts.patchRules,
  });
  const { ingestion } = versionSets;

  function entitiesVersion(): number | undefined {
    const at = progress.positions()[ASPECTS];
    // Positions only grow, except for a restored view, which adds a restoration. So a change
    // changes the sum.
    if (at === undefined) return undefined;
    return at + (answered[ASPECTS] ?? START) + progress.restorations();
  }

  const tools: ReadingTools = {
    model,
    addresses,
    namespace,
    systemActor,
    now,
    log,
    reached: reached(ASPECTS),
    parts,
    caughtUp,
    soonFound,
    append: ingestion.append,
    fields: createSearchFields(parts.search.rules),
    states,
    hiddenStages: createHiddenStages({ aspects, states, version: entitiesVersion, now }),
    withSlot: createConcurrencyLimit(foldedAtOnceMax),
    withLargeSlot: createConcurrencyLimit(1),
    withTimelineSlot: createConcurrencyLimit(1),
    envelopes: createEnvelopes({ model, addresses, systemActor, now }),
    // Both only grow, so a change changes the sum.
    graphVersion() {
      const at = progress.positions()[GRAPH] ?? START;
      return at < (answered[GRAPH] ?? START) ? undefined : at + progress.restorations();
    },
  };
  const ports: ReadPorts = { states, aspects, timeseries, graph, search: parts.search.reader };

  const shown = createShownPositions({
    sharedLog: parts.sharedLog,
    positionOf: (view) => progress.positions()[viewOf[view]] ?? START,
    reached: (view, position) => reached(viewOf[view])(position),
    answered: () => answered[ASPECTS] ?? START,
  });

  const runTools = { log, decode: parts.decode, project: parts.projectTimeseries };
  const ledger = createRunLedger({ ...runTools, keyAspectOf });
  const deletingReferences = (seen: ReadPorts) =>
    createDeleteReferences({
      model,
      addresses,
      paths: parts.references,
      states: seen.states,
      reader: seen.graph,
      search: seen.search,
      ingest: ingestion.ingest,
      caughtUp: complete(GRAPH),
      searchCaughtUp,
    });
  const definitionRemoval = createDefinitionRemoval({
    log,
    states,
    namespace,
    deleteReferences: deletingReferences(ports),
    searchCaughtUp,
  });

  const catalog: Catalog = {
    async ingest(proposals, caller) {
      rejectOwnHeaders(proposals);
      return ingestion.ingest(proposals, caller);
    },
    proposalsOf: (snapshots) => proposalsOf(model, snapshots),
    delete: createDelete({
      log,
      model,
      addresses,
      states,
      ingestion,
      countValues: deletedRowsOf(tools).countValues,
      reader: timeseries,
      systemActor,
      now,
      caughtUp: complete(TIMESERIES),
    }),
    deleteReferences: deletingReferences(ports),
    producePlatformEvent: createProduceEvent({
      ...{ log, encode: parts.encode, systemActor, now },
      onAppended: (at) => progress.notifyAppended(at),
    }),

    ...createReading(tools, ports),

    ...createRuns({ ...runTools, model, states, aspects, caughtUp: caughtUp(ASPECTS) }, ledger),
    rollbackRun: createRollback(
      {
        ...runTools,
        addresses,
        states,
        ingestion,
        versionSets,
        validation,
        namespace,
        systemActor,
        now,
        onRolledBack(position) {
          if (position > (answered[TIMESERIES] ?? START)) answered[TIMESERIES] = position;
        },
      },
      ledger,
    ),

    ...shown,

    async health() {
      const errors = progress.errors();
      const views = Object.fromEntries(
        Object.entries(progress.positions()).map(([view, position]) => [
          view,
          { position, ...(errors[view] !== undefined && { error: errors[view] }) },
        ]),
      );
      let at = answered[ASPECTS] ?? START;
      let logError = log.trouble();
      try {
        at = await promptHead(log);
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        logError ??= error.message;
      }
      const ok = Object.keys(errors).length === 0 && logError === undefined;
      return { ok, log: at, logError, views };
    },
  };
  return {
    ...catalog,
    peek: states.peekQuietly,
    entitiesVersion,
    writeDefaults: createWriteDefaults({ addresses, states, validation, ingest: ingestion.ingest }),
    removeLeftValues: definitionRemoval.removeLeftValues,
    restoreEdges: createRestoreEdges({
      log,
      decode: parts.decode,
      edges: parts.statedEdges,
      addresses,
      ingestion,
    }),
    authorizedFor(context) {
      const own = {
        ...catalog,
        ...createFilteredReading(tools, ports, context),
        ...createSeenRuns(catalog, context),
      };
      if (context.resolveFilter !== undefined) {
        const deleteReferences = deletingReferences(accessFilteredPorts(context, ports));
        return { ...own, deleteReferences };
      }
      // Restricted entities have no relationships, so the shared relationship cache is correct
      // here.
      const { listRelationships, getLineage, forgetRelationships } = catalog;
      return { ...own, listRelationships, getLineage, forgetRelationships };
    },
  };
}
