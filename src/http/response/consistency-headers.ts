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
import type { ApiContext, ApiRequest, Endpoint, Reply } from "../schemas/endpoint.ts";

const MIN_POSITION = "x-annals-min-position";
const POSITION = /^\d{1,15}$/;

/**
 * The endpoint's answer with its position; synchronous when possible. Throws `malformed`,
 * `invalid`, `unavailable`.
 */
export function answerAt(
  endpoint: Endpoint,
  request: ApiRequest,
  exchange: Exchange,
): Reply | Promise<Reply> {
  const { reads: read } = endpoint;
  if (read === undefined) {
    const answer = endpoint.handle(request, exchange.context);
    return endpoint.writes === true ? placedAfter(answer, exchange) : answer;
  }
  const views = typeof read === "string" ? [read] : read;
  const least = readPosition(exchange.headers[MIN_POSITION]);
  const moment = asOfPointOf(request.parameters);
  if (moment !== undefined) {
    if (least !== undefined) throw bothAsked();
    return answerAsOf(moment, endpoint, request, exchange);
  }
  return least === undefined
    ? answerNow(views, endpoint, request, exchange)
    : answerOnceReached(least, views, endpoint, request, exchange);
}

async function answerAsOf(
  moment: AsOfPoint,
  endpoint: Endpoint,
  request: ApiRequest,
  { context, state }: Exchange,
): Promise<Reply> {
  const { catalog } = context;
  const { shown: shownBy, ...reads } = await catalog.asOf(moment);
  try {
    const answer = await endpoint.handle(request, {
      ...context,
      catalog: { ...catalog, ...reads },
    });
    return { ...answer, position: shownBy() };
  } catch (error) {
    state.shown = shownBy();
    throw error;
  }
}

async function answerOnceReached(
  least: Position,
  views: readonly ReadView[],
  endpoint: Endpoint,
  request: ApiRequest,
  exchange: Exchange,
): Promise<Reply> {
  await Promise.all(views.map((view) => exchange.context.catalog.reach(view, least)));
  // A view's checkpoint may lag behind records that do not concern it.
  return answerNow(views, endpoint, request, exchange, least);
}

function answerNow(
  views: readonly ReadView[],
  endpoint: Endpoint,
  request: ApiRequest,
  { context, state }: Exchange,
  reached = START,
): Reply | Promise<Reply> {
  const least = minOf(views.map((view) => context.catalog.positionOf(view)));
  const atLeast = (shown: number): Position => position(Math.max(shown, reached));
  state.shown = atLeast(least);
  const stale = staleAmong(views, context);
  const placed = (answer: Reply): Reply => ({
    ...answer,
    position: atLeast(answer.position ?? least),
    ...(stale !== undefined && { headers: { ...answer.headers, "x-annals-stale": stale } }),
  });
  const answer = endpoint.handle(request, context);
  return answer instanceof Promise ? answer.then(placed) : placed(answer);
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

async function placedAfter(answer: Reply | Promise<Reply>, { context }: Exchange): Promise<Reply> {
  const written = await answer;
  return { ...written, position: written.position ?? context.catalog.positionOf("entities") };
}

interface Exchange {
  readonly context: ApiContext;
  readonly headers: IncomingHttpHeaders;
  readonly state: Pick<RequestState, "shown">;
}

const bothAsked = (): CatalogError =>
  new CatalogError("malformed", "X-Annals-Min-Position is given with a moment of the past", {
    hint: "Leave the header out: a read as of a moment waits for no view",
  });

function readPosition(value: string | readonly string[] | undefined): Position | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && POSITION.test(value)) return position(Number(value));
  throw new CatalogError(
    "malformed",
    `header X-Annals-Min-Position is "${String(value).slice(0, 60)}"`,
    { hint: "Send the X-Annals-Position of the write that the answer has to show" },
  );
}
