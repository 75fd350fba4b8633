/**
 * Extracts the edges that one value of an aspect states: those of its rules (rules.ts), and
 * the edges between fields, which no annotation can express (fields.ts).
 *
 * Edges with the same type and ends are merged: deprecated lists and their successors state them
 * twice. The first statement determines order and path, later ones add properties that it lacks.
 */
import { type JsonObject, jsonObject } from "../../src/lib/json.ts";
import type { Edge } from "../../src/views/graph/graph.ts";
import type { Beside, GraphRule } from "./rules.ts";

export interface EdgeList {
  add(edge: Edge): void;
  readonly edges: Edge[];
}

export function createEdgeList(): EdgeList {
  const edges: Edge[] = [];
  const indexes = new Map<string, number>();
  return {
    edges,
    add(edge) {
      const ends = `${edge.type}\0${edge.source}\0${edge.destination}`;
      const index = indexes.get(ends);
      const first = index === undefined ? undefined : edges[index];
      if (index === undefined || first === undefined) {
        indexes.set(ends, edges.length);
        edges.push(edge);
      } else edges[index] = { ...edge, ...first };
    },
  };
}

/** Adds the edges of one rule, from the entity to the urns in the value. */
export function addRuleEdges(urn: string, value: unknown, rule: GraphRule, list: EdgeList): void {
  const { name, path } = rule;
  const shown = `/${path.join("/")}`;
  const way: unknown[] = [value];

  function descend(depth: number): void {
    const here = way[depth];
    const component = path[depth];
    if (component === undefined) {
      if (typeof here === "string" && here !== "") {
        const edge = { source: urn, type: name, destination: here, path: shown };
        list.add({ ...edge, ...besides(rule, way) });
      }
      return;
    }
    for (const next of beneath(here, component)) {
      way[depth + 1] = next;
      descend(depth + 1);
    }
  }
  descend(0);
}

function beneath(value: unknown, component: string): readonly unknown[] {
  if (component === "*") {
    if (Array.isArray(value)) return value;
    return jsonObject(value) ? Object.values(value) : [];
  }
  if (!jsonObject(value)) return [];
  if (component === "$key") return Object.keys(value);
  return Object.hasOwn(value, component) ? [value[component]] : [];
}

/** The properties of an edge. A stamp without a time is ignored: 0 means "unknown". */
function besides({ beside }: GraphRule, way: readonly unknown[]): Partial<Edge> {
  const { createdOn, createdActor, updatedOn, updatedActor, properties, via } = beside;
  const found: { -readonly [Name in keyof Edge]?: Edge[Name] } = {};
  if (createdOn) found.createdOn = timeAt(way, createdOn);
  if (createdActor && found.createdOn) found.createdActor = textAt(way, createdActor);
  if (updatedOn) found.updatedOn = timeAt(way, updatedOn);
  if (updatedActor && found.updatedOn) found.updatedActor = textAt(way, updatedActor);
  if (properties) found.properties = textsAt(way, properties);
  if (via) found.via = textAt(way, via);
  // Absent, so that a later statement of the edge can add them.
  for (const name of Object.keys(found) as (keyof Edge)[]) {
    // Safe lookup: Object.keys returns own members.
    if (found[name] === undefined) delete found[name];
  }
  return found;
}

function valueAt(way: readonly unknown[], { depth, rest }: Beside): unknown {
  let value = way[depth];
  for (const component of rest) value = beneath(value, component)[0];
  return value;
}

function textAt(way: readonly unknown[], beside: Beside): string | undefined {
  const value = valueAt(way, beside);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function timeAt(way: readonly unknown[], beside: Beside): number | undefined {
  const value = valueAt(way, beside);
  return typeof value === "number" && value !== 0 ? value : undefined;
}

function textsAt(way: readonly unknown[], beside: Beside): Edge["properties"] {
  const value = valueAt(way, beside);
  if (!jsonObject(value)) return undefined;
  const texts = Object.entries(value as JsonObject).filter(([, text]) => typeof text === "string");
  return texts.length === 0 ? undefined : (Object.fromEntries(texts) as Edge["properties"]);
}
