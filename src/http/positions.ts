/**
 * Positions of the log in requests and answers. Every answer to a read says which position it shows
 * at least; a request may ask for one, and then waits, bounded, until reads show it.
 */
import type { IncomingHttpHeaders } from "node:http";
import { CatalogError } from "../core/errors.ts";
import { type Position, position } from "../core/position.ts";
import type { Answer, Ask, Backing, Endpoint } from "./endpoint.ts";

export const MIN_POSITION = "x-annals-min-position";
const POSITION = /^\d{1,15}$/;

/** The endpoint's answer, with the position that it shows. Throws `malformed`, `unavailable`. */
export async function answerAt(
  endpoint: Endpoint,
  ask: Ask,
  around: { readonly backing: Backing; readonly headers: IncomingHttpHeaders },
): Promise<Answer> {
  const { backing, headers } = around;
  const { reads } = endpoint;
  if (reads === undefined) return endpoint.handle(ask, backing);
  const { catalog } = backing;
  const views = typeof reads === "string" ? [reads] : reads;
  const least = readPosition(headers[MIN_POSITION]);
  if (least !== undefined) await Promise.all(views.map((view) => catalog.reach(view, least)));
  const shown = position(Math.min(...views.map((view) => catalog.positionOf(view))));
  const answer = await endpoint.handle(ask, backing);
  return answer.position === undefined ? { ...answer, position: shown } : answer;
}

function readPosition(value: string | readonly string[] | undefined): Position | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && POSITION.test(value)) return position(Number(value));
  throw new CatalogError(
    "malformed",
    `header X-Annals-Min-Position is "${String(value).slice(0, 60)}"`,
    { hint: "Send the X-Annals-Position of the write that the answer has to show" },
  );
}
