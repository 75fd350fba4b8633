/**
 * Assembles the read use cases over their ports: of the whole catalog, or filtered for one caller.
 */
import { currentAspect } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { START } from "../../core/position.ts";
import { patternWithNamespace } from "../../core/urn.ts";
import { createPlatformEvents } from "../../feed/platform-events.ts";
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { type Model, unknownEntityType } from "../../model/model.ts";
import type { AccessContext } from "../access/access-filter.ts";
import { filteredReaders, type Lifetimes, type ReadPorts } from "../access/filtered-readers.ts";
import { isVisibleChange, restrictedPorts } from "../access/restricted-ports.ts";
import type { Addresses } from "../address.ts";
import type { Catalog, ChangeEntry, ChangePage, EntityReads } from "../catalog.ts";
import type { CatalogParts } from "../catalog-parts.ts";
import { createChanges } from "../changes/changes.ts";
import { createPoll } from "../changes/poll.ts";
import { createTimeline } from "../changes/timeline.ts";
import { createLineage } from "../graph/lineage.ts";
import { createLinkedUrns } from "../graph/linked-urns.ts";
import { createRelationships } from "../graph/relationships.ts";
import { createRelationshipScroll } from "../graph/scroll-relationships.ts";
import { createSearches } from "../search/create-search.ts";
import type { SearchFields } from "../search/filter/fields.ts";
import { createPropertyDefinitions } from "../search/filter/property-definitions.ts";
import type { HiddenStages } from "../search/hidden-stages.ts";
import { inTimeSlices } from "../time-slices.ts";
import { createDeletedRows, type DeletedRows } from "../write/entity-lifetimes.ts";
import { openPast, type PastTools } from "./as-of.ts";
import { createFinds } from "./find-entities.ts";
import { createReads, type Envelopes } from "./read-entities.ts";
import { createTimeseriesReads } from "./read-timeseries.ts";
import { isSoftDeleted } from "./soft-deleted.ts";
import { unknownAspect } from "./unknown-aspect.ts";
import { createUsage } from "./usage.ts";

export interface ReadingTools {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
  readonly log: CatalogParts["log"];
  readonly parts: Pick<
    CatalogParts,
    | ("aspects" | "decode" | "lineage" | "references" | "search" | "urnLimits")
    | ("projectTimeseries" | "sharedLog" | "statedEdges")
  >;
  readonly fields: SearchFields;
  readonly hiddenStages: HiddenStages;
  /** All entities, unfiltered. */
  readonly states: Pick<ReadPorts["states"], "read">;
  readonly envelopes: Envelopes;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
  /** Waits until a view has every acknowledged write. */
  readonly caughtUp: (view: "aspects" | "timeseries" | "graph") => () => Promise<void>;
  /** Waits briefly for searches to include every acknowledged write. */
  readonly soonFound: () => Promise<void>;
  /** Limits the number of requests that fold past states concurrently. */
  readonly withSlot: PastTools["withSlot"];
  /** Limits the number of concurrent reads that hold much memory. */
  readonly withLargeSlot: ConcurrencyLimit;
  /** The same for timelines, which may take much longer. */
  readonly withTimelineSlot: ConcurrencyLimit;
  readonly append: Parameters<typeof createRelationships>[0]["append"];
  /**
   * Changes whenever results from the graph may change; undefined while the graph lacks an
   * acknowledged write; absent: results are not cached.
   */
  readonly graphVersion?: (() => number | undefined) | undefined;
}

type Reading = Omit<
  Catalog,
  | ("ingest" | "proposalsOf" | "delete" | "deleteReferences" | "producePlatformEvent")
  | ("listRuns" | "describeRun" | "rollbackRun")
  | ("positionOf" | "reach" | "health")
>;

const namesOf = (references: CatalogParts["references"]): readonly string[] =>
  [...new Set([...references.values()].flat().map(({ name }) => name))].sort();

/** Maximum number of urns in a page of listUrns and urnsAfter. */
const pageMax = 10_000;

interface EntityPorts {
  readonly states: ReadPorts["states"];
  readonly aspects: Pick<ReadPorts["aspects"], "findValue">;
  readonly timeseries: ReadPorts["timeseries"];
}

/** Reads of the current state or of a point in time, depending on the ports. */
function createEntityReading(
  tools: ReadingTools,
  { states, aspects, timeseries }: EntityPorts,
  caughtUp: () => Promise<void>,
): EntityReads {
  const { model, addresses, namespace } = tools;

  async function existing(
    urns: readonly string[],
    { includeSoftDelete }: { readonly includeSoftDelete: boolean },
  ): Promise<readonly boolean[]> {
    const known = await inTimeSlices(urns, (urn) => addresses.readable(urn));
    const found = await states.read(known.map(({ urn }) => urn));
    return inTimeSlices(found, (state, i) => {
      const key = known[i]?.entity.keyAspect ?? "";
      if (currentAspect(state, key) === undefined) return false;
      return includeSoftDelete || !isSoftDeleted(state);
    });
  }

  return {
    ...createReads({ ...tools, states, reader: aspects }),
    ...createFinds({ ...tools, states, reader: aspects }),
    ...createTimeseriesReads({ model, addresses, namespace, reader: timeseries, caughtUp }),

    exists: async (urn, options) => (await existing([urn], options))[0] ?? false,

    async filterExisting(urns, options) {
      const found = await existing(urns, options);
      return urns.filter((_, i) => found[i]);
    },
  };
}

/** `everything`: the ports hide nothing. */
function createReadsAsOf(
  tools: ReadingTools,
  { states, aspects, hiddenUpTo }: ReadPorts,
  everything: boolean,
): Catalog["asOf"] {
  const { log, model, parts, reached, withSlot, now } = tools;
  const past: PastTools = {
    log,
    decode: parts.decode,
    project: parts.projectTimeseries,
    reached,
    withSlot,
    now,
    keyAspectOf: (type) => model.entities.get(type)?.keyAspect,
  };
  // Writes of another process may create a hidden entity or change what is hidden.
  const seen: typeof states.read = async (urns) => {
    if (parts.sharedLog) await reached(await log.head());
    return states.read(urns);
  };
  return async (point) => {
    const present = { aspects, hiddenUpTo, seen: everything ? undefined : seen };
    const ports = await openPast(past, present, point);
    const reads = createEntityReading(tools, ports, async () => {});
    return { ...reads, shown: ports.shown };
  };
}

export function createReading(tools: ReadingTools, ports: ReadPorts, everything = true): Reading {
  const { model, addresses, namespace, systemActor, now, parts, reached, caughtUp } = tools;
  const { urnLimits } = parts;
  const { states, aspects, timeseries, graph } = ports;
  const walk = createLineage({ reader: graph, steps: parts.lineage, now });

  const linkedUrns = createLinkedUrns({ model, namespace, states });
  const searches = createSearches({
    ...parts.search,
    reader: ports.search,
    fields: tools.fields,
    walk,
    namespace,
    linkedUrn: (text) => linkedUrns.one(text, urnLimits),
    caughtUp: caughtUp("graph"),
    soonFound: tools.soonFound,
    hiddenStages: tools.hiddenStages,
    definitions: createPropertyDefinitions({
      addresses,
      states: tools.states,
      visible: everything ? undefined : states,
    }),
  });

  function entityType(name: string): string {
    const entity = model.findEntity(name);
    if (entity === undefined) throw unknownEntityType(model, name, "invalid");
    return entity.name;
  }

  const changes = createChanges({
    log: tools.log,
    decode: parts.decode,
    addresses,
    model,
    history: tools.parts.aspects,
    reached,
  });

  return {
    ...createEntityReading(tools, ports, caughtUp("timeseries")),
    asOf: createReadsAsOf(tools, ports, everything),
    ...createUsage({ addresses, reader: timeseries, caughtUp: caughtUp("timeseries") }),
    ...createRelationships({
      model,
      reader: graph,
      walk,
      states,
      namespace,
      addresses,
      systemActor,
      now,
      caughtUp: caughtUp("graph"),
      version: tools.graphVersion,
      append: tools.append,
    }),
    ...searches,
    ...createRelationshipScroll({
      model,
      namespace,
      urnLimits,
      reader: graph,
      search: searches,
      states,
      steps: parts.lineage,
      caughtUp: caughtUp("graph"),
      relationshipTypes: namesOf(parts.references),
    }),
    ...createTimeline({
      log: tools.log,
      decode: parts.decode,
      addresses,
      states,
      withLargeSlot: tools.withTimelineSlot,
    }),
    ...changes,
    pollChanges: createPoll({ ...polling(tools), changes }),

    async getBrowsePaths(text) {
      const [state] = await states.read([addresses.readable(text).urn]);
      const value = state && currentAspect(state, "browsePaths")?.value;
      return value === undefined ? [] : (JSON.parse(value).paths ?? []);
    },

    async listUrns(type, { start, count }) {
      if (start < 0 || count < 0) {
        throw new CatalogError("malformed", `start is ${start} and count is ${count}`, {
          hint: "Send 0 or more",
        });
      }
      const name = entityType(type);
      await caughtUp("aspects")();
      const page = await aspects.listUrns(name, { start, count: Math.min(count, pageMax) });
      return { entities: page.urns, start, count: page.urns.length, total: page.total };
    },

    async urnsAfter(type, after, count) {
      const name = entityType(type);
      await caughtUp("aspects")();
      return aspects.urnsAfter(name, after, Math.min(count, pageMax));
    },

    async countEntities(types) {
      const names = types.map(entityType);
      await caughtUp("aspects")();
      const counts = await aspects.countEntities();
      return Object.fromEntries(names.map((name) => [name, counts.get(name) ?? 0]));
    },

    async countAspect(aspect, urnLike) {
      if (!model.aspects.has(aspect)) throw unknownAspect(model, aspect);
      await caughtUp("aspects")();
      return aspects.countAspect(aspect, urnLike && patternWithNamespace(urnLike, namespace));
    },
  };
}

export function accessFilteredPorts(
  { restricted, resolveFilter }: AccessContext,
  ports: ReadPorts,
  lifetimes?: Lifetimes | undefined,
): ReadPorts {
  const open = restricted === undefined ? ports : restrictedPorts(ports, restricted);
  return resolveFilter === undefined ? open : filteredReaders(open, resolveFilter, lifetimes);
}

export const deletedRowsOf = ({ log, parts, model }: ReadingTools): DeletedRows =>
  createDeletedRows({
    log,
    decode: (record) => readable(parts.decode, record),
    keyAspectOf: (type) => model.entities.get(type)?.keyAspect,
  });

/** The reads for one caller, without restricted data and entities that the filter hides. */
export function createFilteredReading(
  tools: ReadingTools,
  ports: ReadPorts,
  { restricted, resolveFilter }: AccessContext,
): Reading {
  // Visible neighbours depend on policies, too, so they are not cached.
  const graphVersion = resolveFilter === undefined ? tools.graphVersion : undefined;
  const filteredPorts = accessFilteredPorts(
    { restricted, resolveFilter },
    ports,
    deletedRowsOf(tools),
  );
  const reading = createReading({ ...tools, graphVersion }, filteredPorts, false);

  async function visible<T extends ChangePage>(page: T): Promise<T> {
    if (page.changes.length === 0) return page;
    const filter = await resolveFilter?.();
    const urns = [...new Set(page.changes.map(({ change }) => change.urn))].filter(Boolean);
    /** Position up to which changes are hidden; Infinity for an entity that is not visible. */
    const hidden = new Map<string, number>();
    if (filter !== undefined && !filter.everything) {
      // A platform event may be about any entity.
      hidden.set("", Infinity);
      for (const state of await ports.states.read(urns)) {
        const { urn } = state;
        const upTo = filter.isVisible(state) ? await filteredPorts.hiddenUpTo?.(urn) : Infinity;
        hidden.set(urn, upTo ?? START);
      }
    }
    const changes: ChangeEntry[] = [];
    for (const one of page.changes) {
      const may = restricted === undefined || (await isVisibleChange(one.change, restricted));
      const { urn, position } = one.change;
      if (may && position > (hidden.get(urn) ?? START)) changes.push(one);
    }
    return { ...page, changes };
  }

  const changes: Pick<Catalog, "readChanges" | "followChanges"> = {
    readChanges: async (query) => visible(await reading.readChanges(query)),
    async followChanges(query, signal) {
      const pages = await reading.followChanges(query, signal);
      return (async function* () {
        for await (const page of pages) yield await visible(page);
      })();
    },
  };
  return { ...reading, ...changes, pollChanges: createPoll({ ...polling(tools), changes }) };
}

const polling = ({ log, parts, model }: ReadingTools) => ({
  ...{ log, decode: parts.decode },
  platformEventsOf: createPlatformEvents({
    keyAspectOf: (type) => model.entities.get(type)?.keyAspect,
    projectEdges: parts.statedEdges.project,
  }),
});
