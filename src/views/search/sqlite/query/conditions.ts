/** Evaluates conditions in one segment, once for each distinct value of a field. */
import { fulfils, type ValueCondition } from "../../evaluate.ts";
import type { Condition } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import type { Segment } from "../segments/segment.ts";
import type { Deadline } from "./deadline.ts";

/** True if a document fulfils the condition. */
type Holds = (doc: number) => boolean;

const never: Holds = () => false;

export function compileCondition(
  condition: Condition,
  segment: Segment,
  deadline: Deadline,
): Holds {
  const inside = (one: Condition): Holds => compileCondition(one, segment, deadline);
  switch (condition.kind) {
    case "every": {
      const [first, ...others] = condition.every.map(inside);
      if (first === undefined) return () => true;
      return others.reduce((a, b) => (doc) => a(doc) && b(doc), first);
    }
    case "any": {
      const [first = never, ...others] = condition.any.map(inside).filter((one) => one !== never);
      return others.reduce((a, b) => (doc) => a(doc) || b(doc), first);
    }
    case "not": {
      const not = inside(condition.not);
      return not === never ? () => true : (doc) => !not(doc);
    }
    default: {
      const values = segment.field(condition.field);
      if (values === undefined) return never;
      if (condition.kind === "exists") return (doc) => values.has(doc);
      const marked = markedValues(condition, values, deadline);
      return marked === undefined ? never : (doc) => values.some(doc, marked);
    }
  }
}

/** Marks the values that fulfil the condition, by ordinal; undefined if none does. */
function markedValues(
  condition: ValueCondition,
  values: FieldValues,
  deadline: Deadline,
): Uint8Array | undefined {
  const marked = new Uint8Array(values.count);
  let some = false;
  const mark = (ordinal: number) => {
    marked[ordinal] = 1;
    some = true;
  };
  if (condition.kind === "equal") {
    for (const value of condition.values) {
      deadline.spend(64);
      const ordinal = values.find(typeof value === "string" ? value.toWellFormed() : value);
      if (ordinal >= 0) mark(ordinal);
    }
    return some ? marked : undefined;
  }
  values.eachValue((value, ordinal) => {
    deadline.spend(32);
    if (fulfils(condition, value)) mark(ordinal);
  });
  return some ? marked : undefined;
}
