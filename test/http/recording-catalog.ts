/** A catalog that records its calls and returns constant responses. */
import type { Catalog, ChangeEntry } from "../../src/catalog/catalog.ts";
import { position, revision } from "../../src/core/position.ts";

export interface Call {
  readonly method: keyof Catalog;
  readonly args: readonly unknown[];
}

export interface RecordingCatalog extends Catalog {
  readonly calls: Call[];
  /** Thrown by the next calls. */
  fault: unknown;
}

const hit = {
  urn: "urn:li:tag:tides",
  score: 12.5,
  matchedFields: [{ name: "name", value: "tides" }],
};
const near = {
  ...hit,
  ...{
    degree: 1,
    paths: [["urn:li:tag:a", hit.urn]],
    ignoredAsHop: false,
    explored: true,
    truncatedChildren: false,
  },
};
const found = {
  pageSize: 10,
  total: 1,
  hits: [hit],
  facets: [
    {
      name: "_entityType",
      displayName: "Type",
      values: [{ value: "urn:li:tag:x", count: 1, filtered: false }],
    },
  ],
  position: position(12),
};

const entry: ChangeEntry = {
  change: {
    ...{ urn: "urn:li:tag:tides", entityType: "tag", aspect: "status", changeType: "UPSERT" },
    ...{ value: '{"removed":false}', created: { time: 1, actor: "urn:li:corpuser:mira" } },
    ...{ system: { lastObserved: 1, runId: "r" }, timeseries: false },
    ...{ position: position(5), revision: revision(0) },
  },
};

const foundAspect = {
  ...{ name: "status", version: 1, value: '{"removed":false}' },
  ...{ time: 1, actor: "urn:li:corpuser:mira", system: { lastObserved: 1, runId: "r" } },
};
const foundEntity = {
  ...{ urn: "urn:li:tag:tides", entityType: "tag", exists: true, aspects: [foundAspect] },
};

const runRow = {
  ...{ runId: "r", urn: "urn:li:tag:tides", aspectName: "status", timestamp: 5, version: 1 },
  keyAspect: false,
};

const text = { json: '{"answered":true}' };

export function createRecordingCatalog(): RecordingCatalog {
  const calls: Call[] = [];
  const answering =
    <T>(method: keyof Catalog, reply: T) =>
    async (...args: unknown[]): Promise<T> => {
      calls.push({ method, args });
      if (catalog.fault !== undefined) throw catalog.fault;
      return reply;
    };
  const catalog: RecordingCatalog = {
    calls,
    fault: undefined,
    ingest: answering("ingest", { position: position(7), changed: ["urn:li:tag:a"] }),
    proposalsOf: (snapshots) => snapshots as unknown as ReturnType<Catalog["proposalsOf"]>,
    delete: answering("delete", {
      position: position(9),
      urn: "urn:li:tag:gone",
      rows: 4,
      timeseriesRows: 0,
    }),
    deleteReferences: answering("deleteReferences", {
      position: position(11),
      total: 1,
      relatedAspects: [
        { entity: "urn:li:dataset:d", aspect: "globalTags", relationship: "TaggedWith" },
      ],
    }),
    producePlatformEvent: answering("producePlatformEvent", { position: position(12) }),
    pollChanges: answering("pollChanges", { changes: [], events: [], position: position(9) }),
    getTimeline: answering("getTimeline", []),
    listRuns: answering("listRuns", [{ runId: "r", rows: 3, timestamp: 5 }]),
    describeRun: answering("describeRun", [runRow]),
    rollbackRun: answering("rollbackRun", {
      ...{ aspectRowSummaries: [runRow], entitiesAffected: 1, entitiesDeleted: 0 },
      ...{ aspectsReverted: 1, aspectsAffected: 0, unsafeEntitiesCount: 0, unsafeEntities: [] },
      position: position(13),
    }),
    readChanges: answering("readChanges", { changes: [entry], position: position(9), end: true }),
    followChanges: answering(
      "followChanges",
      (async function* () {
        yield { changes: [], position: position(3) };
        yield { changes: [entry], position: position(9) };
      })(),
    ),
    getEntity: answering("getEntity", text),
    getEntities: answering("getEntities", text),
    getSnapshot: answering("getSnapshot", text),
    getSnapshots: answering("getSnapshots", text),
    getAspect: answering("getAspect", text),
    getTimeseriesValues: answering("getTimeseriesValues", { json: '{"value":{"values":[]}}' }),
    findEntities: answering("findEntities", [foundEntity]),
    findAspect: answering("findAspect", foundAspect),
    scrollRelationships: answering("scrollRelationships", {
      relationships: [
        {
          ...{ type: "DownstreamOf", source: "urn:li:dataset:b", destination: "urn:li:dataset:a" },
          upstream: "destination" as const,
        },
      ],
      scrollId: "next",
    }),
    exists: answering("exists", true),
    filterExisting: answering("filterExisting", ["urn:li:tag:there"]),
    listUrns: answering("listUrns", { entities: ["urn:li:tag:a"], start: 0, count: 1, total: 3 }),
    urnsAfter: answering("urnsAfter", ["urn:li:tag:a"]),
    countEntities: answering("countEntities", { dataset: 12 }),
    countAspect: answering("countAspect", 5),
    queryUsage: answering("queryUsage", { buckets: [], aggregations: {} }),
    listRelationships: answering("listRelationships", {
      start: 0,
      count: 1,
      total: 1,
      relationships: [{ type: "OwnedBy", urn: "urn:li:corpuser:ada" }],
    }),
    getLineage: answering("getLineage", {
      start: 0,
      count: 100,
      total: 0,
      partial: false,
      relationships: [],
    }),
    search: answering("search", { from: 0, ...found }),
    scroll: answering("scroll", { ...found, scrollId: "next" }),
    filter: answering("filter", { from: 0, ...found }),
    searchLineage: answering("searchLineage", { from: 0, ...found, hits: [near], partial: false }),
    scrollLineage: answering("scrollLineage", {
      ...{ ...found, hits: [near], partial: true, scrollId: "next" },
    }),
    autocomplete: answering("autocomplete", {
      suggestions: ["tides"],
      entities: ["urn:li:tag:tides"],
      position: position(12),
    }),
    browse: answering("browse", {
      ...{ path: "/prod", from: 0, pageSize: 10, numGroups: 1, numEntities: 1 },
      groups: [{ name: "hive", count: 2 }],
      entities: ["urn:li:tag:tides"],
      totalNumEntities: 2,
      position: position(12),
    }),
    browseV2: answering("browseV2", {
      ...{ path: "␟a", start: 0, count: 10, total: 1, totalNumEntities: 2 },
      groups: [{ name: "b", count: 2, hasSubGroups: true }],
      position: position(12),
    }),
    getBrowsePaths: answering("getBrowsePaths", ["/prod/hive"]),
    async asOf(pointInTime) {
      calls.push({ method: "asOf", args: [pointInTime] });
      const { getEntity, getEntities, getSnapshot, getSnapshots, getAspect } = catalog;
      const { getTimeseriesValues, findEntities, findAspect, exists, filterExisting } = catalog;
      return {
        ...{ getEntity, getEntities, getSnapshot, getSnapshots, getAspect, getTimeseriesValues },
        ...{ findEntities, findAspect, exists, filterExisting, shown: () => position(4) },
      };
    },
    positionOf: () => position(6),
    reach: answering("reach", undefined),
    forgetRelationships: answering("forgetRelationships", { position: position(10) }),
    health: answering("health", { ok: true, log: position(7), views: {} }),
  };
  return catalog;
}
