/**
 * What the Relationship annotations of a model say, aspect by aspect, ready to be applied to values:
 * one rule for every string or urn that leads somewhere, with its path from the aspect's root.
 */
import { CatalogError } from "../src/core/errors.ts";
import type { Annotation, Model } from "../src/model/model.ts";
import { annotatedPlaces } from "./annotated-places.ts";

export interface GraphRule {
  /** Type of the edges. */
  readonly name: string;
  /** What the destination may be, as the model has it; an edge to others is one all the same. */
  readonly entityTypes: readonly string[];
  /** Where data comes from (upstream: from the destination), if the edge is about data. */
  readonly lineage: "upstream" | "downstream" | undefined;
  readonly path: readonly string[];
  /** Where the edge's other members are. */
  readonly beside: Readonly<Partial<Record<BesideName, Beside>>>;
}

export type BesideName = (typeof besideNames)[number];

/** A value that belongs to one told at a path: up that path to a depth, and on from there. */
export interface Beside {
  readonly depth: number;
  readonly rest: readonly string[];
}

const besideNames = [
  ...(["createdOn", "createdActor", "updatedOn", "updatedActor"] as const),
  ...(["properties", "via"] as const),
] as const;

/** By aspect, in the order of its fields; an aspect without any is missing. Plain data. */
export type GraphRules = ReadonlyMap<string, readonly GraphRule[]>;

export function compileGraphRules(model: Model): GraphRules {
  const rules = new Map<string, readonly GraphRule[]>();
  for (const { name, record } of model.aspects.values()) {
    const places = annotatedPlaces(model, record, {
      annotationOf: ({ relationship }) => relationship,
      wholeMaps: false,
    });
    const found = places.map(({ annotation, path }) => ruleOf(annotation, path));
    if (found.length > 0) rules.set(name, found);
  }
  return rules;
}

function ruleOf(annotation: Annotation, path: readonly string[]): GraphRule {
  const { name, entityTypes = [], isLineage = false, isUpstream = true } = annotation;
  if (typeof name !== "string" || name === "" || !Array.isArray(entityTypes)) {
    throw new CatalogError(
      "invalid",
      `the relationship at "/${path.join("/")}" is ${JSON.stringify(annotation)}`,
      { hint: 'Write it as { "name": …, "entityTypes": […] }' },
    );
  }
  const lineage = isUpstream ? "upstream" : "downstream";
  return {
    name,
    entityTypes: entityTypes.map(String),
    lineage: isLineage ? lineage : undefined,
    path,
    beside: besideOf(annotation, path),
  };
}

// path upstreams/*/dataset, createdOn upstreams/*/created/time → depth 2, rest [created, time]
function besideOf(annotation: Annotation, path: readonly string[]): GraphRule["beside"] {
  const beside: Partial<Record<BesideName, Beside>> = {};
  for (const name of besideNames) {
    // Safe lookup: `besideNames` is a closed list.
    const told = annotation[name];
    if (typeof told !== "string") continue;
    const components = told.split("/").filter((component) => component !== "");
    let depth = 0;
    while (depth < path.length && path[depth] === components[depth]) depth++;
    const rest = components.slice(depth);
    // What lies in another list belongs to no single value of this one.
    if (!rest.includes("*")) beside[name] = { depth, rest };
  }
  return beside;
}
