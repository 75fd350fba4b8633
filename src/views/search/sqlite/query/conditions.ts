/** Evaluates conditions in one segment, once for each distinct value of a field. */
import { fulfils, type ValueCondition } from "../../evaluate.ts";
import type { Condition } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import { type Segment, typeField } from "../segments/segment.ts";
import type { Deadline } from "./deadline.ts";

/** True if a document fulfils the condition. */
type Holds = (doc: number) => boolean;

/** A condition that no document of the segment fulfils, and one that all do. */
export const never: Holds = () => false;
export const always: Holds = () => true;

export function compileCondition(
  condition: Condition,
  segment: Segment,
  deadline: Deadline,
): Holds {
  const inside = (one: Condition): Holds => compileCondition(one, segment, deadline);
  switch (condition.kind) {
    case "every": {
      const [first = always, ...others] = condition.every.map(inside).filter((a) => a !== always);
      if (first === never || others.includes(never)) return never;
      return others.reduce((a, b) => (doc) => a(doc) && b(doc), first);
    }
    case "any": {
      const [first = never, ...others] = condition.any.map(inside).filter((a) => a !== never);
      if (first === always || others.includes(always)) return always;
      return others.reduce((a, b) => (doc) => a(doc) || b(doc), first);
    }
    case "not": {
      const not = inside(condition.not);
      if (not === never) return always;
      return not === always ? never : (doc) => !not(doc);
    }
    default: {
      const values = segment.field(condition.field);
      if (values === undefined) return never;
      if (condition.kind === "exists") return (doc) => values.has(doc);
      const marked = markedValues(condition, values, deadline);
      // Every document has a type.
      if (condition.field === typeField && !marked.includes(0, 1)) return always;
      return marked.includes(1) ? (doc) => values.some(doc, marked) : never;
    }
  }
}

/** Marks the values that fulfil the condition, by ordinal. */
function markedValues(
  condition: ValueCondition,
  values: FieldValues,
  deadline: Deadline,
): Uint8Array {
  const marked = new Uint8Array(values.end);
  if (condition.kind === "equal") {
    for (const value of condition.values) {
      deadline.spend(64);
      marked[values.find(value)] = 1;
    }
    // Ordinal 0 is that of the values that no document has.
    marked[0] = 0;
  } else {
    values.eachValue((value, ordinal) => {
      deadline.spend(32);
      if (fulfils(condition, value)) marked[ordinal] = 1;
    });
  }
  return marked;
}
