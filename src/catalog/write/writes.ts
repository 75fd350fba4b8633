/** Writes and their callers: part of the catalog's interface (catalog.ts). */
import type { SystemMetadata } from "../../core/change.ts";
import type { CatalogError } from "../../core/errors.ts";
import type { PlatformEvent } from "../../core/platform-event.ts";
import type { Position } from "../../core/position.ts";
import type { REQUIRED, RequiredPrivileges } from "../../core/write/required-privileges.ts";

/** The caller of a request. */
export interface Caller {
  /** Urn of the acting user; undefined: the system. */
  readonly actor?: string | undefined;
  /** Makes a retried write happen once. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Any of these, in place of the privileges for the written aspects; "none" where the mutation has
   * authorized the caller.
   */
  readonly [REQUIRED]?: readonly RequiredPrivileges[] | "none" | undefined;
}

export type ProposedChange =
  | "UPSERT"
  | "CREATE"
  | "CREATE_ENTITY"
  | "UPDATE"
  | "RESTATE"
  | "PATCH"
  | "DELETE";

/** Maximum number of proposals, or of snapshot aspects, of one write: it is decided as a whole. */
export const proposalsMax = 20_000;

/** Characters of JSON text. Another thread handles longer ones: 1 MiB takes up to 300 ms. */
export const largeCharacters = 256 * 1024;

/** Never in a client's proposal or in a request's key. */
export const REQUEST_PATH: unique symbol = Symbol("place");

/** Never in a client's proposal: records of the value contain their names (model/type-names.ts). */
export const HAS_TYPE_NAMES: unique symbol = Symbol("named");

/** Never in a client's proposal: the result of an earlier validation (checked-proposals.ts). */
export const CHECKED: unique symbol = Symbol("checked");

/**
 * The result of validating a value without the entity's state. `valid`: `aspect.value` is the text to
 * store. `open`: it is JSON text whose validation depends on stored values and is still to be done.
 */
export type CheckedValue = "valid" | "open" | { readonly rejection: CatalogError };

/** A proposal with its aspect value as the client sent it. */
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
  /** Its path in the request; `proposals[<index>]` when absent. */
  readonly [REQUEST_PATH]?: string | undefined;
  readonly [HAS_TYPE_NAMES]?: true | undefined;
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
   * Distinct urns of changed entities; without entities whose values were only confirmed. For a
   * repeated request with its key: all entities that the request wrote.
   */
  readonly changed: readonly string[];
}

export interface Writes {
  /**
   * Validates all proposals, then appends all: a rejected proposal changes nothing, and the error
   * contains its index.
   */
  ingest(proposals: readonly Proposal[], caller: Caller): Promise<Ingested>;
  /** The aspects of snapshots as proposals. Throws `malformed` for an invalid snapshot. */
  proposalsOf(snapshots: readonly SnapshotProposal[]): readonly Proposal[];
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
   * Removes the urn from every aspect that refers to it, by ordinary proposals; entities whose keys
   * contain it stay. `total` counts (entity, aspect, relationship); a few of them are returned.
   * Runs in steps: after a failure completed steps remain, and the request can be sent again.
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
   * Removes every edge from and to the entity from the graph, now and in every rebuild. The aspects
   * that declare the edges stay unchanged; a later write of such an aspect with another value
   * declares its edges again.
   */
  forgetRelationships(urn: string, caller: Caller): Promise<Written>;

  /**
   * Appends an event for the subscribers of PlatformEvent_v1; no entity changes. `invalid` for an
   * empty or long name or key, a time that is not a whole number, or a value that is not JSON though
   * its content type is; `too_large` for a value over `eventBytesMax`.
   */
  producePlatformEvent(event: PlatformEvent, caller: Caller): Promise<Written>;
}
