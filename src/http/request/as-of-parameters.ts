/**
 * Reads as of a point in time: the query parameters that name it. They are parameters and not headers,
 * because each as-of point has its own response, which links and logs must distinguish.
 * X-Annals-Min-Position only requires a minimum freshness.
 */
import type { AsOfPoint } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { position } from "../../core/position.ts";
import { parseTime } from "../../lib/calendar.ts";
import type { Endpoint, Parameter } from "../schemas/endpoint.ts";
import { query } from "../schemas/query-parameters.ts";

const POSITION = "asOfPosition";
const TIME = "asOfTime";

/** Parameters of every endpoint that supports as-of reads. */
export const asOfParameters: readonly Parameter[] = [
  query.string(
    POSITION,
    "Reads as of this position of the log (an `X-Annals-Position` of a response). Current read permissions apply",
  ),
  query.string(
    TIME,
    "Reads as of this time of the service's clock: epoch milliseconds, or `2026-03-01T12:00:00Z`. `X-Annals-Position` is the last position included",
  ),
];

export const takesAsOf = ({ parameters }: Endpoint): boolean =>
  parameters?.some(({ name }) => name === POSITION) === true;

/** Throws `malformed` for an as-of parameter of an endpoint that would ignore it. */
export function rejectAsOf(endpoint: Endpoint, rawQuery: string): void {
  if (!rawQuery.includes("asOf") || takesAsOf(endpoint)) return;
  const names = new Set(rawQuery.split("&").map((pair) => pair.split("=", 1)[0]));
  const given = [POSITION, TIME].find((name) => names.has(name));
  if (given === undefined) return;
  throw new CatalogError("malformed", `"${endpoint.name}" takes no ${given}`, {
    hint: "Reads of entities, aspects and timeseries do; leave it out to ask of the present",
  });
}

/** Undefined for the present. Throws `malformed`. */
export function asOfPointOf(parameters: Readonly<Record<string, unknown>>): AsOfPoint | undefined {
  const { [POSITION]: at, [TIME]: time } = parameters as Partial<Record<string, string>>;
  if (at === undefined) return time === undefined ? undefined : { time: readTime(time) };
  if (time !== undefined) {
    throw new CatalogError("malformed", `${POSITION} and ${TIME} are both given`, {
      hint: "Send one of them",
    });
  }
  if (DIGITS.test(at)) return { position: position(Number(at)) };
  throw new CatalogError("malformed", `${POSITION} is "${at.slice(0, 60)}"`, {
    hint: "Send an X-Annals-Position of a response of this service",
  });
}

const DIGITS = /^\d{1,15}$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

function readTime(text: string): number {
  if (DIGITS.test(text)) return Number(text);
  // An unencoded plus was decoded to a blank.
  const given = text.replace(" ", "+");
  const time = ISO.test(given) ? parseTime(given) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new CatalogError("malformed", `${TIME} is "${text.slice(0, 60)}"`, {
    hint: "Send epoch milliseconds, or a time with its zone as 2026-03-01T12:00:00Z",
  });
}
