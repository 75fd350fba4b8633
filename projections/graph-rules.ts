// What the Relationship annotations of a model say, aspect by aspect, ready to be applied to values:
// one rule for every string or urn that leads somewhere, with its path from the aspect's root.
//
// An annotation stands at the value itself, or further out with the way to it as its name (/*/tag);
// the outermost one of a value wins and replaces the others whole. In a path * is each item of an
// array or each value of a map, $key each key of a map, and a union's member its key in JSON.

import { CatalogError } from "../src/core/errors.ts";
import type { Annotation, Field, FieldType, Model } from "../src/model/model.ts";

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
    const found: GraphRule[] = [];
    const visit = { model, found, within: new Set<string>() };
    walk({ kind: "named", name: record }, [], [], visit);
    if (found.length > 0) rules.set(name, found);
  }
  return rules;
}

/** Annotations on the way to a value, outermost first, each with what is left of its path. */
interface Pending {
  readonly rest: readonly string[];
  readonly annotation: Annotation;
}

interface Visit {
  readonly model: Model;
  readonly found: GraphRule[];
  /** Records around this place: one within itself is not followed. */
  readonly within: Set<string>;
}

function walk(
  type: FieldType,
  path: readonly string[],
  pending: readonly Pending[],
  visit: Visit,
): void {
  const step = (component: string, to: FieldType) =>
    walk(to, [...path, component], stepped(pending, component), visit);
  switch (type.kind) {
    case "primitive":
    case "urn": {
      const own = pending.find(({ rest }) => rest.length === 0);
      if (own !== undefined) visit.found.push(ruleOf(own.annotation, path));
      break;
    }
    case "array":
      step("*", type.items);
      break;
    case "map":
      step("$key", { kind: "primitive", name: "string" });
      step("*", type.values);
      break;
    case "union":
      for (const { key, type: member } of type.members) step(key, member);
      break;
    case "named":
      walkRecord(type.name, path, pending, visit);
      break;
  }
}

function walkRecord(
  name: string,
  path: readonly string[],
  pending: readonly Pending[],
  visit: Visit,
): void {
  const type = visit.model.types.get(name);
  if (type?.kind !== "record" || visit.within.has(name)) return;
  visit.within.add(name);
  for (const field of type.fields) {
    const inherited = stepped(pending, field.name);
    walk(field.type, [...path, field.name], [...inherited, ...annotationsOf(field)], visit);
  }
  visit.within.delete(name);
}

const stepped = (pending: readonly Pending[], component: string): readonly Pending[] =>
  pending
    .filter(({ rest }) => rest[0] === component)
    .map(({ rest, annotation }) => ({ rest: rest.slice(1), annotation }));

function annotationsOf({ relationship }: Field): readonly Pending[] {
  if (relationship === undefined) return [];
  const entries = Object.entries(relationship);
  if (!entries.every(([key]) => key.startsWith("/"))) {
    return [{ rest: [], annotation: relationship }];
  }
  return entries.map(([key, annotation]) => ({
    rest: key.slice(1).split("/"),
    annotation: annotation as Annotation,
  }));
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
