/**
 * Projects changes of the log into writes of the graph.
 *
 *   UPSERT of an aspect that may state edges  replace         the edges of its value
 *   DELETE of such an aspect                  replace         none
 *   DELETE of the key aspect of an entity     remove_entity   all edges that its aspects state
 *   RESTATE with the value                    replace         restores the edges of the value
 *   RESTATE without the value                 nothing         the value did not change
 *   DELETE in the `$relationships` stream     forget          the edges of the urn at that position
 *
 * The annotations of the model say which edges an aspect states (rules.ts). When an entity is
 * deleted, edges that aspects of other entities state about it stay until those aspects are deleted.
 */
import { assert } from "../../src/core/errors.ts";
import { type StreamName, timeseriesStream } from "../../src/core/stream.ts";
import { jsonObject } from "../../src/lib/json.ts";
import type { Projection } from "../../src/projector/sink.ts";
import type { Edge, GraphWrite } from "../../src/views/graph/graph.ts";
import type { KeyAspectOf } from "../aspects.ts";
import { addRuleEdges, createEdgeList } from "./edges.ts";
import { fieldEdges } from "./fields.ts";
import type { GraphRules } from "./rules.ts";

/**
 * The aspect name in the name of the stream with the requests to remove the edges of an entity
 * (catalog/graph/relationships.ts). No aspect can have this name.
 */
const FORGET = "$relationships";

/** Prefix of the names of all streams with such requests. */
export const FORGETTING_STREAMS = timeseriesStream("", FORGET);

/** The streams whose requests can remove edges of a write: those of the ends of its edges. */
export function forgettingOf(write: GraphWrite): readonly StreamName[] {
  if (write.op !== "replace") return [];
  const ends = write.edges.flatMap(({ source, destination }) => [source, destination]);
  return [...new Set(ends)].map((urn) => timeseriesStream(urn, FORGET));
}

/** Returns the edges that a value of an aspect states. The value is JSON text. */
type EdgesOf = (urn: string, value: string) => readonly Edge[];

export function createGraphProjection(
  rules: GraphRules,
  keyAspectOf: KeyAspectOf,
): Projection<GraphWrite> {
  const edgesByAspect = compileEdges(rules);

  return (change) => {
    const { urn, aspect, position, changeType, entityType } = change;
    if (change.timeseries) {
      const forgets = changeType === "DELETE" && aspect === FORGET;
      return forgets ? [{ op: "forget", urn, position }] : [];
    }
    if (changeType === "RESTATE" && change.value === undefined) return [];
    if (changeType === "DELETE" && keyAspectOf(entityType) === aspect) {
      return [{ op: "remove_entity", urn, position }];
    }
    const edgesOf = edgesByAspect.get(aspect);
    if (edgesOf === undefined) return [];
    const { value, created, system } = change;
    const stamp = { time: system.lastObserved, actor: created.actor };
    assert(changeType === "DELETE" || value !== undefined, `position ${position} has no value`);
    const edges = value === undefined ? [] : edgesOf(urn, value);
    return [{ op: "replace", urn, aspect, position, stamp, edges }];
  };
}

function compileEdges(rulesByAspect: GraphRules): ReadonlyMap<string, EdgesOf> {
  const compiled = new Map<string, EdgesOf>();
  for (const [aspect, rules] of rulesByAspect) {
    const addFieldEdges = fieldEdges.get(aspect);
    // A text without the last name of any rule's path states no edges and is not parsed.
    const names = rules.map(({ path }) => path.findLast((name) => !/^[*$]/.test(name)));
    if (addFieldEdges !== undefined) names.push("fineGrainedLineages", "schemaFieldUrn");
    const quoted = [...new Set(names)].map((name) => JSON.stringify(name));

    compiled.set(aspect, (urn, text) => {
      if (!quoted.some((name) => text.includes(name))) return [];
      const value = JSON.parse(text);
      const list = createEdgeList();
      for (const rule of rules) addRuleEdges(urn, value, rule, list);
      if (jsonObject(value)) addFieldEdges?.(urn, value, list);
      return list.edges;
    });
  }
  return compiled;
}
