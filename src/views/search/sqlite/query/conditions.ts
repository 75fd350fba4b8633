/** Compiles conditions for one segment, evaluating each distinct value of a field once. */
import { fulfils, type ValueCondition } from "../../evaluate.ts";
import type { Condition } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import { type Segment, typeField } from "../segments/segment.ts";
import type { Deadline } from "./deadline.ts";

/** True if a document fulfils the condition. */
type Holds = (doc: number) => boolean;

/** Conditions that no document fulfils, and that all documents fulfil. */
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
      const matching = matchingOrdinals(condition, values, deadline);
      // Every document has a type.
      if (condition.field === typeField && !matching.includes(0, 1)) return always;
      return matching.includes(1) ? (doc) => values.some(doc, matching) : never;
    }
  }
}

/** By ordinal: 1 for a value that fulfils the condition. */
function matchingOrdinals(
  condition: ValueCondition,
  values: FieldValues,
  deadline: Deadline,
): Uint8Array {
  const matching = new Uint8Array(values.end);
  if (condition.kind === "equal") {
    for (const value of condition.values) {
      deadline.spend(64);
      matching[values.find(value)] = 1;
    }
    // `find` returns ordinal 0 for a value that no document has.
    matching[0] = 0;
  } else {
    values.eachValue((value, ordinal) => {
      deadline.spend(32);
      if (fulfils(condition, value)) matching[ordinal] = 1;
    });
  }
  return matching;
}
