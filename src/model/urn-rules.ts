/**
 * Rules for the urns that a location of an aspect may have. Three parts of the schema define them: the
 * urn type ("DatasetUrn"), and the annotations `Relationship` and `UrnValidation` with their entity
 * types. An annotation is on the location itself, or on an enclosing field with the path to it. Of
 * several annotations of one kind the outermost applies, as for the graph.
 * A field named `platform` has data platforms.
 */
import { jsonObject } from "../lib/json.ts";
import type { Annotation, Entity, Field } from "./model.ts";

/** The requirements of a location on its urns. */
export interface UrnRule {
  /** Entity types that the urn may have; undefined: any type of the model. */
  readonly types?: readonly string[] | undefined;
  /** The entity must exist, or be created in the same request. */
  readonly exist?: boolean | undefined;
  /** No parentheses or commas inside the parts of the urn. */
  readonly strict?: boolean | undefined;
}

/** An annotation with the remaining path to the location that it applies to. */
export interface PendingRule {
  readonly kind: "Relationship" | "UrnValidation";
  readonly path: readonly string[];
  readonly rule: UrnRule;
}

/** The rules of a field itself; list them after those of enclosing fields. */
export const rulesOfField = (field: Field): readonly PendingRule[] => [
  ...pendingRules("Relationship", field.relationship),
  ...pendingRules("UrnValidation", field.properties.UrnValidation),
  ...(isPlatform(field) ? [PLATFORM] : []),
];

/** Most fields of this name are plain urns without annotations; DataHub's urn classes type them. */
const isPlatform = ({ name, type }: Field): boolean => name === "platform" && type.kind === "urn";

const PLATFORM: PendingRule = {
  kind: "Relationship",
  path: [],
  rule: { types: ["dataPlatform"] },
};

/** The rules that still apply one step further in: at a field, an item (`*`), a union member. */
export const stepInto = (rules: readonly PendingRule[], component: string) =>
  rules
    .filter(({ path }) => path[0] === component)
    .map((rule) => ({ ...rule, path: rule.path.slice(1) }));

/** The rule of a urn: its schema type and the outermost annotation of each kind must all hold. */
export function ruleOfUrn(
  urnType: string,
  rules: readonly PendingRule[],
  entities: ReadonlyMap<string, Entity>,
): UrnRule {
  const here = rules.filter(({ path }) => path.length === 0).map(({ kind, rule }) => [kind, rule]);
  const outermost = new Map([...here].reverse() as [PendingRule["kind"], UrnRule][]);
  const lists = [
    typesOfUrnType(urnType, entities),
    ...outermost.values().map(({ types }) => types),
  ];
  const stated = lists.filter((types) => types !== undefined);
  const [first, ...others] = stated;
  const validation = outermost.get("UrnValidation");
  return {
    types: first?.filter((type) => others.every((types) => types.includes(type))),
    exist: validation?.exist,
    strict: validation?.strict,
  };
}

/**
 * "DatasetUrn" → dataset; "Urn" → undefined. A type that the model lacks is named by the urn type
 * alone: "DatasetFieldUrn" → datasetField.
 */
function typesOfUrnType(
  urnType: string,
  entities: ReadonlyMap<string, Entity>,
): readonly string[] | undefined {
  const name = /^(\w+)Urn$/.exec(urnType)?.[1];
  if (name === undefined) return undefined;
  const lower = name.toLowerCase();
  const found = entities.keys().find((entity) => entity.toLowerCase() === lower);
  return [found ?? `${name.charAt(0).toLowerCase()}${name.slice(1)}`];
}

function pendingRules(kind: PendingRule["kind"], annotation: unknown): readonly PendingRule[] {
  if (!jsonObject(annotation)) return [];
  const entries = Object.entries(annotation);
  if (entries.length > 0 && entries.every(([key]) => key.startsWith("/"))) {
    return entries.flatMap(([key, inner]) =>
      jsonObject(inner) ? [{ kind, path: key.slice(1).split("/"), rule: ruleOf(inner) }] : [],
    );
  }
  return [{ kind, path: [], rule: ruleOf(annotation) }];
}

function ruleOf({ entityTypes, exist, strict }: Annotation): UrnRule {
  const types = Array.isArray(entityTypes) ? entityTypes.map(String) : [];
  return {
    types: types.length === 0 ? undefined : types,
    exist: exist === true || undefined,
    strict: strict === true || undefined,
  };
}
