/**
 * The platform events of a change: its meanings (entityChangeEvent), the edges that it adds and removes
 * (relationshipChangeEvent), or the event that a producer sent.
 */
import { isPlatformEvent, type PlatformEvent, platformEventOf } from "../core/platform-event.ts";
import { type Meaning, meaningsOf } from "../core/timeline/meanings.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { Projection } from "../projector/sink.ts";
import type { Edge, GraphWrite } from "../views/graph/graph.ts";
import type { ChangeEvent } from "./change-event.ts";

interface PlatformEventRules {
  /** The key aspect of an entity type; absent: no event says that an entity was created or deleted. */
  readonly keyAspectOf?: ((entityType: string) => string | undefined) | undefined;
  /** The projection of the graph; absent: no event is about edges. */
  readonly projectEdges?: Projection<GraphWrite> | undefined;
}

export type PlatformEventsOf = (event: ChangeEvent) => readonly PlatformEvent[];

export function createPlatformEvents({
  keyAspectOf,
  projectEdges,
}: PlatformEventRules): PlatformEventsOf {
  const edgesOf = projectEdges && edgesBy(projectEdges);
  return (event) => {
    const { change } = event;
    if (isPlatformEvent(change)) return [platformEventOf(change)];
    const meanings = meaningsOf(event, keyAspectOf?.(change.entityType)).map(eventOfMeaning);
    return edgesOf === undefined ? meanings : [...meanings, ...edgeEvents(event, edgesOf)];
  };
}

function eventOfMeaning(meaning: Meaning): PlatformEvent {
  const { entityType, created, category, operation, entityUrn, modifier, parameters } = meaning;
  return eventOf("entityChangeEvent", entityUrn, created, {
    // A field has a type of its own.
    entityType: entityTypeOf(entityUrn) || entityType,
    entityUrn,
    category: category === "OWNERSHIP" ? "OWNER" : category,
    operation,
    modifier,
    parameters,
    auditStamp: { time: created.time, actor: created.actor },
    version: 0,
  });
}

/** The edges of a value, by their type and ends. */
type EdgesBy = (change: ChangeEvent["change"]) => ReadonlyMap<string, Edge>;

const edgesBy =
  (project: Projection<GraphWrite>): EdgesBy =>
  (change) =>
    new Map(
      project(change)
        .flatMap((write) => (write.op === "replace" ? write.edges : []))
        .map((edge) => [`${edge.type}\0${edge.source}\0${edge.destination}`, edge]),
    );

function edgeEvents({ change, previous }: ChangeEvent, edgesOf: EdgesBy): readonly PlatformEvent[] {
  if (change.timeseries) return [];
  const after = edgesOf(change);
  const before =
    previous === undefined
      ? new Map<string, Edge>()
      : edgesOf({ ...change, changeType: "UPSERT", value: previous.value });
  const added = [...after].filter(([id]) => !before.has(id));
  const removed = [...before].filter(([id]) => !after.has(id));
  const { urn, created } = change;
  const { time, actor } = created;
  return [
    ...added.map(([, edge]) => ({ edge, operation: "ADD" })),
    ...removed.map(([, edge]) => ({ edge, operation: "REMOVE" })),
  ].map(({ edge, operation }) =>
    eventOf("relationshipChangeEvent", urn, created, {
      sourceUrn: edge.source,
      destinationUrn: edge.destination,
      operation,
      relationshipType: edge.type,
      via: edge.via,
      auditStamp: { time, actor },
    }),
  );
}

const eventOf = (
  name: string,
  urn: string,
  { time }: Meaning["created"],
  payload: object,
): PlatformEvent => ({
  ...{ name, key: `${name}-${urn}` },
  header: { timestampMillis: time },
  payload: { contentType: "application/json", value: JSON.stringify(payload) },
});
