/**
 * References in aspects that state no relationship, so that the graph has no edge for them: values of
 * structured properties, prompts of forms, and the forms of an asset (as in DataHub's
 * DeleteEntityService). The search view finds the entities with such aspects.
 */
import { entityTypeOf } from "../../core/urn.ts";
import { appendAll } from "../../lib/lists.ts";
import type { Model } from "../../model/model.ts";
import {
  type Condition,
  type Cursor,
  hitsMax,
  type SearchReader,
} from "../../views/search/search.ts";
import type { ReferencePath } from "./without-reference.ts";

interface SearchedReference extends ReferencePath {
  readonly aspect: string;
  /** Matches the documents of entities whose aspect refers to the urn. */
  readonly found: (urn: string) => Condition;
}

interface SearchedReferences {
  /** Urns of the entities that refer to the urn, soft-deleted ones included. */
  referrersOf(urn: string): Promise<readonly string[]>;
  /** Paths at which an aspect may refer to the urn. */
  pathsOf(urn: string, aspect: string): readonly ReferencePath[];
}

const equals =
  (field: string) =>
  (urn: string): Condition => ({
    kind: "equal",
    field,
    values: [urn],
  });

/** The id of a structured property is the whole text after `urn:<namespace>:structuredProperty:`. */
const hasValueOf = (urn: string): Condition => ({
  kind: "exists",
  field: `structuredProperties.${urn.split(":").slice(3).join(":")}`,
});

const formPath = (list: string, member: string): SearchedReference => ({
  aspect: "forms",
  name: "FormOf",
  path: [list, "*", member],
  found: equals(list === "verifications" ? "verifiedForms" : list),
});

/** By the type of the referenced entity. */
const byType: ReadonlyMap<string, readonly SearchedReference[]> = new Map([
  [
    "structuredProperty",
    [
      {
        aspect: "structuredProperties",
        name: "StructuredPropertyOf",
        path: ["properties", "*", "propertyUrn"],
        found: hasValueOf,
      },
      {
        aspect: "formInfo",
        name: "PromptOf",
        path: ["prompts", "*", "structuredPropertyParams", "urn"],
        wholeItem: true,
        found: equals("structuredPropertyPromptUrns"),
      },
    ],
  ],
  [
    "form",
    [
      formPath("incompleteForms", "urn"),
      formPath("completedForms", "urn"),
      formPath("verifications", "form"),
    ],
  ],
]);

/** Types of entities that aspects without a relationship refer to. */
export const searchedTypes: ReadonlySet<string> = new Set(byType.keys());

export function createSearchedReferences(
  model: Model,
  reader: Pick<SearchReader, "search">,
): SearchedReferences {
  const referencesTo = (urn: string) => byType.get(entityTypeOf(urn)) ?? [];
  const typesWith = (aspects: ReadonlySet<string>): readonly string[] =>
    [...model.entities.values()]
      .filter((entity) => entity.aspects.some((name) => aspects.has(name)))
      .map(({ name }) => name);

  return {
    async referrersOf(urn) {
      const references = referencesTo(urn);
      const entityTypes = typesWith(new Set(references.map(({ aspect }) => aspect)));
      if (entityTypes.length === 0) return [];
      const any = references.map(({ found }) => found(urn));
      const urns: string[] = [];
      for (let after: Cursor | undefined; ; ) {
        const { hits } = await reader.search({
          entityTypes,
          expression: { kind: "all" },
          condition: { kind: "any", any },
          sort: [],
          start: 0,
          count: hitsMax,
          after,
          facets: [],
          uncounted: true,
          urnsOnly: true,
        });
        appendAll(
          urns,
          hits.map(({ document }) => document.urn),
        );
        after = hits.at(-1)?.cursor;
        if (hits.length < hitsMax) return urns;
      }
    },

    pathsOf: (urn, aspect) => referencesTo(urn).filter((one) => one.aspect === aspect),
  };
}
