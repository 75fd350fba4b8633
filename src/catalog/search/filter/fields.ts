/**
 * Search fields by name: their own names, aliases for several fields, and the suffixes that search
 * engines add. The type of a field determines its values.
 */
import { plainField } from "../../../core/query/filter.ts";
import { ownValue } from "../../../lib/own-value.ts";

/** The part of the document rules that the catalog uses. */
export interface SearchFieldRules {
  /** By entity type. */
  readonly fields: Readonly<Record<string, readonly FieldRule[]>>;
  /** Facets of all entity types, in display order. */
  readonly facets: readonly FacetRule[];
}

interface FieldRule {
  readonly name: string;
  readonly type: string;
  readonly suggested: boolean;
  /** Its values are texts of documents, which have words. */
  readonly queried: boolean;
  /** Display name as a facet, if it is one. */
  readonly facet?: string | undefined;
}

export interface FacetRule {
  readonly name: string;
  readonly displayName: string;
  readonly fields: readonly [string] | readonly [string, string];
}

export type FieldKind =
  | ("text" | "urn" | "path" | "flag" | "number" | "time" | "type")
  /** `numeral`: a number, possibly written as text; `day`: a day as 2026-03-01. */
  | ("numeral" | "day");

/** A field of documents, with the kinds of its values in the entity types. */
export interface KnownField {
  readonly name: string;
  readonly kinds: ReadonlySet<FieldKind>;
  /** Separator of the folders of a path. */
  readonly separator: string;
  /** Its values are texts of documents, which have words. */
  readonly queried: boolean;
  /**
   * True if a value that does not fit finds nothing instead of being rejected: its kinds must not
   * be disclosed.
   */
  readonly lenient?: boolean;
}

export interface SearchFields {
  /** The fields that a name stands for; empty if no entity type has such a field. */
  find(name: string): readonly KnownField[];
  /** The name without the suffix that a search engine adds. */
  nameOf(name: string): string;
  /** The names of all fields. */
  names(): Iterable<string>;
  entityTypes(): Iterable<string>;
  /** The entity type of that name, whatever its letter case: GLOSSARY_TERM is glossaryTerm. */
  entityType(name: string): string | undefined;
  /** True if the entity type has fields for autocomplete. */
  suggests(entityType: string): boolean;
  hasField(entityType: string, field: string): boolean;
  /** The facets of responses about the entity types. */
  facetsOf(entityTypes: readonly string[]): readonly FacetRule[];
  facet(name: string): FacetRule | undefined;
}

/** Separator of the values of a facet on two fields. */
export const FACET_SEPARATOR = "␞";

/** Aliases: a query on the name matches any of these fields. */
const aliases: ReadonlyMap<string, readonly string[]> = new Map([
  ["tags", ["tags", "fieldTags", "editedFieldTags"]],
  ["glossaryTerms", ["glossaryTerms", "fieldGlossaryTerms", "editedFieldGlossaryTerms"]],
  ["fieldTags", ["fieldTags", "editedFieldTags"]],
  ["fieldGlossaryTerms", ["fieldGlossaryTerms", "editedFieldGlossaryTerms"]],
  ["fieldDescriptions", ["fieldDescriptions", "editedFieldDescriptions"]],
  ["description", ["description", "editedDescription"]],
  ["origin", ["origin", "env"]],
  ["env", ["env", "origin"]],
  ["businessAttribute", ["businessAttributeRef"]],
]);

const kindsOfType: Readonly<Record<string, FieldKind>> = {
  URN: "urn",
  URN_PARTIAL: "urn",
  BROWSE_PATH: "path",
  BROWSE_PATH_V2: "path",
  BOOLEAN: "flag",
  COUNT: "number",
  DOUBLE: "number",
  DATETIME: "time",
};
/** Fields whose values are in fields of their own: `ownerTypes.<type>`. */
const KEYED = new Set(["OBJECT", "MAP_ARRAY"]);

export function createSearchFields(rules: SearchFieldRules): SearchFields {
  const known = new Map<string, { kinds: Set<FieldKind>; separator: string; queried: boolean }>();
  const keyed = new Set<string>();
  const byType = new Map<string, ReadonlyMap<string, FieldRule>>();
  for (const [entityType, fields] of Object.entries(rules.fields)) {
    byType.set(entityType, new Map(fields.map((field) => [field.name, field])));
    for (const { name, type, queried } of fields) {
      if (KEYED.has(type)) keyed.add(name);
      const separator = type === "BROWSE_PATH_V2" ? "␟" : "/";
      const field = known.get(name) ?? { kinds: new Set(), separator, queried: false };
      field.queried ||= queried;
      field.kinds.add(name === "_entityType" ? "type" : (ownValue(kindsOfType, type) ?? "text"));
      known.set(name, field);
    }
  }
  const types = new Map([...byType.keys()].map((name) => [plainName(name), name]));
  const facets = new Map(rules.facets.map((facet) => [facet.name, facet]));

  const fieldNamed = (name: string): KnownField | undefined => {
    const field = known.get(name);
    if (field !== undefined) return { name, ...field };
    for (let dot = name.indexOf("."); dot > 0; dot = name.indexOf(".", dot + 1)) {
      if (keyed.has(name.slice(0, dot))) {
        return { name, kinds: new Set(["text", "number"]), separator: "/", queried: false };
      }
    }
    return undefined;
  };

  return {
    find(name) {
      const plain = plainField(name);
      return (aliases.get(plain) ?? [plain]).flatMap((one) => fieldNamed(one) ?? []);
    },
    nameOf: plainField,
    names: () => known.keys(),
    entityTypes: () => byType.keys(),
    entityType: (name) => types.get(plainName(name)),
    suggests: (entityType) =>
      [...(byType.get(entityType)?.values() ?? [])].some(({ suggested }) => suggested),
    hasField: (entityType, field) => byType.get(entityType)?.has(field) ?? false,
    facetsOf: (entityTypes) =>
      rules.facets.flatMap((rule) => {
        const [first, second] = rule.fields;
        const own = entityTypes.flatMap((type) => byType.get(type)?.get(second ?? first) ?? []);
        if (second !== undefined) return own.length === 0 ? [] : [rule];
        const shown = new Set(own.flatMap(({ facet }) => facet ?? []));
        // Entity types may have different display names for one field.
        const [displayName = ""] = shown;
        return shown.size === 0 ? [] : [shown.size === 1 ? { ...rule, displayName } : rule];
      }),
    facet: (name) => facets.get(plainField(name)),
  };
}

const plainName = (name: string): string => name.replaceAll("_", "").toLowerCase();
