/**
 * Compiles the Searchable annotations of a model: the fields of each entity type's documents, and
 * rules that take their values from the aspects. The result is plain data, which threads can share.
 *
 * Fields with the same name are merged. The type is that of the first aspect: the key aspect, then
 * the others in registry order, then timeseries aspects. The boost is the greatest one, and the field
 * is queried, suggested or a facet if one of them is. Timeseries fields come from the latest event.
 */

import type { Model } from "../../src/model/model.ts";
import type { SearchField } from "./annotations.ts";
import { type AspectRule, readAspectRules } from "./annotations.ts";

/** A default facet: of one field, or of the combinations of two. */
interface SearchFacet {
  readonly name: string;
  readonly displayName: string;
  readonly fields: readonly [string] | readonly [string, string];
}

export interface SearchRules {
  /** By entity type: every field that its documents may have. Facets are in display order. */
  readonly fields: Readonly<Record<string, readonly SearchField[]>>;
  /** The facets of all entity types in display order; a response has those of the requested types. */
  readonly facets: readonly SearchFacet[];
  /** By entity type: the aspects with fields, key aspect first, then in registry order. */
  readonly sources: Readonly<Record<string, readonly string[]>>;
  /** By entity type: the timeseries aspects with fields, in registry order. */
  readonly events: Readonly<Record<string, readonly string[]>>;
  /** By entity type: its key aspect. */
  readonly keyAspects: Readonly<Record<string, string>>;
  /** By aspect. */
  readonly rules: Readonly<Record<string, readonly AspectRule[]>>;
}

/**
 * Weight of the words of a urn. A name has at least 40, and half of it for a match of a word's
 * beginning: a match in the name outranks one in the urn.
 */
const URN_BOOST = 4;

const fixed = { boost: 1, queried: false, suggested: false };

/** The fields that every document may have, whatever its aspects. */
const fixedFields: readonly SearchField[] = [
  { ...fixed, name: "urn", type: "URN", boost: URN_BOOST, queried: true },
  { ...fixed, name: "_entityType", type: "KEYWORD", facet: "Type" },
  { ...fixed, name: "removed", type: "BOOLEAN" },
  { ...fixed, name: "runId", type: "KEYWORD" },
  { ...fixed, name: "systemCreated", type: "DATETIME" },
];

/** Name of the aspect with structured properties. Their fields are `structuredProperties.<id>`. */
export const PROPERTIES = "structuredProperties";

/** DataHub's order; other facets follow in the registry's order of their aspects. */
const firstFacets = [
  ...["_entityType", "origin", "env", "domains", "owners", "platform", "tags", "glossaryTerms"],
];

const typeFacet: SearchFacet = {
  name: "_entityType␞typeNames",
  displayName: "Type␞Sub Type",
  fields: ["_entityType", "typeNames"],
};

export function compileSearchRules(model: Model): SearchRules {
  const rules: Record<string, readonly AspectRule[]> = {};
  const fieldsByAspect = new Map<string, readonly SearchField[]>();
  for (const aspect of model.aspects.values()) {
    const read = readAspectRules(model, aspect);
    if (read.rules.length === 0) continue;
    rules[aspect.name] = read.rules;
    fieldsByAspect.set(
      aspect.name,
      read.fields.map((field) => ({ ...field, aspect: aspect.name })),
    );
  }

  const fields: Record<string, readonly SearchField[]> = {};
  const sources: Record<string, readonly string[]> = {};
  const events: Record<string, readonly string[]> = {};
  const keyAspects: Record<string, string> = {};
  for (const { name, keyAspect, aspects } of model.entities.values()) {
    const all = [keyAspect, ...aspects];
    const isTimeseries = (aspect: string) => model.aspects.get(aspect)?.timeseries === true;
    const stated = all.filter(
      (aspect) => (fieldsByAspect.has(aspect) || aspect === PROPERTIES) && !isTimeseries(aspect),
    );
    const series = all.filter((aspect) => fieldsByAspect.has(aspect) && isTimeseries(aspect));
    const own = [...stated, ...series].flatMap((aspect) => fieldsByAspect.get(aspect) ?? []);
    if (all.includes(PROPERTIES)) {
      own.push({ ...fixed, name: PROPERTIES, type: "OBJECT", aspect: PROPERTIES });
    }
    fields[name] = facetsFirst(merged([...fixedFields, ...own]));
    sources[name] = stated;
    events[name] = series;
    keyAspects[name] = keyAspect;
  }
  const every = Object.values(fields).flat();
  return {
    fields,
    facets: facetsOf(every),
    sources,
    events,
    keyAspects,
    rules,
  };
}

/** Merges fields with the same name. */
function merged(fields: readonly SearchField[]): readonly SearchField[] {
  const byName = new Map<string, SearchField>();
  for (const field of fields) {
    const { name } = field;
    const first = byName.get(name);
    if (first === undefined) byName.set(name, field);
    else {
      byName.set(name, {
        ...first,
        boost: Math.max(first.boost, field.boost),
        queried: first.queried || field.queried,
        suggested: first.suggested || field.suggested,
        facet: first.facet ?? field.facet,
        aspect: first.aspect ?? field.aspect,
      });
    }
  }
  return [...byName.values()];
}

function facetsFirst(fields: readonly SearchField[]): readonly SearchField[] {
  const rank = ({ name, facet }: SearchField): number => {
    if (facet === undefined) return firstFacets.length + 1;
    const index = firstFacets.indexOf(name);
    return index < 0 ? firstFacets.length : index;
  };
  return [...fields].sort((a, b) => rank(a) - rank(b));
}

function facetsOf(fields: readonly SearchField[]): readonly SearchFacet[] {
  const facets = new Map([[typeFacet.name, typeFacet]]);
  for (const { name, facet } of facetsFirst(fields)) {
    if (facet === undefined || facets.has(name)) continue;
    facets.set(name, { name, displayName: facet, fields: [name] });
  }
  return [...facets.values()];
}
