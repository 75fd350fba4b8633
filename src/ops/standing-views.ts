/** Views that do not move although the log is ahead of them: nothing past their position is verified. */
import { CatalogError, saidBy } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { catchUp } from "../projector/catch-up.ts";
import type { Progress } from "../projector/progress.ts";

export interface StandingView {
  readonly view: string;
  readonly position: Position;
  /** Where the log ended when that was looked at. */
  readonly head: Position;
  readonly why: string;
}

/** How long a view may stand still or fail before it counts as standing; in milliseconds. */
const limits = { waitMsMax: 15_000, failingMsMax: 4_000, lookMs: 250 };

/** Those of the views that neither reach the log's head nor come any nearer to it. */
export async function findStanding(
  progress: Pick<Progress, "reached" | "errors" | "positions">,
  head: Position,
  views: readonly string[],
): Promise<readonly StandingView[]> {
  const positionOf = (view: string) => new Map(Object.entries(progress.positions())).get(view);
  const looked = views.map(async (view): Promise<readonly StandingView[]> => {
    const before = positionOf(view);
    if (before === undefined) return [];
    try {
      await catchUp(progress, view, head, limits);
      return [];
    } catch (error) {
      const position = positionOf(view) ?? before;
      return position > before ? [] : [{ view, position, head, why: saidBy(error) }];
    }
  });
  return (await Promise.all(looked)).flat();
}

export const standing = (views: readonly StandingView[]): CatalogError => {
  const [first, ...others] = views;
  const more = others.length === 0 ? "" : `; so do ${others.map(({ view }) => view).join(", ")}`;
  return new CatalogError(
    "unavailable",
    `the view "${first?.view}" stays at position ${first?.position}, and the log ends at ${first?.head}: what lies between is unknown${more}`,
    { hint: `${first?.why}. Rebuild the view if that does not pass` },
  );
};
