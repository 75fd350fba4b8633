/**
 * The catalog over a log and its views: the use cases, put together. Adapters and threads are
 * the business of service.ts; here are only ports.
 */
import type { AspectReader } from "../aspects/aspect-table.ts";
import type { Change, PlacedChange } from "../core/change.ts";
import { currentAspect } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { PatchRules } from "../core/patch.ts";
import { type Position, START } from "../core/position.ts";
import { patternWithNamespace, type UrnLimits } from "../core/urn.ts";
import type { GraphReader } from "../graph/graph.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import { watchLog } from "../log/watched-log.ts";
import type { Model } from "../model/model.ts";
import { openParking, readParking } from "../projector/parking.ts";
import type { Progress, Restoration } from "../projector/progress.ts";
import type { TimeseriesReader } from "../timeseries/timeseries-table.ts";
import { createAddresses, unknownEntityType } from "./address.ts";
import type { Catalog, ReadView } from "./catalog.ts";
import { createChanges } from "./changes.ts";
import { createDelete } from "./delete.ts";
import { createEntityStates } from "./entity-states.ts";
import { inSlices } from "./in-slices.ts";
import { createIngestion } from "./ingest.ts";
import { createLineage, type LineageSteps } from "./lineage.ts";
import { createPreparation } from "./prepare.ts";
import { createReads } from "./read-entities.ts";
import { createTimeseriesReads } from "./read-timeseries.ts";
import { createDeleteReferences, type ReferencePaths } from "./references.ts";
import { createRelationships } from "./relationships.ts";
import { createSearches, type SearchParts } from "./searches.ts";
import { proposalsOf } from "./snapshots.ts";
import { createStreamStates } from "./stream-states.ts";
import { createUsage } from "./usage.ts";

export interface CatalogParts {
  readonly model: Model;
  readonly patchRules: PatchRules;
  readonly log: ChangeLog;
  readonly encode: (change: Change) => Uint8Array;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly aspects: AspectReader;
  readonly timeseries: TimeseriesReader;
  readonly graph: GraphReader;
  readonly lineage: LineageSteps;
  readonly references: ReferencePaths;
  readonly search: SearchParts;
  readonly progress: Progress & Pick<Restoration, "restorations" | "onRestored">;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  readonly aspectBytesMax: number;
  readonly cacheBytesMax: number;
  /** Whether other processes write to the log, too. */
  readonly sharedLog: boolean;
  /** Records that the aspect view may be behind before writes wait for it. */
  readonly lagMax: number;
  /** Milliseconds that a read waits for a view. */
  readonly waitMsMax: number;
  readonly now: () => number;
  readonly onContradictedKey: (urn: string) => void;
}

export const ASPECTS = "aspects";
export const TIMESERIES = "timeseries";
export const GRAPH = "graph";
export const SEARCH = "search";

const viewOf: Readonly<Record<ReadView, string>> = {
  entities: ASPECTS,
  timeseries: TIMESERIES,
  relationships: GRAPH,
  search: SEARCH,
};

/** Most urns of one page of listUrns. */
const pageMax = 10_000;

export async function createCatalog(parts: CatalogParts): Promise<Catalog> {
  const { model, aspects, timeseries, graph, progress, namespace, now } = parts;
  const log = watchLog(parts.log, now);
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;
  const timeoutMs = parts.waitMsMax;
  const addresses = createAddresses(model, { namespace, limits: parts.urnLimits });
  const reached = (view: string) => (position: Position) =>
    progress.positions()[view] !== undefined && (progress.positions()[view] ?? START) >= position
      ? Promise.resolve()
      : progress.reached(view, position, { timeoutMs });

  // How far each view has to come to show every write that was answered.
  const head = await log.head();
  const answered = { [ASPECTS]: head, [TIMESERIES]: head, [GRAPH]: head };
  const caughtUp = (view: keyof typeof answered) => () => reached(view)(answered[view] ?? START);

  const keyAspectOf = (type: string) => model.entities.get(type)?.keyAspect;
  const states = createEntityStates({
    reader: aspects,
    reached: reached(ASPECTS),
    onProgress: (listener) =>
      progress.onProgress((positions) => listener(positions[ASPECTS] ?? START)),
    bytesMax: parts.cacheBytesMax,
    ...(parts.sharedLog && { fromLog: createStreamStates(log, keyAspectOf) }),
  });

  progress.onRestored(states.forget);

  const preparation = createPreparation({
    model,
    addresses,
    namespace,
    aspectBytesMax: parts.aspectBytesMax,
    patchRules: parts.patchRules,
    onContradictedKey: parts.onContradictedKey,
  });

  const ingestion = createIngestion({
    log,
    atomic: !parts.sharedLog,
    encode: parts.encode,
    addresses,
    preparation,
    states,
    systemActor,
    now,
    admitted() {
      // The log decides: it takes writes whatever becomes of a view that others feed.
      if (parts.sharedLog) return undefined;
      const behind = (answered[ASPECTS] ?? START) - (progress.positions()[ASPECTS] ?? START);
      if (behind <= parts.lagMax) return undefined;
      return reached(ASPECTS)(((answered[ASPECTS] ?? START) - parts.lagMax) as Position);
    },
    async afterLostRace() {
      // What lost it is folded from its stream.
      if (parts.sharedLog) return;
      const position = await log.head();
      progress.poke(position);
      await reached(ASPECTS)(position);
    },
    async parkedFor(urn) {
      const notes = { load: () => readParking(log, ASPECTS), write: async () => {} };
      return (await openParking(ASPECTS, notes, now)).find(urn)?.reason;
    },
    async countEvents(urn, aspect) {
      await caughtUp(TIMESERIES)();
      return timeseries.count({ urn, aspect });
    },
    answered: () => answered[ASPECTS] ?? START,
    onAppended(position, of) {
      if (position > (answered[ASPECTS] ?? START)) answered[ASPECTS] = position;
      if (position > (answered[GRAPH] ?? START)) answered[GRAPH] = position;
      if (of.timeseries && position > (answered[TIMESERIES] ?? START)) {
        answered[TIMESERIES] = position;
      }
      progress.poke(position);
    },
  });

  async function existing(
    urns: readonly string[],
    { includeSoftDelete }: { readonly includeSoftDelete: boolean },
  ): Promise<readonly boolean[]> {
    const known = await inSlices(urns, (urn) => addresses.known(urn));
    const found = await states.read(known.map(({ urn }) => urn));
    return inSlices(found, (state, i) => {
      const key = known[i]?.entity.keyAspect ?? "";
      if (currentAspect(state, key) === undefined) return false;
      const status = currentAspect(state, "status")?.value;
      return includeSoftDelete || status === undefined || JSON.parse(status).removed !== true;
    });
  }

  function entityType(name: string): string {
    const entity = model.findEntity(name);
    if (entity === undefined) throw unknownEntityType(model, name, "invalid");
    return entity.name;
  }

  const walk = createLineage({ reader: graph, steps: parts.lineage, now });

  return {
    ingest: ingestion.ingest,
    ingestSnapshots: (snapshots, caller) => ingestion.ingest(proposalsOf(model, snapshots), caller),
    delete: createDelete({
      model,
      addresses,
      states,
      ingestion,
      reader: timeseries,
      systemActor,
      now,
      caughtUp: caughtUp(TIMESERIES),
      // An entity's delete is in its own stream: the timeseries view must come that far.
      onDeleted: (position) => {
        if (position > (answered[TIMESERIES] ?? START)) answered[TIMESERIES] = position;
      },
    }),
    deleteReferences: createDeleteReferences({
      model,
      paths: parts.references,
      addresses,
      states,
      reader: graph,
      namespace,
      urnLimits: parts.urnLimits,
      ingest: ingestion.ingest,
      caughtUp: caughtUp(GRAPH),
    }),

    ...createReads({
      model,
      addresses,
      states,
      reader: aspects,
      reached: reached(ASPECTS),
      systemActor,
      now,
    }),
    ...createTimeseriesReads({
      model,
      addresses,
      namespace,
      reader: timeseries,
      caughtUp: caughtUp(TIMESERIES),
    }),
    ...createUsage({ addresses, reader: timeseries, caughtUp: caughtUp(TIMESERIES) }),
    ...createRelationships({
      reader: graph,
      walk,
      namespace,
      urnLimits: parts.urnLimits,
      systemActor,
      now,
      caughtUp: caughtUp(GRAPH),
      // Both only grow: another sum is another edition.
      edition: () => (progress.positions()[GRAPH] ?? START) + progress.restorations(),
      append: ingestion.append,
    }),

    ...createSearches({
      ...parts.search,
      walk,
      namespace,
      urnLimits: parts.urnLimits,
      caughtUp: caughtUp(GRAPH),
    }),

    ...createChanges({
      log,
      decode: parts.decode,
      addresses,
      model,
      history: aspects,
      reached: reached(ASPECTS),
    }),

    async getBrowsePaths(text) {
      const [state] = await states.read([addresses.known(text).urn]);
      const value = state && currentAspect(state, "browsePaths")?.value;
      return value === undefined ? [] : (JSON.parse(value).paths ?? []);
    },

    positionOf: (view) =>
      view === "search" ? (progress.positions()[SEARCH] ?? START) : (answered[ASPECTS] ?? START),

    async reach(view, position) {
      if (view !== "search" && position <= (answered[ASPECTS] ?? START)) return;
      await reached(viewOf[view])(position);
    },

    exists: async (urn, options) => (await existing([urn], options))[0] ?? false,

    async filterExisting(urns, options) {
      const found = await existing(urns, options);
      return urns.filter((_, i) => found[i]);
    },

    async listUrns(type, { start, count }) {
      if (start < 0 || count < 0) {
        throw new CatalogError("malformed", `start is ${start} and count is ${count}`, {
          hint: "Send 0 or more",
        });
      }
      const name = entityType(type);
      await caughtUp(ASPECTS)();
      const page = await aspects.listUrns(name, { start, count: Math.min(count, pageMax) });
      return { entities: page.urns, start, count: page.urns.length, total: page.total };
    },

    async countEntities(types) {
      const names = types.map(entityType);
      await caughtUp(ASPECTS)();
      const counts = await aspects.countEntities();
      return Object.fromEntries(names.map((name) => [name, counts.get(name) ?? 0]));
    },

    async countAspect(aspect, urnLike) {
      if (!model.aspects.has(aspect)) {
        throw new CatalogError("invalid", `unknown aspect "${aspect}"`);
      }
      await caughtUp(ASPECTS)();
      return aspects.countAspect(aspect, urnLike && patternWithNamespace(urnLike, namespace));
    },

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
        at = await log.head();
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        logError ??= error.message;
      }
      const ok = Object.keys(errors).length === 0 && logError === undefined;
      return { ok, log: at, logError, views };
    },
  };
}
