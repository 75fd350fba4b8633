/**
 * Log positions in requests and responses. Each response to a read carries the position that the views
 * cover at least, also for a 404. A request may require a minimum position and then waits up to a
 * limit. As-of reads (request/as-of-parameters.ts) carry the as-of position. A response marks views built with another
 * model. A write without changes carries the position of entity reads, because the write that made it
 * redundant may be newer than any position that the client knows.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { AsOfPoint, ReadView } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, position, START } from "../../core/position.ts";
import { minOf } from "../../lib/lists.ts";
import { asOfPointOf } from "../request/as-of-parameters.ts";
import type { RequestState } from "../request/parse-request.ts";
import type { ApiContext, ApiRequest, ApiResponse, Endpoint } from "../schemas/endpoint.ts";

const MIN_POSITION = "x-annals-min-position";
const POSITION = /^\d{1,15}$/;

/**
 * The endpoint's response with its position; synchronous when possible. Throws `malformed`,
 * `invalid`, `unavailable`.
 */
export function respondAt(
  endpoint: Endpoint,
  request: ApiRequest,
  exchange: Exchange,
): ApiResponse | Promise<ApiResponse> {
  const { reads: read } = endpoint;
  if (read === undefined) {
    const response = endpoint.handle(request, exchange.context);
    return endpoint.writes === true ? placedAfter(response, exchange) : response;
  }
  const views = typeof read === "string" ? [read] : read;
  const least = readPosition(exchange.headers[MIN_POSITION]);
  const point = asOfPointOf(request.parameters);
  if (point !== undefined) {
    if (least !== undefined) throw bothAsked();
    return respondAsOf(point, endpoint, request, exchange);
  }
  return least === undefined
    ? respondNow(views, endpoint, request, exchange)
    : respondOnceReached(least, views, endpoint, request, exchange);
}

async function respondAsOf(
  point: AsOfPoint,
  endpoint: Endpoint,
  request: ApiRequest,
  { context, state }: Exchange,
): Promise<ApiResponse> {
  const { catalog } = context;
  const { shown: shownBy, ...reads } = await catalog.asOf(point);
  try {
    const response = await endpoint.handle(request, {
      ...context,
      catalog: { ...catalog, ...reads },
    });
    return { ...response, position: shownBy() };
  } catch (error) {
    state.shown = shownBy();
    throw error;
  }
}

async function respondOnceReached(
  least: Position,
  views: readonly ReadView[],
  endpoint: Endpoint,
  request: ApiRequest,
  exchange: Exchange,
): Promise<ApiResponse> {
  await Promise.all(views.map((view) => exchange.context.catalog.reach(view, least)));
  // A view's checkpoint may lag behind records that do not concern it.
  return respondNow(views, endpoint, request, exchange, least);
}

function respondNow(
  views: readonly ReadView[],
  endpoint: Endpoint,
  request: ApiRequest,
  { context, state }: Exchange,
  reached = START,
): ApiResponse | Promise<ApiResponse> {
  const least = minOf(views.map((view) => context.catalog.positionOf(view)));
  const atLeast = (shown: number): Position => position(Math.max(shown, reached));
  state.shown = atLeast(least);
  const stale = staleAmong(views, context);
  const placed = (response: ApiResponse): ApiResponse => ({
    ...response,
    position: atLeast(response.position ?? least),
    ...(stale !== undefined && { headers: { ...response.headers, "x-annals-stale": stale } }),
  });
  const response = endpoint.handle(request, context);
  return response instanceof Promise ? response.then(placed) : placed(response);
}

/** `search; mend="annals rebuild search"`, for each view that was built with another model. */
function staleAmong(views: readonly ReadView[], context: ApiContext): string | undefined {
  const stale = context.stale();
  if (stale.size === 0) return undefined;
  const marks = views.flatMap((view) => {
    const command = stale.get(view);
    return command === undefined ? [] : [`${view}; mend="${command}"`];
  });
  return marks.length === 0 ? undefined : marks.join(", ");
}

async function placedAfter(
  response: ApiResponse | Promise<ApiResponse>,
  { context }: Exchange,
): Promise<ApiResponse> {
  const written = await response;
  return { ...written, position: written.position ?? context.catalog.positionOf("entities") };
}

interface Exchange {
  readonly context: ApiContext;
  readonly headers: IncomingHttpHeaders;
  readonly state: Pick<RequestState, "shown">;
}

const bothAsked = (): CatalogError =>
  new CatalogError(
    "malformed",
    "X-Annals-Min-Position cannot be combined with a read of the past",
    {
      hint: "Omit the header: a read of the past waits for no view",
    },
  );

function readPosition(value: string | readonly string[] | undefined): Position | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && POSITION.test(value)) return position(Number(value));
  throw new CatalogError(
    "malformed",
    `header X-Annals-Min-Position is "${String(value).slice(0, 60)}"`,
    { hint: "Send the X-Annals-Position of the write that the response has to show" },
  );
}
