/**
 * Reads the Searchable annotations of one aspect: the fields that they define, and the fields that
 * each annotated value fills.
 */
import { CatalogError } from "../../src/core/errors.ts";
import { jsonObject } from "../../src/lib/json.ts";
import { appendAll, maxOf } from "../../src/lib/lists.ts";
import type { Annotation, Aspect, Field, FieldType, Model } from "../../src/model/model.ts";
import { type AnnotatedPlace, annotatedPlaces } from "../annotated-places.ts";

export type SearchFieldType =
  | ("KEYWORD" | "TEXT" | "TEXT_PARTIAL" | "WORD_GRAM" | "URN" | "URN_PARTIAL")
  | ("BROWSE_PATH" | "BROWSE_PATH_V2")
  | ("BOOLEAN" | "COUNT" | "DATETIME" | "DOUBLE")
  /** Each key has a field of its own, `<name>.<key>`, with its values; this field has the keys. */
  | ("OBJECT" | "MAP_ARRAY");

/** A field of an entity type's documents. */
export interface SearchField {
  readonly name: string;
  readonly type: SearchFieldType;
  /** Weight of its texts, a multiple of 1/64. */
  readonly boost: number;
  /** True if queries without a field search its texts. */
  readonly queried: boolean;
  /** True if autocomplete suggests its texts. */
  readonly suggested: boolean;
  /** The display name of a default facet; undefined for other fields. */
  readonly facet?: string | undefined;
  /** The first aspect that defines it; undefined for the fields that every document has. */
  readonly aspect?: string | undefined;
}

type AspectField = Omit<SearchField, "aspect">;

/** How the values at one path fill the fields of a document. */
export interface AspectRule {
  readonly path: readonly string[];
  readonly field: string;
  readonly type: SearchFieldType;
  /** Fields with the same values, which queries do not search again. */
  readonly aliases: readonly string[];
  /** True if the texts have markup, which is removed. */
  readonly rich: boolean;
  /** True for a map: each entry becomes the text `key=value`. */
  readonly map: boolean;
  /** BOOLEAN field: true if there are values; of a boolean its own value. */
  readonly has?: string | undefined;
  /** COUNT field: the number of values; of a number its own value. */
  readonly count?: string | undefined;
  /** DATETIME field: when the aspect last changed, if there are values. */
  readonly modifiedAt?: string | undefined;
  /** Factors on the scores of the document's texts. */
  readonly weights?: Weights | undefined;
}

/** Factors of at most 1: for the listed values, and for all others. */
export interface Weights {
  readonly of: Readonly<Record<string, number>>;
  readonly others: number;
}

interface AspectRules {
  readonly rules: readonly AspectRule[];
  readonly fields: readonly AspectField[];
}

export function readAspectRules(model: Model, { name, record }: Aspect): AspectRules {
  const rules: AspectRule[] = [];
  const fields: AspectField[] = [];
  const paths = new Map<string, string>();
  const find = (annotationOf: (field: Field) => Annotation | undefined) =>
    annotatedPlaces(model, record, { annotationOf, wholeMaps: true });
  // A reference is indexed as its urn; the properties of that entity are in its own document.
  const referring = find(({ properties }) => properties.SearchableRef as Annotation | undefined);
  for (const place of [...find(({ searchable }) => searchable), ...referring]) {
    const said = read(name, place);
    const path = place.path.join("/");
    // If two paths give a field the same name, the second field is named by its path. In a list
    // nobody could guess that name, so both fill the same field.
    const clash = paths.has(said.fieldName) && !place.path.includes("*");
    const field = clash ? path.replaceAll("/", "_") : said.fieldName;
    paths.set(field, path);
    const rule = ruleOf(field, said, place);
    rules.push(rule);
    appendAll(fields, fieldsOf(rule, said));
  }
  return { rules, fields };
}

/** An annotation with defaults. */
type Said = ReturnType<typeof read>;

function read(aspect: string, { annotation, path, type }: AnnotatedPlace) {
  const fieldName = text(annotation.fieldName) ?? path.findLast((name) => name !== "*") ?? "";
  const fieldType = text(annotation.fieldType) ?? usualType(type);
  if (!known.has(fieldType)) {
    throw new CatalogError(
      "invalid",
      `the searchable field "${fieldName}" of "${aspect}" has the type "${fieldType}"`,
      { hint: `Give it one of ${[...known].join(", ")}.` },
    );
  }
  const boost = Number(annotation.boostScore ?? 1);
  return {
    fieldName,
    fieldType: fieldType as SearchFieldType,
    boost: Number.isFinite(boost) ? boost : 1,
    queried: flag(annotation.queryByDefault) ?? queriedTypes.has(fieldType),
    suggested: flag(annotation.enableAutocomplete) ?? false,
    facet: flag(annotation.addToFilters) ?? false,
    facetName: text(annotation.filterNameOverride),
    hasFacet: flag(annotation.addHasValuesToFilters) ?? false,
    hasFacetName: text(annotation.hasValuesFilterNameOverride),
    has: text(annotation.hasValuesFieldName),
    count: text(annotation.numValuesFieldName),
    aliases: Array.isArray(annotation.fieldNameAliases)
      ? annotation.fieldNameAliases.map(String)
      : [],
    rich: flag(annotation.sanitizeRichText) ?? false,
    dated: flag(annotation.includeSystemModifiedAt) ?? false,
    modifiedAt: text(annotation.systemModifiedAtFieldName),
    weights: weightsOf(annotation.weightsPerFieldValue),
  };
}

/** Normalizes the relative weights of the model, so that the largest is 1. */
function weightsOf(annotated: unknown): Weights | undefined {
  if (!jsonObject(annotated)) return undefined;
  const of = Object.entries(annotated).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0,
  );
  if (of.length === 0) return undefined;
  const most = maxOf([1, ...of.map(([, weight]) => weight)]);
  return {
    of: Object.fromEntries(of.map(([value, weight]) => [value, weight / most])),
    others: 1 / most,
  };
}

const texts: ReadonlySet<string> = new Set(["TEXT", "TEXT_PARTIAL", "WORD_GRAM"]);
const queriedTypes: ReadonlySet<string> = new Set([...texts, "URN", "URN_PARTIAL"]);
const known: ReadonlySet<string> = new Set([
  ...[...queriedTypes, "KEYWORD", "BROWSE_PATH", "BROWSE_PATH_V2"],
  ...["BOOLEAN", "COUNT", "DATETIME", "DOUBLE", "OBJECT", "MAP_ARRAY"],
] satisfies (SearchFieldType | string)[]);

function usualType(type: FieldType): SearchFieldType {
  if (type.kind === "map") return "KEYWORD";
  if (type.kind !== "primitive") return "TEXT";
  if (type.name === "int") return "COUNT";
  return type.name === "float" || type.name === "double" ? "DOUBLE" : "TEXT";
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Some booleans of the model are strings. */
const flag = (value: unknown): boolean | undefined =>
  value === undefined ? undefined : value === true || value === "true";

function ruleOf(field: string, said: Said, { path, type }: AnnotatedPlace): AspectRule {
  const { fieldType, aliases, rich, has, count, dated, modifiedAt, weights } = said;
  return {
    path,
    field,
    type: fieldType,
    aliases,
    rich,
    map: type.kind === "map" && fieldType !== "MAP_ARRAY" && fieldType !== "OBJECT",
    has,
    count,
    modifiedAt: dated ? (modifiedAt ?? `${field}SystemModifiedAt`) : undefined,
    ...(weights !== undefined && { weights }),
  };
}

/** The field of the rule itself comes first. */
function fieldsOf({ field, modifiedAt }: AspectRule, said: Said): readonly AspectField[] {
  const { fieldType: type, queried, suggested, facet, has, count } = said;
  const plain = { boost: 1, queried: false, suggested: false };
  const found: AspectField[] = [
    {
      name: field,
      type,
      boost: boostOf(said),
      queried,
      suggested,
      ...(facet && { facet: said.facetName ?? field }),
    },
    ...said.aliases.map((name) => ({ ...plain, name, type })),
  ];
  if (has !== undefined) {
    const shown = said.hasFacet ? { facet: said.hasFacetName ?? has } : {};
    found.push({ ...plain, name: has, type: "BOOLEAN", ...shown });
  }
  if (count !== undefined) found.push({ ...plain, name: count, type: "COUNT" });
  if (modifiedAt !== undefined) found.push({ ...plain, name: modifiedAt, type: "DATETIME" });
  return found;
}

/**
 * Minimum boost of a name. A match of a word's beginning in a name (half the boost) scores higher than
 * a match of a whole text with boost 1 (1 for the word and 16 for the whole text). So an entity with
 * that name precedes one that mentions it, or has a column of that name.
 */
const NAME_BOOST = 40;

/** Fields with this boost in the model are names, even without autocomplete. */
const NAMED_BY_BOOST = 10;

/** A name is a text with autocomplete; boosts are multiples of 1/64. */
function boostOf({ boost, suggested, fieldType }: Said): number {
  const named = texts.has(fieldType) && (suggested || boost >= NAMED_BY_BOOST);
  const least = named ? NAME_BOOST : 1 / 64;
  return Math.max(least, Math.round(boost * 64) / 64);
}
