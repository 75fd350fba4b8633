/**
 * Counts documents in the folders of one level. Reads the paths below the parent folder in order
 * and sums their counts. The sum is exact if each document has one path. A folder with documents
 * that have several paths is counted again with a query of its own.
 */
import type { estypes } from "@elastic/elasticsearch";
import { slicesOf } from "../../../../lib/lists.ts";
import { fieldValues } from "../../evaluate.ts";
import type { Folder, FolderQuery, FolderResult } from "../../search.ts";
import { encoded, fieldNames } from "../fields.ts";
import type { Indices } from "../indices.ts";
import { fromUnitOrder, inUnitOrder, storedText } from "../stored-text.ts";
import { fetchCandidates } from "./candidates.ts";
import {
  anyOf,
  isTooLong,
  prefix,
  type QueryClause,
  range,
  terms,
  truncatedTerm,
} from "./clauses.ts";

type Level = Pick<FolderQuery, "field" | "separator">;

/** Page size of the paths. */
const PATHS_MAX = 5_000;
/** Folders that one request counts again. */
const FOLDERS_MAX = 200;

interface Counted {
  count: number;
  hasFolders: boolean;
  /** True if some documents may have been counted several times. */
  uncertain: boolean;
}

/** `query`: the documents of the scope. */
export async function findFolders(
  { field, separator, path }: FolderQuery,
  query: QueryClause,
  indices: Indices,
): Promise<Omit<FolderResult, "position">> {
  const before = (path + separator).toWellFormed();
  if (isTooLong(inUnitOrder(before + separator))) {
    return await findDeepFolders({ field, separator }, before, query, indices);
  }
  const level = { field, separator: separator.toWellFormed() };
  const scope: QueryClause = {
    bool: { filter: [query, prefix(fieldNames.text(field), inUnitOrder(before))] },
  };
  const counted = new Map<string, Counted>();
  let total = 0;
  let after = inUnitOrder(before);
  for (let first = true; ; first = false) {
    const { aggregations = {} } = await indices.search({
      query: scope,
      size: 0,
      aggs: {
        paths: pathsFrom(field, after),
        ...(first && { inFolders: { filter: inFolders(level, before) } }),
      },
    });
    if (first) total = docCount(aggregations.inFolders);
    const { buckets, more } = pathsOf(aggregations.paths);
    const inside = buckets.filter(({ key }) => fromUnitOrder(key).startsWith(before));
    for (const { key, ...path } of inside) {
      count(counted, fromUnitOrder(key).slice(before.length), path, level.separator);
    }
    const last = buckets.at(-1);
    if (!more || last === undefined || inside.length < buckets.length) break;
    after = last.key;
  }
  await countAgain(counted, level, before, scope, indices);
  return { folders: inOrder(counted), total };
}

/** Counts from the documents themselves, for a folder whose path is too long for the index. */
async function findDeepFolders(
  { field, separator }: Level,
  before: string,
  query: QueryClause,
  indices: Indices,
): Promise<Omit<FolderResult, "position">> {
  const beginning = prefix(fieldNames.text(field), truncatedTerm(inUnitOrder(before)));
  const documents = await fetchCandidates({ bool: { filter: [query, beginning] } }, indices);
  const all = new Map<string, Counted>();
  let total = 0;
  for (const { values } of documents) {
    const own = new Map<string, Counted>();
    for (const value of fieldValues(values, field)) {
      if (typeof value !== "string" || !value.toWellFormed().startsWith(before)) continue;
      count(
        own,
        value.toWellFormed().slice(before.length),
        { documents: 1, several: 0 },
        separator,
      );
    }
    if (own.size > 0) total++;
    for (const [name, { hasFolders }] of own) {
      const folder = all.get(name) ?? { count: 0, hasFolders: false, uncertain: false };
      folder.count++;
      folder.hasFolders ||= hasFolders;
      all.set(name, folder);
    }
  }
  return { folders: inOrder(all), total };
}

const inOrder = (counted: ReadonlyMap<string, Counted>): readonly Folder[] =>
  Array.from(counted, ([name, { count, hasFolders }]) => ({ name, count, hasFolders })).sort(
    (a, b) => b.count - a.count || (a.name < b.name ? -1 : 1),
  );

interface Path {
  /** The term in the index. */
  readonly key: string;
  readonly documents: number;
  readonly several: number;
}

const pathsFrom = (field: string, after: string): estypes.AggregationsAggregationContainer => ({
  composite: {
    size: PATHS_MAX,
    sources: [{ path: { terms: { field: fieldNames.shown(field) } } }],
    after: { path: after },
  },
  aggs: { several: { filter: { terms: { several: [encoded(field)] } } } },
});

function pathsOf(result: unknown): { readonly buckets: readonly Path[]; readonly more: boolean } {
  const { buckets = [] } = (result ?? {}) as {
    readonly buckets?: readonly {
      readonly key: { readonly path: unknown };
      readonly doc_count: number;
      readonly several: { readonly doc_count: number };
    }[];
  };
  return {
    buckets: buckets.map(({ key, doc_count, several }) => ({
      key: String(key.path),
      documents: doc_count,
      several: several.doc_count,
    })),
    more: buckets.length === PATHS_MAX,
  };
}

function count(
  counted: Map<string, Counted>,
  rest: string,
  { documents, several }: Omit<Path, "key">,
  separator: string,
): void {
  const [name = "", next = ""] = rest.split(separator, 2);
  if (name === "") return;
  const folder = counted.get(name) ?? { count: 0, hasFolders: false, uncertain: false };
  folder.count += documents;
  folder.hasFolders ||= next !== "";
  folder.uncertain ||= several > 0;
  counted.set(name, folder);
}

async function countAgain(
  counted: ReadonlyMap<string, Counted>,
  level: Level,
  before: string,
  scope: QueryClause,
  indices: Indices,
): Promise<void> {
  const uncertain = [...counted].filter(([, folder]) => folder.uncertain);
  for (const chunk of slicesOf(uncertain, FOLDERS_MAX)) {
    const { aggregations = {} } = await indices.search({
      query: scope,
      size: 0,
      aggs: Object.fromEntries(
        chunk.map(([name], n) => [`folder${n}`, { filter: isIn(level, before + name) }]),
      ),
    });
    for (const [n, [, folder]] of chunk.entries()) {
      folder.count = docCount(aggregations[`folder${n}`]);
    }
  }
}

const docCount = (result: unknown): number =>
  (result as { readonly doc_count?: number } | undefined)?.doc_count ?? 0;

/** Matches documents in the folder or below it. */
function isIn({ field, separator }: Level, folder: string): QueryClause {
  const text = fieldNames.text(field);
  return anyOf([
    ...terms(text, [storedText(folder)]),
    prefix(text, inUnitOrder(folder + separator)),
  ]);
}

/**
 * Matches documents in any folder: the path continues after the separator with a non-empty name.
 */
function inFolders({ field, separator }: Level, before: string): QueryClause {
  const text = fieldNames.text(field);
  const [from, empty] = [inUnitOrder(before), inUnitOrder(before + separator)];
  return anyOf([
    range(text, { gt: from, lt: empty }),
    range(text, { gte: upperBound(empty), lt: upperBound(from) }),
  ]);
}

/** The least text that sorts after all texts with this prefix. */
function upperBound(stored: string): string {
  const characters = Array.from(stored);
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) ?? 0;
    if (code === 0x10ffff) continue;
    return characters.join("") + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1);
  }
  return String.fromCodePoint(0x10ffff).repeat(2);
}
