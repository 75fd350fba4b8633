/**
 * Everything that a door may ask of the catalog. Doors (http, cli) parse, call one method and shape
 * the reply; they know no log, no view and no model beyond what is here.
 *
 * Urns come in as text in any namespace and are parsed here. Errors are CatalogErrors.
 */
import type { AuditStamp, PlacedChange, SystemMetadata } from "../core/change.ts";
import type { Filter } from "../core/filter.ts";
import type { JsonDiffOperation } from "../core/json-diff.ts";
import type { Position } from "../core/position.ts";
import type { SemanticChange, SemanticChangeType } from "../core/semantic-changes.ts";
import type { EntityReads, Moment, ReadsAsOf } from "./entity-reads.ts";
import type { SearchCatalog } from "./search-requests.ts";

export type { Criterion, Filter } from "../core/filter.ts";
export type * from "./entity-reads.ts";
export type * from "./search-requests.ts";

/** Who asks, and what they said about the request. */
export interface Caller {
  /** Urn of the acting user; undefined: the system. */
  readonly actor?: string | undefined;
  /** Makes a retried write happen once. */
  readonly idempotencyKey?: string | undefined;
}

export type ProposedChange =
  | "UPSERT"
  | "CREATE"
  | "CREATE_ENTITY"
  | "UPDATE"
  | "RESTATE"
  | "PATCH"
  | "DELETE";

/** Most changes of one page. */
export const changesMax = 1_000;

/** Most proposals of one write, and aspects of its snapshots: they are decided in one piece. */
export const proposalsMax = 20_000;

/** A proposal as clients send it, its aspect value still as they wrote it. */
export interface Proposal {
  readonly entityType: string;
  readonly entityUrn?: string | undefined;
  /** Key record as JSON text; the urn is derived from it when entityUrn is absent. */
  readonly entityKeyAspect?: { readonly value: string; readonly contentType?: string } | undefined;
  readonly changeType: ProposedChange;
  readonly aspectName?: string | undefined;
  /** `value` is JSON text, or (from a snapshot) the parsed JSON value itself. */
  readonly aspect?:
    | { readonly value: unknown; readonly contentType?: string | undefined }
    | undefined;
  readonly systemMetadata?: Partial<SystemMetadata> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A legacy snapshot: {<snapshot record>: {urn, aspects: [{<aspect record>: {…}}]}}. */
export interface SnapshotProposal {
  readonly value: Readonly<Record<string, unknown>>;
  readonly systemMetadata?: Partial<SystemMetadata> | undefined;
}

export interface Written {
  /** Log position that holds the whole request; undefined when there was nothing to write. */
  readonly position: Position | undefined;
}

export interface Envelope {
  readonly name: string;
  readonly type: "VERSIONED" | "TIMESERIES";
  readonly version: number;
  readonly value: unknown;
  readonly created: { readonly time: number; readonly actor: string };
  readonly systemMetadata?: unknown;
}

/** A value of an aspect as it is stored. */
export interface FoundAspect {
  readonly name: string;
  /** From 1. */
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  /** Epoch milliseconds, and a urn. */
  readonly time: number;
  readonly actor: string;
  readonly system: SystemMetadata;
}

export interface FoundEntity {
  readonly urn: string;
  readonly entityType: string;
  /** Whether it has its key aspect. */
  readonly exists: boolean;
  /** Versioned ones that have a value: the key first, then in the model's order. */
  readonly aspects: readonly FoundAspect[];
}

/** An edge of the graph as it is told. */
export interface FoundRelationship {
  readonly type: string;
  readonly source: string;
  readonly destination: string;
  /** Which end data comes from, where the edge is lineage between these types. */
  readonly upstream?: "source" | "destination" | undefined;
}

/** Which ends of edges. */
export interface EndFilter {
  readonly types?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface RelationshipScroll {
  /** Absent: all that the model has. */
  readonly types?: readonly string[] | undefined;
  readonly source?: EndFilter | undefined;
  readonly destination?: EndFilter | undefined;
  /** Only edges that tell where data comes from; `UPSTREAM` or `DOWNSTREAM`: seen from `around`. */
  readonly lineage?: boolean | undefined;
  readonly direction?: string | undefined;
  /** One of these is at either end. */
  readonly around?: readonly string[] | undefined;
  readonly includeSoftDeleted?: boolean | undefined;
  readonly scrollId?: string | undefined;
  /** 10 when absent, 1,000 at most. */
  readonly count?: number | undefined;
}

/** A reply that is JSON text already; the door sends it as it is. */
export interface JsonText {
  readonly json: string;
}

export interface TimeseriesQuery {
  readonly urn: string;
  readonly entity: string;
  readonly aspect: string;
  readonly startTimeMillis?: number | undefined;
  readonly endTimeMillis?: number | undefined;
  readonly limit?: number | undefined;
  readonly latestValue?: boolean | undefined;
  readonly filter?: Filter | undefined;
  readonly sort?:
    | { readonly field: string; readonly order: "ASCENDING" | "DESCENDING" }
    | undefined;
}

export interface Relationship {
  readonly type: string;
  /** Urn of the other end. */
  readonly urn: string;
  /** Urn of what the edge runs through. */
  readonly via?: string | undefined;
}

/** An entity up- or downstream of another, and how it was reached. */
export interface LineageRelationship {
  /** Of the last edge on the way. */
  readonly type: string;
  readonly entity: string;
  /** Steps from the start, as a number and as a list. */
  readonly degree: number;
  readonly degrees: readonly number[];
  /** Urns from the start to the entity, both included; none when the answer has no room for it. */
  readonly paths: readonly (readonly string[])[];
  /** Of the last edge on the way. */
  readonly createdOn?: number | undefined;
  readonly createdActor?: string | undefined;
  readonly updatedOn?: number | undefined;
  readonly updatedActor?: string | undefined;
  readonly isManual: boolean;
  /** Its own edges were followed; not all of them could be. */
  readonly explored: boolean;
  readonly truncatedChildren: boolean;
}

/** Which changes; what is absent does not narrow them. */
export interface ChangesFilter {
  readonly entityTypes?: readonly string[] | undefined;
  readonly aspects?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  /** Have the values before filled in. */
  readonly previous?: boolean | undefined;
}

export interface ToldChange {
  readonly change: PlacedChange;
  /** The value before as JSON text, and what was last told with it. */
  readonly previous?: { readonly value: string; readonly system: SystemMetadata } | undefined;
}

export interface ToldChanges {
  /** In the order of the log. */
  readonly changes: readonly ToldChange[];
  /** Everything up to here was looked at: where the next ones follow. */
  readonly position: Position;
}

/** What a change means to people, with its stamp. */
export interface Meaning extends SemanticChange {
  /** Of the entity whose aspect changed. */
  readonly entityType: string;
  readonly created: AuditStamp;
}

/** A change of one aspect of an entity, as people see it. */
export interface ChangeTransaction {
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** Urn. */
  readonly actor: string;
  /** `1.2.0-computed`: the entity's version after it, and which part of that grew by it. */
  readonly semVer: string;
  readonly semVerChange: SemanticChangeType;
  readonly changeEvents: readonly SemanticChange[];
  /** Aspect and number of its value. */
  readonly versionStamp: string;
  /** JSON Patch from the value before. */
  readonly rawDiff?: readonly JsonDiffOperation[] | undefined;
}

/** A run of ingestion, as the log tells of it. */
export interface RunSummary {
  readonly runId: string;
  /** Records that it wrote and that nobody rolled back. */
  readonly rows: number;
  /** Of the last one, in epoch milliseconds. */
  readonly timestamp: number;
}

/** What a run told of one aspect, at one time. */
export interface RunRow {
  readonly runId: string;
  readonly urn: string;
  readonly aspectName: string;
  /** When it was told, in epoch milliseconds. */
  readonly timestamp: number;
  /** Number of the value; 0 of an event. */
  readonly version: number;
  readonly keyAspect: boolean;
  readonly aspect?: Envelope | undefined;
}

export interface RollbackRequest {
  readonly runId: string;
  readonly dryRun: boolean;
  /** Deletes the entities that the run brought into being, instead of hiding them. */
  readonly hardDelete: boolean;
}

export interface Rollback extends Written {
  /** Some of what is undone. */
  readonly aspectRowSummaries: readonly RunRow[];
  readonly entitiesAffected: number;
  /** Entities that are deleted, or hidden. */
  readonly entitiesDeleted: number;
  readonly aspectsReverted: number;
  /** Aspects that others told and that go with a deleted entity. */
  readonly aspectsAffected: number;
  /** Entities that the run brought into being and of which others told. */
  readonly unsafeEntitiesCount: number;
  readonly unsafeEntities: readonly { readonly urn: string }[];
}

/** What a read is made from. */
export type ReadView = "entities" | "timeseries" | "relationships" | "search";

export interface Catalog extends SearchCatalog, EntityReads {
  /** Validates all, then appends all: a refused member changes nothing and is named by its index. */
  ingest(proposals: readonly Proposal[], caller: Caller): Promise<Written>;
  ingestSnapshots(snapshots: readonly SnapshotProposal[], caller: Caller): Promise<Written>;
  /**
   * Hard delete. Without an aspect: the entity and its timeseries. With one (timeseries only):
   * its events in the range, both ends inclusive. `dryRun` counts without deleting.
   */
  delete(
    request: {
      readonly urn: string;
      readonly aspectName?: string | undefined;
      readonly startTimeMillis?: number | undefined;
      readonly endTimeMillis?: number | undefined;
      readonly dryRun?: boolean | undefined;
    },
    caller: Caller,
  ): Promise<Written & { urn: string; rows?: number; timeseriesRows: number }>;
  /**
   * Takes the urn out of every aspect that refers to it, by ordinary proposals; entities whose key
   * names it stay. `total` counts (entity, aspect, relationship), of which a few are shown. In
   * steps: a failure leaves what was done done, and the request can be sent again.
   */
  deleteReferences(
    request: { readonly urn: string; readonly dryRun?: boolean | undefined },
    caller: Caller,
  ): Promise<
    Written & {
      readonly total: number;
      readonly relatedAspects: readonly {
        readonly entity: string;
        readonly aspect: string;
        readonly relationship: string;
      }[];
    }
  >;

  /**
   * The same reads as of a moment: what they were answered when the log ended there. Hidden now is
   * hidden then. A moment that is yet to come is `invalid`.
   */
  asOf(moment: Moment): Promise<ReadsAsOf>;

  listUrns(
    entityType: string,
    page: { readonly start: number; readonly count: number },
  ): Promise<{ entities: readonly string[]; start: number; count: number; total: number }>;
  countEntities(entityTypes: readonly string[]): Promise<Readonly<Record<string, number>>>;
  countAspect(aspect: string, urnLike: string | undefined): Promise<number>;

  /** Usage of one resource from datasetUsageStatistics. */
  queryUsage(query: {
    readonly resource: string;
    readonly duration: string;
    readonly startTime?: number | undefined;
    readonly endTime?: number | undefined;
    readonly maxBuckets?: number | undefined;
  }): Promise<unknown>;

  /**
   * Distinct pairs of type and other end, by type in the order asked for, then as told. Types that
   * no edge has are none; `total` counts all, at most 10,000 come in one page.
   */
  listRelationships(query: {
    readonly urn: string;
    /** INCOMING, OUTGOING or UNDIRECTED. */
    readonly direction: string;
    readonly types: readonly string[];
    readonly start?: number | undefined;
    readonly count?: number | undefined;
  }): Promise<{
    readonly start: number;
    readonly count: number;
    readonly total: number;
    readonly relationships: readonly Relationship[];
  }>;
  /**
   * Edges, entity by entity at one of their ends, page after page. A page may have fewer than asked
   * for: there are more for as long as there is a scrollId.
   */
  scrollRelationships(
    query: RelationshipScroll,
  ): Promise<{ readonly relationships: readonly FoundRelationship[]; readonly scrollId?: string }>;
  /** What is up- or downstream, nearest first; `partial` when a bound of the service ended it. */
  getLineage(query: {
    readonly urn: string;
    /** UPSTREAM or DOWNSTREAM. */
    readonly direction: string;
    readonly start?: number | undefined;
    readonly count?: number | undefined;
    /** 1 when absent. */
    readonly maxHops?: number | undefined;
    /** Only along edges of this time (lineage.ts); 0 is as good as absent. */
    readonly startTimeMillis?: number | undefined;
    readonly endTimeMillis?: number | undefined;
  }): Promise<{
    readonly start: number;
    readonly count: number;
    readonly total: number;
    readonly partial: boolean;
    readonly relationships: readonly LineageRelationship[];
  }>;
  /**
   * The graph forgets every edge from and to the entity, now and whenever it is regrown. What told
   * them stays as it is: an aspect that is told anew with another value tells its edges again.
   */
  forgetRelationships(urn: string, caller: Caller): Promise<Written>;

  /**
   * Changes after a position, the log's start when absent: some of those that there are, at most
   * `limit`. None of what only confirms a value. `end`: there are no more at present; without it the
   * next ones are asked for after `position`, also where there are none here. A position that the log
   * does not have yet is `invalid`.
   */
  readChanges(
    query: ChangesFilter & {
      readonly after?: Position | undefined;
      /** 1 to changesMax; 100 when absent. */
      readonly limit?: number | undefined;
    },
  ): Promise<ToldChanges & { readonly end: boolean }>;
  /**
   * The same, and new ones as they happen, until the signal aborts or the log closes. At once comes
   * the position that they follow on, without changes; later positions come without any where a long
   * stretch has none. Absent `after`: from now on.
   */
  followChanges(
    query: ChangesFilter & { readonly after?: Position | undefined },
    signal: AbortSignal,
  ): Promise<AsyncIterable<ToldChanges>>;

  /**
   * What happened to an entity in some categories (core/semantic-facts.ts), oldest first, also before
   * it was deleted; the newest 10,000 changes at most. None of an unknown one.
   */
  getTimeline(query: {
    readonly urn: string;
    readonly categories: readonly string[];
    /** Epoch milliseconds, both included; absent: no bound. */
    readonly startTime?: number | undefined;
    readonly endTime?: number | undefined;
    readonly raw?: boolean | undefined;
  }): Promise<readonly ChangeTransaction[]>;

  /** Runs, the one that told last first. `includeSoft`: those that were rolled back, too. */
  listRuns(page: {
    readonly pageOffset?: number | undefined;
    /** 100 when absent. */
    readonly pageSize?: number | undefined;
    readonly includeSoft?: boolean | undefined;
  }): Promise<readonly RunSummary[]>;
  /**
   * What a run told, in its order; without what was rolled back, and what is deleted or soft-deleted
   * now, unless `includeSoft`. None of an unknown run.
   */
  describeRun(query: {
    readonly runId: string;
    readonly start: number;
    readonly count: number;
    readonly includeSoft?: boolean | undefined;
    readonly includeAspect?: boolean | undefined;
  }): Promise<readonly RunRow[]>;
  /**
   * Makes each entity what it would be if the run had told nothing of it, by further records: values
   * that others told before are there again, what others told since stays. Entities that the run
   * brought into being, and of which nobody else told anything, are hidden. An unknown run comes to
   * nothing; several rollbacks of one run come to one. `admit` is asked about the entities first, and
   * `onDeleted` is told of each that is deleted.
   */
  rollbackRun(
    request: RollbackRequest,
    caller: Caller,
    admit?: (urns: readonly string[]) => Promise<void>,
    onDeleted?: (urn: string) => void,
  ): Promise<Rollback>;

  /**
   * The same for who polls: changes after a position, waited for while there are none. `changes` of
   * aspects or of timeseries, with the values before; or their `meanings`. Go on with `position`.
   */
  pollChanges(query: {
    readonly kind: "versioned" | "timeseries" | "meanings";
    /** Absent: from now on, or from a time (epoch milliseconds). */
    readonly after?: Position | undefined;
    readonly since?: number | undefined;
    /** Changes that are looked for, 1 to 5,000; 100 when absent. */
    readonly limit?: number | undefined;
    /** 10,000 at most, and when absent. */
    readonly waitMs?: number | undefined;
  }): Promise<ToldChanges & { readonly meanings: readonly Meaning[] }>;

  /** The position that a read which begins now shows at least. */
  positionOf(view: ReadView): Position;
  /**
   * Resolves when reads show the position; rejects `unavailable` when that takes too long. Reads of
   * entities, timeseries and relationships show every write that was answered, without waiting here.
   */
  reach(view: ReadView, position: Position): Promise<void>;

  /** Positions of the log and of each view, and whether writes and reads work. */
  health(): Promise<{
    readonly ok: boolean;
    readonly log: Position;
    /** Why the log cannot be read or written. */
    readonly logError?: string | undefined;
    readonly views: Readonly<Record<string, { position: Position; error?: string }>>;
  }>;
}
