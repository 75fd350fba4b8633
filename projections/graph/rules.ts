/**
 * Compiles the Relationship annotations of a model into rules that are applied to values. Each
 * annotated string or urn of an aspect has one rule, with its path from the root of the aspect.
 */
import { CatalogError } from "../../src/core/errors.ts";
import type { Annotation, Model } from "../../src/model/model.ts";
import { annotatedPlaces } from "../annotated-places.ts";

export interface GraphRule {
  /** Type of the edges. */
  readonly name: string;
  /** Declared types of the destination; edges to other types are projected, too. */
  readonly entityTypes: readonly string[];
  /** Direction of the destination in lineage; undefined for edges that are not lineage. */
  readonly lineage: "upstream" | "downstream" | undefined;
  readonly path: readonly string[];
  /** Paths of the edge's other members. */
  readonly beside: Readonly<Partial<Record<BesideName, Beside>>>;
}

type BesideName = (typeof besideNames)[number];

/** Location of a member relative to the destination's path: its first `depth` components, then `rest`. */
export interface Beside {
  readonly depth: number;
  readonly rest: readonly string[];
}

const besideNames = [
  ...(["createdOn", "createdActor", "updatedOn", "updatedActor"] as const),
  ...(["properties", "via"] as const),
] as const;

/** By aspect, in the order of its fields. Aspects without rules are absent. Plain data. */
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
    const stated = annotation[name];
    if (typeof stated !== "string") continue;
    const components = stated.split("/").filter((component) => component !== "");
    let depth = 0;
    while (depth < path.length && path[depth] === components[depth]) depth++;
    const rest = components.slice(depth);
    // An item of another list belongs to no single item of this list.
    if (!rest.includes("*")) beside[name] = { depth, rest };
  }
  return beside;
}
