/** Decides one write request on the entity's state and returns its appends. Synchronous. */
import type { AuditStamp, Change } from "../../core/change.ts";
import { decide, isEntityDelete } from "../../core/decide.ts";
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import type { Revision } from "../../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import { appendAll } from "../../lib/lists.ts";
import type { Append } from "../../log/change-log.ts";
import type { Addresses } from "../address.ts";
import { labelled } from "../labels.ts";
import type { Entry } from "./entity-cache.ts";
import { appendId } from "./idempotency.ts";
import type { ProposalValidation } from "./proposals/validated-proposal.ts";
import { type EventCommand, eventChange, type WriteRequest } from "./write-request.ts";

/** A rejected write request: nothing can be written. */
export interface RejectedRequest {
  readonly entry: Entry;
  readonly rejection: unknown;
}

/** The decision on an entity; without appends if nothing changes. */
export interface EntityDecision {
  readonly entry: Entry;
  /** The entity's state after the appends. */
  readonly next: EntityState;
  readonly appends: readonly Append[];
  /** True if the appends write or delete events. */
  readonly timeseries: boolean;
  /** True if the appends change something. */
  readonly hasChanges: boolean;
}

/** Parameters that all decisions of a request share. */
export interface RequestTerms {
  readonly stamp: AuditStamp;
  readonly key: string | undefined;
  /** Last revisions of streams, if the view may have skipped their last records. */
  readonly streamEnds: ReadonlyMap<StreamName, Revision>;
  /** The separator of the parts of a dataset's name on its platform. */
  readonly delimiterOf: (platformUrn: string) => string | undefined;
}

export interface WriteDecider {
  /** Urns of the platforms of datasets that may be created: they are loaded with the entities. */
  platformsOf(writeRequests: readonly WriteRequest[]): readonly string[];
  /** Throws CatalogError for a rejected request. `onNew` may throw to reject a new entity. */
  decideEntity(
    writeRequest: WriteRequest,
    entry: Entry,
    terms: RequestTerms,
    onNew?: () => void,
  ): EntityDecision;
  /** The same for a client's request: it also checks the urn of a new entity (Addresses.checkNew). */
  decideRequested(writeRequest: WriteRequest, entry: Entry, terms: RequestTerms): EntityDecision;
}

interface Parts {
  readonly addresses: Addresses;
  readonly validation: ProposalValidation;
  readonly encode: (change: Change) => Uint8Array;
  readonly systemActor: string;
}

export function createWriteDecider(parts: Parts): WriteDecider {
  const { addresses, validation, encode, systemActor } = parts;

  function platformsOf(writeRequests: readonly WriteRequest[]): readonly string[] {
    const platforms = writeRequests
      .filter(({ entity }) => entity.name === "dataset")
      .map(({ urn }) => String(addresses.readable(urn).key.platform));
    return [...new Set(platforms)];
  }

  function decideRequested(
    writeRequest: WriteRequest,
    entry: Entry,
    terms: RequestTerms,
  ): EntityDecision {
    return decideEntity(writeRequest, entry, terms, () => checkNew(writeRequest));
  }

  function checkNew({ urn, commands, events }: WriteRequest): void {
    const label = commands[0]?.label ?? events[0]?.command.label ?? "";
    labelled(label, () => addresses.checkNew(urn));
  }

  function decideEntity(
    writeRequest: WriteRequest,
    entry: Entry,
    { stamp: created, key, streamEnds, delimiterOf }: RequestTerms,
    onNew = () => {},
  ): EntityDecision {
    const { urn, entity, commands } = writeRequest;
    const lastRevision = streamEnds.get(entityStream(urn));
    const loaded = entry.state as EntityState;
    const state = lastRevision === undefined ? loaded : { ...loaded, revision: lastRevision };
    const { changes, next } = decide(state, commands, {
      entityType: entity.name,
      keyAspect: entity.keyAspect,
      created,
      systemActor,
      events: writeRequest.events.flatMap(({ command, after = 0 }) =>
        command.kind === "delete" ? [] : [{ after, system: command.system }],
      ),
      defaultAspects() {
        onNew();
        return validation.defaultAspects(entity, urn, delimiterOf);
      },
    });
    const end = commands.findLastIndex((command) => isEntityDelete(command, entity.keyAspect));
    const isGone = ({ after = Infinity }: EventCommand) => after <= end;
    const gone = writeRequest.events.filter(isGone);
    const left = writeRequest.events.filter((one) => !isGone(one));
    const eventAppends = appendsOf(writeRequest, left, { created, key });
    const appends: Append[] = appendsOf(writeRequest, gone, { created, key }).filter(
      // A batch appends to a stream once: events that would be deleted at once are omitted.
      ({ stream }) => eventAppends.every((other) => other.stream !== stream),
    );
    if (changes.length > 0) {
      const stream = entityStream(urn);
      const id = appendId(key, stream);
      appends.push({ stream, expected: state.revision, records: changes.map(encode), id });
    }
    appendAll(appends, eventAppends);
    // Deleting an entity deletes its events.
    const ended = changes.some(
      ({ changeType, aspect }) => changeType === "DELETE" && aspect === entity.keyAspect,
    );
    const timeseries = writeRequest.events.length > 0 || ended;
    const hasChanges = timeseries || changes.some(({ changeType }) => changeType !== "RESTATE");
    return { entry, next, appends, timeseries, hasChanges };
  }

  function appendsOf(
    writeRequest: WriteRequest,
    events: readonly EventCommand[],
    { created, key }: { readonly created: AuditStamp; readonly key: string | undefined },
  ): readonly Append[] {
    const byAspect = Map.groupBy(events, ({ aspect }) => aspect);
    return [...byAspect].map(([aspect, own]) => {
      const stream = timeseriesStream(writeRequest.urn, aspect);
      return {
        stream,
        expected: writeRequest.eventRevisions?.get(aspect) ?? "any",
        records: own.map(({ command }) => encode(eventChange(writeRequest, command, created))),
        id: appendId(key, stream),
      };
    });
  }

  return { platformsOf, decideEntity, decideRequested };
}

/** Looks up delimiters in the platforms' entries, which are in the same order. */
export function delimiters(
  platforms: readonly string[],
  entries: readonly Entry[],
): (platformUrn: string) => string | undefined {
  return (platformUrn) => {
    const state = entries[platforms.indexOf(platformUrn)]?.state;
    const info = state && currentAspect(state, "dataPlatformInfo")?.value;
    return info === undefined ? undefined : JSON.parse(info).datasetNameDelimiter;
  };
}
