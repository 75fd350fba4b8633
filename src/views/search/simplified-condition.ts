/**
 * Rewrites a condition to fewer parts: a thousand conditions on one field become one with a
 * thousand values, which takes a store hardly longer than one with a single value.
 */
import type { Condition } from "./search.ts";

export function simplifiedCondition(condition: Condition): Condition {
  switch (condition.kind) {
    case "every":
      return everyOf(condition.every.map(simplifiedCondition));
    case "any":
      return anyOf(condition.any.map(simplifiedCondition));
    case "not": {
      const inner = simplifiedCondition(condition.not);
      return inner.kind === "not" ? inner.not : { kind: "not", not: inner };
    }
    default:
      return condition;
  }
}

/** Merges negations by De Morgan's law: several `not` become one `not` of an `any`. */
function everyOf(all: readonly Condition[]): Condition {
  const parts = all.flatMap((one) => (one.kind === "every" ? one.every : [one]));
  const without = parts.flatMap((one) => (one.kind === "not" ? [one.not] : []));
  if (without.length < 2) return only(parts) ?? { kind: "every", every: parts };
  const others = parts.filter(({ kind }) => kind !== "not");
  const none: Condition = { kind: "not", not: anyOf(without) };
  return only([...others, none]) ?? { kind: "every", every: [...others, none] };
}

function anyOf(all: readonly Condition[]): Condition {
  const parts = all.flatMap((one) => (one.kind === "any" ? one.any : [one]));
  const equal = new Map<string, Extract<Condition, { kind: "equal" }>[]>();
  const like = new Map<string, Extract<Condition, { kind: "like" }>[]>();
  const others: Condition[] = [];
  for (const one of parts) {
    if (one.kind === "equal") listed(equal, one.field).push(one);
    else if (one.kind === "like") listed(like, `${one.how} ${one.field}`).push(one);
    else others.push(one);
  }
  const merged = [
    ...Array.from(equal.values(), ([first, ...rest]) =>
      first === undefined || rest.length === 0
        ? first
        : { ...first, values: [first, ...rest].flatMap(({ values }) => values) },
    ),
    ...Array.from(like.values(), ([first, ...rest]) =>
      first === undefined || rest.length === 0
        ? first
        : { ...first, texts: [first, ...rest].flatMap(({ texts }) => texts) },
    ),
  ].filter((one) => one !== undefined);
  const any = [...merged, ...others];
  return only(any) ?? { kind: "any", any };
}

function listed<T>(lists: Map<string, T[]>, key: string): T[] {
  let list = lists.get(key);
  if (list === undefined) {
    list = [];
    lists.set(key, list);
  }
  return list;
}

const only = (parts: readonly Condition[]): Condition | undefined =>
  parts.length === 1 ? parts[0] : undefined;
