/** Rules of the projections, compiled from the model into plain data. */
import { createHash } from "node:crypto";
import {
  createGraphProjection,
  FORGETTING_STREAMS,
  forgettingOf,
} from "../../projections/graph/graph.ts";
import { compileGraphRules, type GraphRules } from "../../projections/graph/rules.ts";
import { documentBounds } from "../../projections/search/document.ts";
import { compileSearchRules, type SearchRules } from "../../projections/search/rules.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import { ownValue } from "../lib/own-value.ts";
import type { Model } from "../model/model.ts";

/** Rules of all projections. */
export interface ViewRules {
  /** Hash of the model, the compiled rules and the limits of documents; stored with each view. */
  readonly fingerprint: string;
  /** By entity type. */
  readonly keyAspects: Readonly<Record<string, string>>;
  readonly graph: GraphRules;
  readonly search: SearchRules;
}

export function viewRules(model: Model): ViewRules {
  const graph = compileGraphRules(model);
  const search = compileSearchRules(model);
  const rules = JSON.stringify([model.fingerprint, [...graph], search, documentBounds]);
  return {
    fingerprint: createHash("sha256").update(rules).digest("hex").slice(0, 32),
    keyAspects: Object.fromEntries(
      [...model.entities.values()].map(({ name, keyAspect }) => [name, keyAspect]),
    ),
    graph,
    search,
  };
}

/** The timeseries projection. */
export const timeseriesProjectionOf = ({ keyAspects }: Pick<ViewRules, "keyAspects">) =>
  createTimeseriesProjection((type) => ownValue(keyAspects, type));

/** The graph projection and the streams that remove edges, for restoring edges. */
export const statedEdgesOf = ({ keyAspects, graph }: Pick<ViewRules, "keyAspects" | "graph">) => ({
  project: createGraphProjection(graph, (type) => ownValue(keyAspects, type)),
  removalsOf: forgettingOf,
  removalsPrefix: FORGETTING_STREAMS,
});

/** The rules of platform events (feed/platform-events.ts). */
export const platformEventRules = (rules: Pick<ViewRules, "keyAspects" | "graph">) => ({
  keyAspectOf: (type: string) => ownValue(rules.keyAspects, type),
  projectEdges: statedEdgesOf(rules).project,
});
