/**
 * What lies above and below containers, domains, glossary nodes and the like: each says in a field
 * of its document what it is part of. Cycles end by themselves.
 */
import { CatalogError } from "../core/errors.ts";
import { entityTypeOf } from "../core/urn.ts";
import {
  type Condition,
  hitsMax,
  type SearchDocument,
  type SearchReader,
} from "../search/search.ts";
import type { ExpandHierarchy } from "./search-filter.ts";

interface Level {
  /** The field that names what an entity of the type is part of. */
  readonly parent: string;
  /** Types of what may be part of it. */
  readonly children: readonly string[];
}

const levels: ReadonlyMap<string, Level> = new Map([
  ["container", { parent: "container", children: ["container"] }],
  ["domain", { parent: "parentDomain", children: ["domain"] }],
  ["glossaryNode", { parent: "parentNode", children: ["glossaryNode", "glossaryTerm"] }],
  ["glossaryTerm", { parent: "parentNode", children: [] }],
  ["document", { parent: "parentDocument", children: ["document"] }],
  ["application", { parent: "parentApplication", children: ["application"] }],
]);

/** Most urns that one condition comes to. */
const urnsMax = 10_000;
const stepsMax = 100;

type Reader = Pick<SearchReader, "search" | "documents">;

export function createHierarchy(reader: Reader): ExpandHierarchy {
  return async (urns, condition) => {
    const found = new Set(urns);
    if (condition !== "DESCENDANTS_INCL")
      await follow(urns, found, (layer) => above(reader, layer));
    if (condition !== "ANCESTORS_INCL") await follow(urns, found, (layer) => below(reader, layer));
    return [...found];
  };
}

/** Beyond every character of a text. */
const LAST = "\uffff";

/** What policies ask of hierarchies. Rejects `invalid` for too many. */
export function createHierarchyLookup(reader: Reader) {
  const expand = createHierarchy(reader);
  return {
    /** These, and all that lies below them. */
    below: (urns: readonly string[]) => expand(urns, "DESCENDANTS_INCL"),

    /** Entities of the types whose urns begin so. */
    async beginning(starts: readonly string[], entityTypes: readonly string[]) {
      const ranges = starts.map(
        (start): Condition => ({ kind: "range", field: "urn", from: start, to: start + LAST }),
      );
      const { hits, total } = await reader.search({
        ...{ entityTypes, expression: { kind: "all" }, condition: { kind: "any", any: ranges } },
        ...{ sort: [], start: 0, count: hitsMax, facets: [] },
      });
      if (total > hits.length) {
        throw new CatalogError("invalid", `${total} urns begin with "${starts.join('" or "')}"`, {
          hint: "Name what they are part of",
        });
      }
      return hits.map(({ document }) => document.urn);
    },
  };
}

type Follow = (layer: readonly string[]) => Promise<readonly string[]>;

async function follow(urns: readonly string[], found: Set<string>, next: Follow): Promise<void> {
  const seen = new Set(urns);
  let layer = urns;
  for (let step = 0; step < stepsMax && layer.length > 0; step++) {
    layer = [...new Set(await next(layer))].filter((urn) => !seen.has(urn));
    for (const urn of layer) {
      seen.add(urn);
      found.add(urn);
    }
    if (found.size <= urnsMax) continue;
    throw new CatalogError(
      "invalid",
      `the hierarchy of "${urns[0]}" has more than ${urnsMax} members`,
      {
        hint: "Ask for a part of it",
      },
    );
  }
}

async function above(reader: Reader, layer: readonly string[]): Promise<readonly string[]> {
  const documents = await reader.documents(layer);
  return documents.flatMap((document) => (document === undefined ? [] : parentsOf(document)));
}

function parentsOf({ entityType, values }: SearchDocument): readonly string[] {
  const parent = levels.get(entityType)?.parent ?? "";
  return Object.hasOwn(values, parent) ? (values[parent] ?? []).map(String) : [];
}

async function below(reader: Reader, layer: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [entityType, urns] of Map.groupBy(layer, entityTypeOf)) {
    const level = levels.get(entityType);
    if (level === undefined || level.children.length === 0) continue;
    const { hits } = await reader.search({
      entityTypes: level.children,
      expression: { kind: "all" },
      condition: { kind: "equal", field: level.parent, values: urns },
      sort: [],
      start: 0,
      count: hitsMax,
      facets: [],
    });
    found.push(...hits.map(({ document }) => document.urn));
  }
  return found;
}
