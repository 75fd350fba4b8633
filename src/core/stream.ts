/**
 * Names of streams. The versioned aspects of one entity share one stream, so that several aspects
 * are one atomic append; each timeseries aspect of an entity has its own, so that its events never
 * contend with the entity's. A stream's name gives back what it is of: the log need not repeat it.
 */
export type StreamName = string;

export type StreamOf =
  | { readonly kind: "entity"; readonly urn: string }
  | { readonly kind: "timeseries"; readonly urn: string; readonly aspect: string };

const ENTITY = "entity-";
const TIMESERIES = "timeseries-";

export const entityStream = (urn: string): StreamName => ENTITY + urn;

/** `timeseries-<aspect>-<urn>`; aspect names hold no "-". */
export const timeseriesStream = (urn: string, aspect: string): StreamName =>
  `${TIMESERIES}${aspect}-${urn}`;

/** What a stream is of; undefined for streams of other kinds (jobs and the like). */
export function parseStream(name: StreamName): StreamOf | undefined {
  if (name.startsWith(ENTITY)) return { kind: "entity", urn: name.slice(ENTITY.length) };
  if (!name.startsWith(TIMESERIES)) return undefined;
  const end = name.indexOf("-", TIMESERIES.length);
  if (end < 0) return undefined;
  return {
    kind: "timeseries",
    aspect: name.slice(TIMESERIES.length, end),
    urn: name.slice(end + 1),
  };
}
