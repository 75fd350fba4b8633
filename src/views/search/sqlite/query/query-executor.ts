/** Executes queries on the documents and segments of a view. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { CatalogError } from "../../../../core/errors.ts";
import { type Position, position } from "../../../../core/position.ts";
import { preparingOn } from "../../../../storage/sqlite/prepared.ts";
import { NearTest, type NearWord, nearest } from "../../near-words.ts";
import {
  type Condition,
  type Cursor,
  type FieldValue,
  type Folder,
  type FolderQuery,
  type FolderResult,
  hitsMax,
  type Scope,
  type SearchQuery,
  type SearchResult,
} from "../../search.ts";
import { simplifiedCondition } from "../../simplified-condition.ts";
import { decodeDocument } from "../../stored-document.ts";
import { type Segment, typeField } from "../segments/segment.ts";
import type { SegmentReader } from "../segments/segment-store.ts";
import { wordOf, wordTerm } from "../segments/terms.ts";
import { countCombinations } from "./combinations.ts";
import { always, compileCondition, never } from "./conditions.ts";
import type { Deadline } from "./deadline.ts";
import { allWith, type DocSet, filter, noDocs } from "./doc-set.ts";
import { countFacet } from "./facets.ts";
import { match } from "./matching.ts";
import { type Matched, topHits } from "./top-hits.ts";

/** A row of the document table; the caller decodes its JSON. */
interface StoredDocument {
  readonly urn: string;
  readonly json: string;
}

interface StoredHit extends StoredDocument {
  readonly score: number;
  readonly cursor: Cursor;
}

interface StoredResult extends Omit<SearchResult, "hits"> {
  readonly hits: readonly StoredHit[];
}

export type QueryExecutor = ReturnType<typeof createQueryExecutor>;

/** `reader`: reads the segments in the open transaction. */
export function createQueryExecutor(db: DatabaseSync, reader: SegmentReader) {
  const { arrays, objects } = preparingOn(db);
  const selectPosition = arrays<readonly [number]>("SELECT position FROM view");
  const selectJson = arrays<readonly [json: string]>("SELECT json FROM document WHERE id = ?");
  const selectByUrn = objects<StoredDocument>(
    "SELECT urn, json FROM document WHERE hash = ? AND urn = ?",
  );

  const positionNow = (): Position => position(Number(selectPosition.get()?.[0]));

  function documentOf(segment: Segment, doc: number) {
    const json = selectJson.get(segment.idOf(doc))?.[0];
    return json === undefined ? undefined : decodeDocument(segment.urns.text(doc), json);
  }

  function find({ entityTypes, expression, condition }: Scope, deadline: Deadline) {
    const ofTypes: Condition = { kind: "equal", field: typeField, values: entityTypes };
    const every = condition === undefined ? [ofTypes] : [ofTypes, condition];
    const all = simplifiedCondition({ kind: "every", every });
    return reader.segments().map((segment): Matched => {
      const holds = compileCondition(all, segment, deadline);
      const { deleted } = segment;
      const visible = (set: DocSet): DocSet => {
        if (deleted === undefined && holds === always) return set;
        deadline.spend(2 * set.docs.length);
        return filter(set, (doc) => deleted?.[doc] !== 1 && holds(doc));
      };
      const matched =
        holds === never ? noDocs : match(expression, { segment, deadline, documentOf });
      return { segment, found: visible(matched), visible };
    });
  }

  return {
    search(query: SearchQuery, deadline: Deadline): StoredResult {
      const all = find(query, deadline);
      const total = all.reduce((sum, { found }) => sum + found.docs.length, 0);
      const page = { ...query, count: Math.min(query.count, hitsMax) };
      const hits = topHits(all, page).flatMap(({ segment, doc, score, cursor }) => {
        const json = query.urnsOnly ? "" : selectJson.get(segment.idOf(doc))?.[0];
        return json === undefined ? [] : [{ urn: segment.urns.text(doc), json, score, cursor }];
      });
      return {
        hits,
        total,
        facets: query.facets.map((facet) => countFacet(facet, all, deadline)),
        position: positionNow(),
        ...(total === 0 &&
          query.nearWordsOf && { nearWords: nearWordsOf(query.nearWordsOf, all, deadline) }),
      };
    },
    folders(query: FolderQuery, deadline: Deadline): FolderResult {
      const all = find(query, deadline);
      return { ...countFolders(query, all, deadline), position: positionNow() };
    },
    documents: (urns: readonly string[]): readonly (StoredDocument | undefined)[] =>
      urns.map((given) => {
        const urn = given.toWellFormed();
        return selectByUrn.get(crc32(urn), urn);
      }),
  };
}

/** Counts documents in the folders of one level, by the paths of a field. */
function countFolders(
  { field, path, separator }: Pick<FolderQuery, "field" | "path" | "separator">,
  all: readonly Matched[],
  deadline: Deadline,
): { readonly folders: readonly Folder[]; readonly total: number } {
  const before = (path + separator).toWellFormed();
  const between = separator.toWellFormed();
  /** Names of folders with subfolders. */
  const parents = new Set<string>();
  const textOf = (value: FieldValue): string | undefined => {
    if (typeof value !== "string" || !value.startsWith(before)) return undefined;
    const [name = "", next = ""] = value.slice(before.length).split(between, 2);
    if (next !== "") parents.add(name);
    return name || undefined;
  };
  const places = [{ fields: [field], textOf }];
  const { combinations, documents } = countCombinations(places, all, deadline);
  return {
    folders: combinations
      .map(({ values: [name = ""], count }) => ({ name, count, hasFolders: parents.has(name) }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
    total: documents,
  };
}

/** The near words of each word; none after a timeout. */
function nearWordsOf(
  words: readonly string[],
  segments: readonly Matched[],
  deadline: Deadline,
): readonly (readonly NearWord[])[] {
  try {
    return words.map((word) => nearWords(word.toWellFormed(), segments, deadline));
  } catch (error) {
    // The query itself finished in time: its result is returned.
    if (error instanceof CatalogError && error.code === "too_large") return words.map(() => []);
    throw error;
  }
}

function nearWords(
  word: string,
  segments: readonly Matched[],
  deadline: Deadline,
): readonly NearWord[] {
  const near = new NearTest(word);
  if (near.editsMax === 0) return [];
  const count = ({ segment, visible }: Matched, ordinal: number): number => {
    const { docs } = segment.terms.postings(ordinal);
    return visible(allWith(docs, 1)).docs.length;
  };
  for (const one of segments) {
    const [from, to] = one.segment.terms.dictionary.prefixRange(wordTerm(word));
    for (let ordinal = from; ordinal < to; ordinal++) if (count(one, ordinal) > 0) return [];
  }
  const found = new Map<string, NearWord>();
  for (const one of segments) {
    const { dictionary } = one.segment.terms;
    const [from, to] = dictionary.prefixRange(wordTerm(near.first));
    dictionary.eachText(from, to, (term, ordinal) => {
      const other = wordOf(term);
      deadline.spend(20);
      const distance = near.distance(other);
      if (distance === undefined) return;
      const documents = count(one, ordinal) + (found.get(other)?.documents ?? 0);
      found.set(other, { word: other, distance, documents });
    });
  }
  return nearest(found.values());
}
