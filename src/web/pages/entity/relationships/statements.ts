/** Finds the values of aspects that state an edge, with their paths. */
import type { Aspects } from "../../../api/aspect.ts";
import { at, isObject, listAt, textAt, textsAt } from "../../../api/json.ts";
import type { AspectModel } from "../model.ts";

/** A value of an aspect that states an edge. */
export interface Statement {
  /** The entity with the aspect. */
  readonly urn: string;
  readonly aspect: string;
  readonly path: readonly string[];
}

/** The statements of an entity by edge: `keyOfEdge` of its type and destination. */
export type Statements = ReadonlyMap<string, readonly Statement[]>;

export const keyOfEdge = (type: string, destination: string): string => `${type}\n${destination}`;

/** All edges that the aspects of an entity state according to the model. */
export function statementsOf(
  urn: string,
  aspects: Aspects,
  model: readonly AspectModel[],
): Statements {
  const found = new Map<string, Statement[]>();
  for (const { name: aspect, relationships } of model) {
    const value = aspects.get(aspect)?.value;
    if (value === undefined) continue;
    for (const { name, path } of relationships) {
      for (const place of textsAlong(value, path)) {
        const key = keyOfEdge(name, place.text);
        const statement = { urn, aspect, path: place.path };
        const already = found.get(key);
        if (already === undefined) found.set(key, [statement]);
        else already.push(statement);
      }
    }
  }
  return found;
}

interface Place {
  readonly text: string;
  readonly path: readonly string[];
}

/** The texts at a path of the model, with their own paths. */
function textsAlong(value: unknown, pattern: readonly string[]): readonly Place[] {
  const [step, ...rest] = pattern;
  if (step === undefined) return typeof value === "string" ? [{ text: value, path: [] }] : [];
  if (step === "$key") {
    return isObject(value) ? Object.keys(value).map((text) => ({ text, path: [text] })) : [];
  }
  const members = step === "*" ? membersOf(value) : [[step, at(value, step)] as const];
  return members.flatMap(([name, member]) =>
    textsAlong(member, rest).map(({ text, path }) => ({ text, path: [name, ...path] })),
  );
}

function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map((item, n) => [String(n), item] as const);
  return isObject(value) ? Object.entries(value) : [];
}

/**
 * Statements of an edge between two columns. The model does not annotate them: the entity of the source
 * column states them in its lineage.
 */
export function columnStatements(
  urn: string,
  aspects: Aspects,
  edge: { readonly source: string; readonly destination: string },
): readonly Statement[] {
  const { source, destination } = edge;
  const entries = listAt(aspects.get("upstreamLineage")?.value, "fineGrainedLineages");
  const pairs = entries.flatMap((entry, n) =>
    textsAt(listAt(entry, "downstreams")).includes(source) &&
    textsAt(listAt(entry, "upstreams")).includes(destination)
      ? [{ urn, aspect: "upstreamLineage", path: ["fineGrainedLineages", String(n)] }]
      : [],
  );
  const fields = listAt(aspects.get("inputFields")?.value, "fields");
  const shown = fields.flatMap((field, n) =>
    textAt(field, "schemaFieldUrn") === destination
      ? [{ urn, aspect: "inputFields", path: ["fields", String(n)] }]
      : [],
  );
  return [...pairs, ...shown];
}
