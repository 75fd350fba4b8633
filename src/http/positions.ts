/**
 * Positions of the log in requests and answers. Every answer to a read says which position it shows
 * at least, also that something is not there; a request may ask for one, and then waits, bounded, until
 * reads show it. Where it is of a view that another model made, the answer says that, too. Answers as of
 * a moment (moments.ts) say the position of the moment. A write that found nothing to write says what
 * reads of entities show: what made it needless may be a write of a moment ago, whose answer nobody has.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Moment, ReadView } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { type Position, position, START } from "../core/position.ts";
import type { Answer, Ask, Backing, Endpoint } from "./endpoint.ts";
import { momentOf } from "./moments.ts";
import type { Noted } from "./reception.ts";

const MIN_POSITION = "x-annals-min-position";
const POSITION = /^\d{1,15}$/;

/**
 * The endpoint's answer, with the position that it shows; without a promise where it is at hand. Throws
 * `malformed`, `invalid`, `unavailable`.
 */
export function answerAt(endpoint: Endpoint, ask: Ask, around: Around): Answer | Promise<Answer> {
  const { reads: read } = endpoint;
  if (read === undefined) {
    const answer = endpoint.handle(ask, around.backing);
    return endpoint.writes === true ? placedAfter(answer, around) : answer;
  }
  const views = typeof read === "string" ? [read] : read;
  const least = readPosition(around.headers[MIN_POSITION]);
  const moment = momentOf(ask.parameters);
  if (moment !== undefined) {
    if (least !== undefined) throw bothAsked();
    return answerAsOf(moment, endpoint, ask, around);
  }
  return least === undefined
    ? answerNow(views, endpoint, ask, around)
    : answerOnceReached(least, views, endpoint, ask, around);
}

async function answerAsOf(
  moment: Moment,
  endpoint: Endpoint,
  ask: Ask,
  { backing, noted }: Around,
): Promise<Answer> {
  const { catalog } = backing;
  const { shown: shownBy, ...reads } = await catalog.asOf(moment);
  try {
    const answer = await endpoint.handle(ask, { ...backing, catalog: { ...catalog, ...reads } });
    return { ...answer, position: shownBy() };
  } catch (error) {
    noted.shown = shownBy();
    throw error;
  }
}

async function answerOnceReached(
  least: Position,
  views: readonly ReadView[],
  endpoint: Endpoint,
  ask: Ask,
  around: Around,
): Promise<Answer> {
  await Promise.all(views.map((view) => around.backing.catalog.reach(view, least)));
  // Views pass over some records without saying that they are there.
  return answerNow(views, endpoint, ask, around, least);
}

function answerNow(
  views: readonly ReadView[],
  endpoint: Endpoint,
  ask: Ask,
  { backing, noted }: Around,
  reached = START,
): Answer | Promise<Answer> {
  const least = Math.min(...views.map((view) => backing.catalog.positionOf(view)));
  const atLeast = (shown: number): Position => position(Math.max(shown, reached));
  noted.shown = atLeast(least);
  const stale = staleAmong(views, backing);
  const placed = (answer: Answer): Answer => ({
    ...answer,
    position: atLeast(answer.position ?? least),
    ...(stale !== undefined && { headers: { ...answer.headers, "x-annals-stale": stale } }),
  });
  const answer = endpoint.handle(ask, backing);
  return answer instanceof Promise ? answer.then(placed) : placed(answer);
}

/** `search; mend="annals rebuild search"`, for each view that another model made. */
function staleAmong(views: readonly ReadView[], backing: Backing): string | undefined {
  const stale = backing.stale();
  if (stale.size === 0) return undefined;
  const told = views.flatMap((view) => {
    const command = stale.get(view);
    return command === undefined ? [] : [`${view}; mend="${command}"`];
  });
  return told.length === 0 ? undefined : told.join(", ");
}

async function placedAfter(answer: Answer | Promise<Answer>, { backing }: Around): Promise<Answer> {
  const written = await answer;
  return { ...written, position: written.position ?? backing.catalog.positionOf("entities") };
}

interface Around {
  readonly backing: Backing;
  readonly headers: IncomingHttpHeaders;
  readonly noted: Pick<Noted, "shown">;
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
