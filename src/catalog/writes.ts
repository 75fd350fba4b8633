/** What is written, and who writes it: part of what a door may ask (catalog.ts). */
import type { SystemMetadata } from "../core/change.ts";
import type { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";

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

/** Most proposals of one write, and aspects of its snapshots: they are decided in one piece. */
export const proposalsMax = 20_000;

/** Characters of JSON text. Another thread handles longer ones: 1 MiB takes up to 300 ms. */
export const largeCharacters = 256 * 1024;

/** In no proposal that a client sends, and in no key of a request. */
export const PLACE: unique symbol = Symbol("place");

/** Also in no proposal of a client: records of the value name themselves (model/type-names.ts). */
export const NAMED: unique symbol = Symbol("named");

/** Also in no proposal of a client: the result of an earlier validation (checked-proposals.ts). */
export const CHECKED: unique symbol = Symbol("checked");

/**
 * The result of validating a value without the entity's state. `valid`: `aspect.value` is the text to
 * store. `open`: it is JSON text whose validation depends on stored values and is still to be done.
 */
export type CheckedValue = "valid" | "open" | { readonly refusal: CatalogError };

/** A proposal as clients send it, its aspect value as they wrote it. */
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
  /** Where its sender finds it in the request; `proposals[<index>]` when absent. */
  readonly [PLACE]?: string | undefined;
  readonly [NAMED]?: true | undefined;
  readonly [CHECKED]?: CheckedValue | undefined;
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

export interface Ingested extends Written {
  /**
   * Entities of which something is new, each once; not those of which all that was told was known. Of a
   * request that was sent before, with its key: all that it wrote of then.
   */
  readonly changed: readonly string[];
}

export interface Writes {
  /** Validates all, then appends all: a refused member changes nothing and is named by its index. */
  ingest(proposals: readonly Proposal[], caller: Caller): Promise<Ingested>;
  /** The same of the aspects of all snapshots. */
  ingestSnapshots(snapshots: readonly SnapshotProposal[], caller: Caller): Promise<Ingested>;
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
   * The graph forgets every edge from and to the entity, now and whenever it is regrown. What told
   * them stays as it is: an aspect that is told anew with another value tells its edges again.
   */
  forgetRelationships(urn: string, caller: Caller): Promise<Written>;
}
