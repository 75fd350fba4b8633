/**
 * Stuck views: they make no progress although the log is ahead, so nothing past their position is
 * verified.
 */
import { CatalogError, messageOf } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { catchUp } from "../../projector/thread/catch-up.ts";
import type { Progress } from "../../projector/thread/progress.ts";

export interface StalledView {
  readonly view: string;
  readonly position: Position;
  /** Position at which the log ended at the time of the check. */
  readonly head: Position;
  readonly why: string;
}

/** Milliseconds without progress, or of failures, after which a view counts as stuck. */
const limits = { waitMsMax: 15_000, failingMsMax: 4_000, pollMs: 250 };

/** Finds views that neither reach the log's head nor make progress towards it. */
export async function findStuckViews(
  progress: Pick<Progress, "reached" | "errors" | "positions">,
  head: Position,
  views: readonly string[],
): Promise<readonly StalledView[]> {
  const positionOf = (view: string) => new Map(Object.entries(progress.positions())).get(view);
  const checks = views.map(async (view): Promise<readonly StalledView[]> => {
    const before = positionOf(view);
    if (before === undefined) return [];
    try {
      await catchUp(progress, view, head, limits);
      return [];
    } catch (error) {
      const position = positionOf(view) ?? before;
      return position > before ? [] : [{ view, position, head, why: messageOf(error) }];
    }
  });
  return (await Promise.all(checks)).flat();
}

/** The error for stuck views. */
export const stuckViews = (views: readonly StalledView[]): CatalogError => {
  const [first, ...others] = views;
  const more =
    others.length === 0 ? "" : `; also stuck: ${others.map(({ view }) => view).join(", ")}`;
  return new CatalogError(
    "unavailable",
    `view "${first?.view}" is stuck at position ${first?.position}, and the log ends at ${first?.head}: the records between are not verified${more}`,
    { hint: `${first?.why}. Rebuild the view if the problem persists` },
  );
};
