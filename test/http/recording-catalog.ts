/** A catalog that remembers what it was asked and answers the same to all. */
import type { Catalog } from "../../src/catalog/catalog.ts";
import { position } from "../../src/core/position.ts";

export interface Call {
  readonly method: keyof Catalog;
  readonly args: readonly unknown[];
}

export interface RecordingCatalog extends Catalog {
  readonly calls: Call[];
  /** What its next calls throw. */
  fault: unknown;
}

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
    ingest: answering("ingest", { position: position(7) }),
    ingestSnapshots: answering("ingestSnapshots", { position: position(8) }),
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
    getEntity: answering("getEntity", text),
    getEntities: answering("getEntities", text),
    getSnapshot: answering("getSnapshot", text),
    getSnapshots: answering("getSnapshots", text),
    getAspect: answering("getAspect", text),
    getTimeseriesValues: answering("getTimeseriesValues", text),
    exists: answering("exists", true),
    filterExisting: answering("filterExisting", ["urn:li:tag:there"]),
    listUrns: answering("listUrns", { entities: ["urn:li:tag:a"], start: 0, count: 1, total: 3 }),
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
    forgetRelationships: answering("forgetRelationships", { position: position(10) }),
    health: answering("health", { ok: true, log: position(7), views: {} }),
  };
  return catalog;
}
