/**
 * Positions of the log in requests and answers. Every answer to a read says which position it shows
 * at least; a request may ask for one, and then waits, bounded, until reads show it. Answers as of a
 * moment (moments.ts) say that of the moment.
 */
import type { IncomingHttpHeaders } from "node:http";
import { CatalogError } from "../core/errors.ts";
import { type Position, position } from "../core/position.ts";
import type { Answer, Ask, Backing, Endpoint } from "./endpoint.ts";
import { momentOf } from "./moments.ts";

const MIN_POSITION = "x-annals-min-position";
const POSITION = /^\d{1,15}$/;

/**
 * The endpoint's answer, with the position that it shows. Throws `malformed`, `invalid`,
 * `unavailable`.
 */
export async function answerAt(
  endpoint: Endpoint,
  ask: Ask,
  around: { readonly backing: Backing; readonly headers: IncomingHttpHeaders },
): Promise<Answer> {
  const { backing, headers } = around;
  const { reads: read } = endpoint;
  if (read === undefined) return endpoint.handle(ask, backing);
  const { catalog } = backing;
  const least = readPosition(headers[MIN_POSITION]);
  const moment = momentOf(ask.parameters);
  if (moment !== undefined) {
    if (least !== undefined) throw bothAsked();
    const { shown: shownBy, ...reads } = await catalog.asOf(moment);
    const answer = await endpoint.handle(ask, { ...backing, catalog: { ...catalog, ...reads } });
    return { ...answer, position: shownBy() };
  }
  const views = typeof read === "string" ? [read] : read;
  if (least !== undefined) await Promise.all(views.map((view) => catalog.reach(view, least)));
  let shown = Number.POSITIVE_INFINITY;
  for (const view of views) shown = Math.min(shown, catalog.positionOf(view));
  const answer = await endpoint.handle(ask, backing);
  return answer.position === undefined ? { ...answer, position: position(shown) } : answer;
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
