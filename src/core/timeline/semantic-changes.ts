/**
 * The meaning of an aspect's change: the tags, owners, terms and fields that were added, changed or
 * removed, and whether that breaks readers of the entity. Pure: compares the facts of two values.
 */

import { type JsonObject, objectOf } from "../../lib/json.ts";
import { shortened } from "../../lib/shortened.ts";
import { movedFields, withMovedFields, withoutSharedFields } from "./moved-fields.ts";
import { type ChangeCategory, type Fact, factsOf, schemaField } from "./semantic-facts.ts";

type ChangeOperation =
  | ("ADD" | "MODIFY" | "REMOVE")
  | ("CREATE" | "HARD_DELETE" | "SOFT_DELETE" | "REINSTATE")
  | ("STARTED" | "COMPLETED")
  | ("ACTIVE" | "RESOLVED");

/** In ascending order of impact on consumers. */
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
  /** The paths of a field of a schema that has another path since the change. */
  readonly moved?: { readonly from: string; readonly to: string } | undefined;
}

interface AspectChange {
  readonly urn: string;
  readonly aspect: string;
  readonly isKey: boolean;
  /** Undefined if the aspect had no value. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
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
  if (aspect === "incidentInfo") return [...incident(urn, before, after), ...changedFacts(change)];
  if (aspect !== "schemaMetadata" || before === undefined || after === undefined) {
    return changedFacts(change);
  }
  return changedSchema(change, ...withoutSharedFields(before, after));
}

function changedSchema(
  change: AspectChange,
  before: JsonObject,
  after: JsonObject,
): readonly SemanticChange[] {
  const { urn } = change;
  const moved = movedFields(before, after);
  const renamings = moved
    .filter(({ renamed }) => renamed)
    .map(({ from, to }) => ({
      ...renaming(schemaField(from, urn), schemaField(to, urn)),
      moved: pathsOf({ from, to }),
    }));
  const paths = new Map(moved.map(pathsOf).map((one) => [one.to, one]));
  const changes = changedFacts({ ...change, before: withMovedFields(before, moved), after });
  return [
    ...renamings,
    ...changes.map((one) => {
      const found = paths.get(String(one.parameters?.fieldPath));
      const isMoved = found !== undefined && one.operation === "MODIFY";
      return isMoved ? { ...one, moved: found } : one;
    }),
  ];
}

const pathsOf = ({ from, to }: { readonly from: JsonObject; readonly to: JsonObject }) => ({
  from: String(from.fieldPath),
  to: String(to.fieldPath),
});

function changedFacts(change: AspectChange): readonly SemanticChange[] {
  const { aspect, urn, before, after } = change;
  const facts = (value: JsonObject | undefined) =>
    value === undefined ? [] : factsOf(aspect, value, urn);
  const idOf = ({ category, id }: Fact) => `${category} ${id}`;
  const old = new Map(facts(before).map((fact) => [idOf(fact), fact]));
  const changes: SemanticChange[] = [];
  for (const fact of facts(after)) {
    const id = idOf(fact);
    const known = old.get(id);
    old.delete(id);
    if (known === undefined) {
      changes.push(changeOf(fact, { operation: "ADD", sentence: `The ${fact.words} was added` }));
    } else if (known.value !== fact.value) {
      const modification = known.type === fact.type ? "OTHER" : "TYPE_CHANGE";
      const sentence = became(known, fact);
      changes.push(changeOf(fact, { operation: "MODIFY", sentence, modification }));
    }
  }
  for (const fact of old.values()) {
    const sentence = `The ${fact.words} was removed`;
    changes.push(changeOf(fact, { operation: "REMOVE", sentence }));
  }
  return changes;
}

/** A renamed field: a minor change with the old path, as in DataHub. */
const renaming = (from: Fact, to: Fact): SemanticChange => ({
  ...changeOf(from, {
    operation: "MODIFY",
    sentence: `The ${from.words} was renamed to ${to.parameters?.fieldPath}`,
    modification: "RENAME",
  }),
  semVerChange: "MINOR",
});

const became = (known: Fact, fact: Fact): string =>
  `The ${fact.words} was "${cut(known.value)}" and is "${cut(fact.value)}"`;

const cut = (value: string): string => shortened(value, shownMax);

interface Difference {
  readonly operation: "ADD" | "MODIFY" | "REMOVE";
  readonly sentence: string;
  /** Only for fields of a schema; DataHub's names. */
  readonly modification?: "RENAME" | "TYPE_CHANGE" | "OTHER";
}

function changeOf(
  fact: Fact,
  { operation, sentence, modification = "OTHER" }: Difference,
): SemanticChange {
  const { category, about: entityUrn, modifier, parameters } = fact;
  const isSchema = category === "TECHNICAL_SCHEMA";
  return {
    category,
    operation,
    entityUrn,
    modifier,
    parameters: isSchema ? { ...parameters, modificationCategory: modification } : parameters,
    description: `${sentence}: ${entityUrn}`,
    semVerChange: semVerOf(fact, operation),
  };
}

/** A removed or changed field breaks readers of the table; a changed text breaks none. */
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

/**
 * A new or changed incident. Nothing for a change that leaves the state as it is, and for a deleted
 * incident.
 */
function incident(
  entityUrn: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): readonly SemanticChange[] {
  if (after === undefined || stateOf(before) === stateOf(after)) return [];
  const { type, title, description, entities } = after;
  const { stage, message } = objectOf(after.status);
  const texts = { type, title, description, stage, message };
  const operation = stateOf(after) === "RESOLVED" ? "RESOLVED" : "ACTIVE";
  return [
    {
      category: "INCIDENT",
      operation,
      entityUrn,
      parameters: {
        entities: JSON.stringify(entities ?? []),
        ...Object.fromEntries(Object.entries(texts).filter(([, one]) => typeof one === "string")),
      },
      semVerChange: "NONE",
      description: `The incident is ${operation.toLowerCase()}: ${entityUrn}`,
    },
  ];
}

const stateOf = (value: JsonObject | undefined): unknown => objectOf(value?.status).state;
