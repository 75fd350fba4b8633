/** Assembles all searches over the search view and the graph. */
import type { SearchReader } from "../../views/search/search.ts";
import type { WalkLineage } from "../graph/lineage.ts";
import { createLineageSearch } from "../graph/search-lineage.ts";
import { createBrowse } from "./browse.ts";
import { createQueryReader, type SearchWords } from "./expression.ts";
import { createSearchFields, type SearchFieldRules, type SearchFields } from "./filter/fields.ts";
import { createFilterCompiler } from "./filter/filter.ts";
import { createHierarchy } from "./filter/hierarchy.ts";
import type { PropertyDefinitions } from "./filter/property-definitions.ts";
import { createPropertyFields } from "./filter/property-fields.ts";
import type { HiddenStages } from "./hidden-stages.ts";
import type { SearchCatalog } from "./requests.ts";
import { createSearch, type SearchTools } from "./search.ts";
import { createAutocomplete } from "./suggest/autocomplete.ts";

/** The search view, and the rules of its documents. */
export interface SearchParts {
  readonly reader: SearchReader;
  readonly rules: SearchFieldRules;
  readonly words: SearchWords;
}

interface Dependencies extends Omit<SearchParts, "reader"> {
  readonly reader: Pick<SearchReader, "search" | "folders" | "documents">;
  /** Derived from the rules when absent. */
  readonly fields?: SearchFields | undefined;
  readonly walk: WalkLineage;
  readonly namespace: string;
  /** The urn in the namespace. Rejects a urn that no entity can have (graph/linked-urns.ts). */
  readonly linkedUrn: (text: string) => Promise<string>;
  /** None when absent. */
  readonly hiddenStages?: HiddenStages | undefined;
  /** Of structured properties; none when absent. */
  readonly definitions?: PropertyDefinitions | undefined;
  /** Waits until the graph has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
  /** Awaited before each search, if set. */
  readonly soonFound?: (() => Promise<void>) | undefined;
}

type Searches = Omit<SearchCatalog, "getBrowsePaths">;

export function createSearches(dependencies: Dependencies): Searches {
  const { soonFound, definitions } = dependencies;
  const { reader, rules, words, namespace, walk, linkedUrn, caughtUp } = dependencies;
  const { fields = createSearchFields(rules), hiddenStages = async () => [] } = dependencies;
  const tools: SearchTools = {
    reader,
    fields,
    fieldsOf:
      definitions === undefined
        ? async () => fields
        : createPropertyFields({ fields, reader, definitions, namespace }),
    readQuery: createQueryReader({ words, namespace }),
    words,
    filters: createFilterCompiler({ namespace, expand: createHierarchy(reader) }),
    hiddenStages,
  };
  const searches = {
    ...createSearch(tools),
    ...createAutocomplete(tools),
    ...createBrowse(tools),
    ...createLineageSearch({ tools, walk, namespace, linkedUrn, caughtUp }),
  };
  return soonFound === undefined ? searches : eachAfter(soonFound, searches);
}

type Method = (...args: unknown[]) => unknown;

/** The searches, each preceded by `wait`. */
function eachAfter(wait: () => Promise<void>, searches: Searches): Searches {
  const waiting = Object.entries(searches).map(([name, method]) => {
    const call = method as Method;
    return [name, async (...args: unknown[]) => wait().then(() => call(...args))];
  });
  return Object.fromEntries(waiting) as Searches;
}
