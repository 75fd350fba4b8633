/**
 * Search fields of structured properties, derived from the definitions of the properties: the type
 * of their values, and their names beside `structuredProperties.<id>`:
 *
 *   structuredProperties.<name>   the qualified name, if the urn has another id; also with _ in
 *                                 place of its dots, as in DataHub's index
 *   structuredProperties._versioned.<name>.<version>.<type>   the same for a definition with a version
 *
 * Documents contain the values as written. A definition is looked up when a request names its
 * property; other requests need no lookup.
 */
import { type Filter, plainField } from "../../../core/query/filter.ts";
import { parseSearchQuery } from "../../../core/query/search-query.ts";
import { objectOf, objectsIn } from "../../../lib/json.ts";
import { ownValue } from "../../../lib/own-value.ts";
import type { Condition, SearchReader } from "../../../views/search/search.ts";
import type { SortCriterion } from "../requests.ts";
import type { FieldKind, KnownField, SearchFields } from "./fields.ts";
import type { PropertyDefinitions, SearchedDefinition } from "./property-definitions.ts";

/** The parts of a request that name fields. */
interface NamedFields {
  readonly input?: string | undefined;
  readonly field?: string | undefined;
  readonly filter?: Filter | undefined;
  readonly sort?: readonly SortCriterion[] | undefined;
}

/** Resolves the fields that a request names. */
export type FieldsOf = (request: NamedFields) => Promise<SearchFields>;

interface Dependencies {
  readonly fields: SearchFields;
  readonly reader: Pick<SearchReader, "search">;
  readonly definitions: PropertyDefinitions;
  readonly namespace: string;
}

const FIELD = "structuredProperties";
const PREFIX = `${FIELD}.`;
const TYPE = "structuredProperty";
const NAME = "qualifiedName";

/** Longer names and further names are rejected where they are read. */
const nameCharsMax = 500;
const namesMax = 1_000;
/** Maximum number of definitions compared with the names of a request. */
const namesakesMax = 1_000;

export function createPropertyFields(dependencies: Dependencies): FieldsOf {
  const { fields, reader, definitions, namespace } = dependencies;
  const beginning = `urn:${namespace}:${TYPE}:`;

  /** Definitions of the properties with these ids, without undefined properties. */
  async function defined(ids: readonly string[]): Promise<ReadonlyMap<string, SearchedDefinition>> {
    const found = await definitions(ids.map((id) => beginning + id));
    return new Map(
      ids.flatMap((id, i) => {
        const definition = found[i];
        return definition === undefined ? [] : [[id, definition] as const];
      }),
    );
  }

  /** Properties whose qualified names match the ids. */
  async function namesakes(ids: readonly string[]): Promise<readonly Namesake[]> {
    if (!fields.hasField(TYPE, NAME)) return [];
    const { hits } = await reader.search({
      entityTypes: [TYPE],
      expression: { kind: "all" },
      condition: { kind: "any", any: ids.map((id) => likeName(readName(id).name)) },
      sort: [],
      start: 0,
      count: namesakesMax,
      facets: [],
      uncounted: true,
    });
    const found = hits.map(({ document: { urn, values } }) => ({
      id: urn.slice(beginning.length),
      names: (values[NAME] ?? []).map((name) => indexName(String(name))),
    }));
    const known = await defined(found.map(({ id }) => id));
    return found.flatMap(({ id, names }) => {
      const definition = known.get(id);
      return definition === undefined ? [] : [{ id, names, definition }];
    });
  }

  async function resolved(names: readonly string[]): Promise<Resolved> {
    const known = await defined([...new Set(names.flatMap((one) => [one, plainField(one)]))]);
    const found = new Map<string, readonly KnownField[]>();
    const others = names.filter((name) => {
      // An id may end like a name of a search engine: io.file.length.
      const id = known.has(name) ? name : plainField(name);
      const definition = known.get(id);
      if (definition !== undefined) found.set(id, [fieldOf(id, definition)]);
      return definition === undefined;
    });
    if (others.length === 0) return found;
    const ids = others.map(plainField);
    const all = await namesakes(ids);
    for (const id of ids) {
      const { name, version } = readName(id);
      const same = all.filter(
        ({ names, definition }) =>
          names.includes(name) && (version === undefined || version === definition.version),
      );
      if (same.length > 0) {
        found.set(
          id,
          same.map((one) => fieldOf(one.id, one.definition)),
        );
      }
    }
    return found;
  }

  return async (request) => {
    const names = namesIn(request, fields);
    if (names.length === 0) return fields;
    const found = await resolved(names);
    const nameOf = (name: string): string =>
      name.startsWith(PREFIX) && found.has(name.slice(PREFIX.length)) ? name : plainField(name);
    return {
      ...fields,
      nameOf,
      find(name) {
        const own = nameOf(name);
        const property = own.startsWith(PREFIX) ? found.get(own.slice(PREFIX.length)) : undefined;
        return property ?? fields.find(name);
      },
    };
  };
}

/** By the part of the name after `structuredProperties.`. */
type Resolved = ReadonlyMap<string, readonly KnownField[]>;

interface Namesake {
  readonly id: string;
  /** In the spelling of an index. */
  readonly names: readonly string[];
  readonly definition: SearchedDefinition;
}

const kindsOfType: Readonly<Record<string, FieldKind>> = {
  string: "text",
  rich_text: "text",
  number: "numeral",
  date: "day",
  urn: "urn",
};

function fieldOf(id: string, { type, visible }: SearchedDefinition): KnownField {
  const kind = ownValue(kindsOfType, type);
  return {
    name: PREFIX + id,
    kinds: new Set(kind === undefined ? ["text", "number"] : [kind]),
    separator: "/",
    queried: false,
    lenient: !visible,
  };
}

const indexName = (name: string): string => name.replaceAll(".", "_");

const VERSIONED = /^_versioned\.(?<name>[^.]+)\.(?<version>[^.]+)\.\w+$/;

function readName(id: string): { readonly name: string; readonly version?: string } {
  const { name, version } = VERSIONED.exec(id)?.groups ?? {};
  return name === undefined || version === undefined ? { name: indexName(id) } : { name, version };
}

/** Matches similar names; they are compared exactly afterwards. */
function likeName(name: string): Condition {
  const parts = name.toLowerCase().split("_");
  const like = (how: "starts" | "contains" | "ends", text: string): Condition => {
    return { kind: "like", field: NAME, how, texts: [text] };
  };
  const longest = parts.reduce((a, b) => (b.length > a.length ? b : a));
  return {
    kind: "every",
    every: [
      like("starts", parts[0] ?? ""),
      like("contains", longest),
      like("ends", parts.at(-1) ?? ""),
    ],
  };
}

/** The part after `structuredProperties.` of all fields that a request names. */
function namesIn({ input, field, filter, sort }: NamedFields, known: SearchFields): string[] {
  const names = new Set<string>();
  const add = (name: unknown): void => {
    if (typeof name !== "string" || !name.startsWith(PREFIX)) return;
    if (name.length <= nameCharsMax && names.size < namesMax) names.add(name.slice(PREFIX.length));
  };
  add(field);
  for (const one of objectsIn(sort)) add(one.field);
  const { or, criteria } = objectOf(filter);
  for (const one of objectsIn(criteria)) add(one.field);
  for (const { and } of objectsIn(or)) for (const one of objectsIn(and)) add(one.field);
  if (input?.includes(FIELD)) {
    parseSearchQuery(input, (name) => {
      add(name);
      return known.find(name).length > 0;
    });
  }
  return [...names];
}
