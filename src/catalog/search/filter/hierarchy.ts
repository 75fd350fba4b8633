/**
 * Ancestors and descendants of containers, domains, glossary nodes and similar entities: a field of
 * each document names its parent. Cycles terminate.
 */
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { appendAll, slicesOf } from "../../../lib/lists.ts";
import {
  type Condition,
  type Cursor,
  hitsMax,
  type Scope,
  type SearchDocument,
  type SearchReader,
} from "../../../views/search/search.ts";
import type { ExpandHierarchy } from "./filter.ts";

interface Level {
  /** The field that names the parent of an entity of the type. */
  readonly parent: string;
  /** Types of possible children. */
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

/** Maximum number of urns of a condition, and maximum depth. */
interface Bounds {
  readonly urnsMax: number;
  readonly stepsMax: number;
  /** False: deeper entities are omitted. */
  readonly rejectsDeeper: boolean;
}
/** For filters: any caller may request them. */
const ofFilters: Bounds = { urnsMax: 10_000, stepsMax: 100, rejectsDeeper: false };
/** For policies: they are few, and their expansion is read once for all users. */
const ofPolicies: Bounds = { urnsMax: 100_000, stepsMax: 1_000, rejectsDeeper: true };

type Reader = Pick<SearchReader, "search" | "documents">;

export function createHierarchy(reader: Reader, bounds: Bounds = ofFilters): ExpandHierarchy {
  return async (urns, condition) => {
    const found = new Set(urns);
    if (condition !== "DESCENDANTS_INCL") {
      await follow(urns, { found, bounds, next: (layer) => above(reader, layer) });
    }
    if (condition !== "ANCESTORS_INCL") {
      await follow(urns, { found, bounds, next: (layer) => below(reader, layer, bounds) });
    }
    return [...found];
  };
}

/** Sorts after every character of a text. */
const LAST = "\uffff";

/** Expands hierarchies for policies. Rejects `invalid` if there are too many entities. */
export function createHierarchyLookup(reader: Reader) {
  const expand = createHierarchy(reader, ofPolicies);
  return {
    /** The urns and all their descendants. */
    below: (urns: readonly string[]) => expand(urns, "DESCENDANTS_INCL"),

    /** Entities of the types whose urns start with one of the prefixes. */
    async beginning(starts: readonly string[], entityTypes: readonly string[]) {
      const ranges = starts.map(
        (start): Condition => ({ kind: "range", field: "urn", from: start, to: start + LAST }),
      );
      const scope: Scope = {
        entityTypes,
        expression: { kind: "all" },
        condition: { kind: "any", any: ranges },
      };
      const found = await all(reader, scope, ofPolicies.urnsMax);
      if (found.length <= ofPolicies.urnsMax) return found;
      const named = starts.join('" or "');
      throw new CatalogError(
        "invalid",
        `more than ${found.length - 1} urns start with "${named}"`,
        {
          hint: "Name their parents instead",
        },
      );
    },
  };
}

/** Urns of a scope, page by page; some more than `urnsMax` if there are more. */
async function all(reader: Reader, scope: Scope, urnsMax: number): Promise<readonly string[]> {
  const found: string[] = [];
  let after: Cursor | undefined;
  do {
    const { hits } = await reader.search({
      ...scope,
      after,
      sort: [],
      start: 0,
      count: hitsMax,
      facets: [],
      uncounted: true,
      urnsOnly: true,
    });
    for (const { document } of hits) found.push(document.urn);
    after = hits.length < hitsMax ? undefined : hits.at(-1)?.cursor;
  } while (after !== undefined && found.length <= urnsMax);
  return found;
}

type Follow = (layer: readonly string[]) => Promise<readonly string[]>;

interface Following {
  readonly found: Set<string>;
  readonly bounds: Bounds;
  readonly next: Follow;
}

async function follow(urns: readonly string[], { found, bounds, next }: Following): Promise<void> {
  const { urnsMax, stepsMax, rejectsDeeper } = bounds;
  const seen = new Set(urns);
  const rejection = (what: string) =>
    new CatalogError("invalid", `the hierarchy of "${urns[0]}" has more than ${what}`, {
      hint: "Name a smaller part of the hierarchy",
    });
  let layer = urns;
  for (let step = 0; step < stepsMax && layer.length > 0; step++) {
    layer = [...new Set(await next(layer))].filter((urn) => !seen.has(urn));
    for (const urn of layer) {
      seen.add(urn);
      found.add(urn);
    }
    if (found.size > urnsMax) throw rejection(`${urnsMax} members`);
  }
  if (rejectsDeeper && layer.length > 0) throw rejection(`${stepsMax} levels`);
}

async function above(reader: Reader, layer: readonly string[]): Promise<readonly string[]> {
  const documents = await reader.documents(layer);
  return documents.flatMap((document) => (document === undefined ? [] : parentsOf(document)));
}

function parentsOf({ entityType, values }: SearchDocument): readonly string[] {
  const parent = levels.get(entityType)?.parent ?? "";
  return Object.hasOwn(values, parent) ? (values[parent] ?? []).map(String) : [];
}

async function below(
  reader: Reader,
  layer: readonly string[],
  { urnsMax }: Bounds,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [entityType, urns] of Map.groupBy(layer, entityTypeOf)) {
    const level = levels.get(entityType);
    if (level === undefined || level.children.length === 0) continue;
    for (const values of slicesOf(urns, hitsMax)) {
      const condition: Condition = { kind: "equal", field: level.parent, values };
      const scope: Scope = {
        entityTypes: level.children,
        expression: { kind: "all" },
        condition,
      };
      appendAll(found, await all(reader, scope, urnsMax));
    }
  }
  return found;
}
