/**
 * What the Searchable annotations of a model say: the fields of each entity type's documents, and
 * how they are taken from the aspects. Plain data, so that threads and the catalog can be given it.
 *
 * Fields of the same name are one field: that of an entity type has the type of the first that the
 * key aspect and then the others in registry order tell, the greatest of their boosts, and is
 * queried, suggested or a facet if one of them is. Of a timeseries aspect the latest event tells,
 * after all other aspects.
 */
import type { Model } from "../src/model/model.ts";
import { type AspectField, type AspectRule, readAspectRules } from "./search-annotations.ts";

export type SearchFieldType =
  | ("KEYWORD" | "TEXT" | "TEXT_PARTIAL" | "WORD_GRAM" | "URN" | "URN_PARTIAL")
  | ("BROWSE_PATH" | "BROWSE_PATH_V2")
  | ("BOOLEAN" | "COUNT" | "DATETIME" | "DOUBLE")
  /** Their values lie in fields of their own, one for each key: `<name>.<key>`; theirs are the keys. */
  | ("OBJECT" | "MAP_ARRAY");

/** A field of an entity type's documents. */
export interface SearchField {
  readonly name: string;
  readonly type: SearchFieldType;
  /** Weight of its texts, a multiple of 1/64. */
  readonly boost: number;
  /** Whether its values are texts that plain words are looked for in. */
  readonly queried: boolean;
  /** Whether its texts are completed while somebody types. */
  readonly suggested: boolean;
  /** The name it is shown by, if it is a facet without being asked for. */
  readonly facet?: string | undefined;
  /** The first aspect that tells it; undefined for the fields that every document has. */
  readonly aspect?: string | undefined;
}

/** A facet that answers have without being asked: of one field, or of two at once. */
export interface SearchFacet {
  readonly name: string;
  readonly displayName: string;
  readonly fields: readonly [string] | readonly [string, string];
}

export interface SearchRules {
  /** By entity type: every field that its documents may have. Facets come in the order to show. */
  readonly fields: Readonly<Record<string, readonly SearchField[]>>;
  /** The facets of all entity types in the order to show; an answer has those of the types asked. */
  readonly facets: readonly SearchFacet[];
  /** By entity type: the aspects that tell fields, key aspect first, then in registry order. */
  readonly tellers: Readonly<Record<string, readonly string[]>>;
  /** By entity type: the timeseries aspects that tell fields, in registry order. */
  readonly events: Readonly<Record<string, readonly string[]>>;
  /** By entity type: its key aspect. */
  readonly keyAspects: Readonly<Record<string, string>>;
  /** By aspect: how its fields are taken from a value. */
  readonly rules: Readonly<Record<string, readonly AspectRule[]>>;
}

/**
 * Weight of the words of a urn. A name's is 40 at least and a half for a word that only begins so:
 * a match in the name outranks one in the urn.
 */
const URN_BOOST = 4;

const fixed = { boost: 1, queried: false, suggested: false };

/** What every document may have, whatever its aspects. */
const fixedFields: readonly SearchField[] = [
  { ...fixed, name: "urn", type: "URN", boost: URN_BOOST, queried: true },
  { ...fixed, name: "_entityType", type: "KEYWORD", facet: "Type" },
  { ...fixed, name: "removed", type: "BOOLEAN" },
  { ...fixed, name: "runId", type: "KEYWORD" },
  { ...fixed, name: "systemCreated", type: "DATETIME" },
];

/** Of structured properties: `structuredProperties.<id>`, from the aspect of that name. */
export const PROPERTIES = "structuredProperties";

/** The order that users know; other facets follow as the registry has their aspects. */
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
  const told = new Map<string, readonly AspectField[]>();
  for (const aspect of model.aspects.values()) {
    const read = readAspectRules(model, aspect);
    if (read.rules.length === 0) continue;
    rules[aspect.name] = read.rules;
    told.set(aspect.name, read.fields);
  }

  const fields: Record<string, readonly SearchField[]> = {};
  const tellers: Record<string, readonly string[]> = {};
  const events: Record<string, readonly string[]> = {};
  const keyAspects: Record<string, string> = {};
  for (const { name, keyAspect, aspects } of model.entities.values()) {
    const all = [keyAspect, ...aspects];
    const isTimeseries = (aspect: string) => model.aspects.get(aspect)?.timeseries === true;
    const tell = all.filter(
      (aspect) => (told.has(aspect) || aspect === PROPERTIES) && !isTimeseries(aspect),
    );
    const series = all.filter((aspect) => told.has(aspect) && isTimeseries(aspect));
    const own = [...tell, ...series].flatMap((aspect) =>
      (told.get(aspect) ?? []).map((f) => ({ ...f, aspect })),
    );
    if (all.includes(PROPERTIES)) {
      own.push({ ...fixed, name: PROPERTIES, type: "OBJECT", aspect: PROPERTIES });
    }
    fields[name] = facetsFirst(united([...fixedFields, ...own]));
    tellers[name] = tell;
    events[name] = series;
    keyAspects[name] = keyAspect;
  }
  const every = Object.values(fields).flat();
  return {
    fields,
    facets: facetsOf(every),
    tellers,
    events,
    keyAspects,
    rules,
  };
}

/** One field for each name. */
function united(fields: readonly SearchField[]): readonly SearchField[] {
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
    const place = firstFacets.indexOf(name);
    return place < 0 ? firstFacets.length : place;
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
