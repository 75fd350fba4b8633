/** Which views are grown one after the other, together, and by threads of their own. */
import { availableParallelism } from "node:os";
import { type Places, sharedView, type ViewName, viewNames } from "./places.ts";

/** Views that are folded from those of aspects and timeseries, which have to be there first. */
export const foldedViews: ReadonlySet<ViewName> = new Set(["search"]);

/** Views that are rebuilt together. */
export function rebuildRounds(config: Pick<Places, ViewName>): readonly (readonly ViewName[])[] {
  const shared = (name: ViewName) => sharedView(config, name);
  const first = viewNames.filter((name) => !foldedViews.has(name));
  // Grown and compared together: the log is read, and looked through, once less.
  if (!viewNames.some(shared)) return [viewNames];
  return [
    first.filter((name) => !shared(name)),
    first.filter(shared),
    viewNames.filter((name) => foldedViews.has(name)),
  ];
}

/** Records of a log for which a thread more is worth its start. */
export const worthThread = 10_000;

/**
 * Which of some views are grown from so many records by a thread each. The graph is made of the log
 * alone; all that takes longer comes from aspects.
 */
export function growthLanes(
  config: Pick<Places, ViewName>,
  names: readonly string[],
  records: number,
): readonly (readonly ViewName[])[] {
  const views = viewNames.filter((name) => names.includes(name));
  const others = views.filter((view) => view !== "graph");
  const apart =
    records >= worthThread &&
    availableParallelism() > 1 &&
    others.length < views.length &&
    others.some((view) => foldedViews.has(view)) &&
    !views.some((view) => sharedView(config, view));
  return apart ? [others, ["graph"]] : [views];
}
