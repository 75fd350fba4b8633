/**
 * What a change of an aspect means to people: which tags, owners, terms, fields came and went, and
 * how much it asks of those who rely on the entity. Pure; made of the facts of both values.
 */
import { type ChangeCategory, type Fact, factsOf } from "./semantic-facts.ts";

export type ChangeOperation =
  | ("ADD" | "MODIFY" | "REMOVE")
  | ("CREATE" | "HARD_DELETE" | "SOFT_DELETE" | "REINSTATE");

/** From the least to the most that it asks of others. */
export const semanticChangeTypes = ["NONE", "PATCH", "MINOR", "MAJOR"] as const;
export type SemanticChangeType = (typeof semanticChangeTypes)[number];

export interface SemanticChange {
  readonly category: ChangeCategory;
  readonly operation: ChangeOperation;
  readonly entityUrn: string;
  readonly modifier?: string | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly semVerChange: SemanticChangeType;
  readonly description: string;
}

export interface AspectChange {
  readonly urn: string;
  readonly aspect: string;
  readonly isKey: boolean;
  /** Undefined: it had no value, or has none now. */
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>> | undefined;
}

const shownMax = 200;

export function semanticChanges(change: AspectChange): readonly SemanticChange[] {
  const { urn, aspect, before, after } = change;
  if (change.isKey && before !== undefined && after !== undefined) return [];
  if (change.isKey) return lifecycle(urn, before === undefined ? "CREATE" : "HARD_DELETE");
  if (aspect === "status") {
    const [was, is] = [before?.removed === true, after?.removed === true];
    return was === is ? [] : lifecycle(urn, is ? "SOFT_DELETE" : "REINSTATE");
  }
  const old = new Map(factsBy(before, change));
  const changes: SemanticChange[] = [];
  for (const [id, fact] of factsBy(after, change)) {
    const known = old.get(id);
    old.delete(id);
    if (known === undefined) changes.push(told(fact, "ADD", `The ${fact.words} was added`));
    else if (known.value !== fact.value) changes.push(told(fact, "MODIFY", became(known, fact)));
  }
  for (const fact of old.values()) {
    changes.push(told(fact, "REMOVE", `The ${fact.words} was removed`));
  }
  return changes;
}

const factsBy = (
  value: AspectChange["after"],
  { aspect, urn }: AspectChange,
): (readonly [string, Fact])[] =>
  value === undefined
    ? []
    : factsOf(aspect, value, urn).map((fact) => [`${fact.category} ${fact.id}`, fact]);

const became = (known: Fact, fact: Fact): string =>
  `The ${fact.words} was "${cut(known.value)}" and is "${cut(fact.value)}"`;

const cut = (value: string): string =>
  value.length > shownMax ? `${value.slice(0, shownMax)}…` : value;

function told(
  fact: Fact,
  operation: "ADD" | "MODIFY" | "REMOVE",
  sentence: string,
): SemanticChange {
  const { category, about: entityUrn, modifier, parameters } = fact;
  return {
    category,
    operation,
    entityUrn,
    modifier,
    parameters,
    description: `${sentence}: ${entityUrn}`,
    semVerChange: semVerOf(fact, operation),
  };
}

/** Who reads a table breaks where a field goes or becomes another; a corrected text breaks nobody. */
function semVerOf(
  { breaking, category }: Fact,
  operation: "ADD" | "MODIFY" | "REMOVE",
): SemanticChangeType {
  if (breaking === true) return operation === "ADD" ? "MINOR" : "MAJOR";
  return category === "DOCUMENTATION" && operation === "MODIFY" ? "PATCH" : "MINOR";
}

const lifecycleWords = {
  CREATE: "came into being",
  HARD_DELETE: "was deleted",
  SOFT_DELETE: "was hidden",
  REINSTATE: "is shown again",
} as const;

const lifecycle = (
  entityUrn: string,
  operation: keyof typeof lifecycleWords,
): readonly SemanticChange[] => [
  {
    category: "LIFECYCLE",
    operation,
    entityUrn,
    semVerChange: operation === "HARD_DELETE" ? "MAJOR" : "MINOR",
    description: `The entity ${lifecycleWords[operation]}: ${entityUrn}`,
  },
];
