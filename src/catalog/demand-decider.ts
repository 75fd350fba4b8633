/** The appends for one demand of a request, decided on the entity's state. Synchronous. */
import type { AuditStamp, Change } from "../core/change.ts";
import { decide, isEnd } from "../core/decide.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import type { Revision } from "../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import type { Append } from "../log/change-log.ts";
import type { Addresses } from "./address.ts";
import { appendId } from "./append-ids.ts";
import { type Demand, type EventIntent, eventChange } from "./demands.ts";
import type { Entry } from "./entity-states.ts";
import { labelled } from "./labels.ts";
import type { Preparation } from "./prepare.ts";

/** What was decided of an entity: nothing can be written. */
export interface Refused {
  readonly entry: Entry;
  readonly refusal: unknown;
}

/** What becomes of an entity; no appends where the demand changes nothing. */
export interface Decided {
  readonly entry: Entry;
  /** Its state when the log has the appends. */
  readonly next: EntityState;
  readonly appends: readonly Append[];
  /** There are events among them, or they end the events that there are. */
  readonly timeseries: boolean;
  /** They tell something that was not known. */
  readonly news: boolean;
}

/** What all decisions of one request have in common. */
export interface RequestTerms {
  readonly stamp: AuditStamp;
  readonly key: string | undefined;
  /** Where streams end whose last records the view was told to pass over. */
  readonly ends: ReadonlyMap<StreamName, Revision>;
  /** What separates the parts of a dataset's name on its platform. */
  readonly delimiterOf: (platformUrn: string) => string | undefined;
}

export interface DemandDecider {
  /** Urns of the platforms whose datasets may come to be: they are loaded with the entities. */
  platformsOf(demands: readonly Demand[]): readonly string[];
  /** Throws CatalogError for a rejected demand. `onNew` may throw to reject a new entity. */
  decideEntity(demand: Demand, entry: Entry, terms: RequestTerms, onNew?: () => void): Decided;
  /** The same for a client's request: it also checks the urn of a new entity (Addresses.checkNew). */
  decideRequested(demand: Demand, entry: Entry, terms: RequestTerms): Decided;
}

interface Parts {
  readonly addresses: Addresses;
  readonly preparation: Preparation;
  readonly encode: (change: Change) => Uint8Array;
  readonly systemActor: string;
}

export function createDemandDecider(parts: Parts): DemandDecider {
  const { addresses, preparation, encode, systemActor } = parts;

  function platformsOf(demands: readonly Demand[]): readonly string[] {
    const platforms = demands
      .filter(({ entity }) => entity.name === "dataset")
      .map(({ urn }) => String(addresses.known(urn).key.platform));
    return [...new Set(platforms)];
  }

  function decideRequested(demand: Demand, entry: Entry, terms: RequestTerms): Decided {
    return decideEntity(demand, entry, terms, () => checkNew(demand));
  }

  function checkNew({ urn, intents, events }: Demand): void {
    const label = intents[0]?.label ?? events[0]?.intent.label ?? "";
    labelled(label, () => addresses.checkNew(urn));
  }

  function decideEntity(
    demand: Demand,
    entry: Entry,
    { stamp: created, key, ends, delimiterOf }: RequestTerms,
    onNew = () => {},
  ): Decided {
    const { urn, entity, intents } = demand;
    const last = ends.get(entityStream(urn));
    const loaded = entry.state as EntityState;
    const state = last === undefined ? loaded : { ...loaded, revision: last };
    const { changes, next } = decide(state, intents, {
      entityType: entity.name,
      keyAspect: entity.keyAspect,
      created,
      systemActor,
      tellings: demand.events.flatMap(({ intent, after = 0 }) =>
        intent.kind === "delete" ? [] : [{ after, system: intent.system }],
      ),
      given() {
        onNew();
        return preparation.given(entity, urn, delimiterOf);
      },
    });
    const end = intents.findLastIndex((intent) => isEnd(intent, entity.keyAspect));
    const isGone = ({ after = Infinity }: EventIntent) => after <= end;
    const gone = demand.events.filter(isGone);
    const left = demand.events.filter((one) => !isGone(one));
    const told = appendsOf(demand, left, { created, key });
    const appends: Append[] = appendsOf(demand, gone, { created, key }).filter(
      // A stream is appended to once: what would be gone at once is left out then.
      ({ stream }) => told.every((other) => other.stream !== stream),
    );
    if (changes.length > 0) {
      const stream = entityStream(urn);
      const id = appendId(key, stream);
      appends.push({ stream, expected: state.revision, records: changes.map(encode), id });
    }
    appends.push(...told);
    // The end of an entity is the end of its events.
    const ended = changes.some(
      ({ changeType, aspect }) => changeType === "DELETE" && aspect === entity.keyAspect,
    );
    const timeseries = demand.events.length > 0 || ended;
    const news = timeseries || changes.some(({ changeType }) => changeType !== "RESTATE");
    return { entry, next, appends, timeseries, news };
  }

  function appendsOf(
    demand: Demand,
    events: readonly EventIntent[],
    { created, key }: { readonly created: AuditStamp; readonly key: string | undefined },
  ): readonly Append[] {
    const byAspect = Map.groupBy(events, ({ aspect }) => aspect);
    return [...byAspect].map(([aspect, own]) => {
      const stream = timeseriesStream(demand.urn, aspect);
      return {
        stream,
        expected: demand.eventRevisions?.get(aspect) ?? "any",
        records: own.map(({ intent }) => encode(eventChange(demand, intent, created))),
        id: appendId(key, stream),
      };
    });
  }

  return { platformsOf, decideEntity, decideRequested };
}

/** From the entries of the platforms, in their order. */
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
