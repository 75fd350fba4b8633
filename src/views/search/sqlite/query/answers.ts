/** Answers queries from the documents and segments of a view. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type Position, position } from "../../../../core/position.ts";
import { preparingOn } from "../../../../storage/sqlite/prepared.ts";
import {
  type Cursor,
  type FieldValue,
  type Folder,
  type FolderAnswer,
  type FolderQuery,
  hitsMax,
  type Scope,
  type SearchAnswer,
  type SearchQuery,
} from "../../search.ts";
import { simplifiedCondition } from "../../simplified-condition.ts";
import { decodeDocument } from "../../stored-document.ts";
import { type Segment, typeField } from "../segments/segment.ts";
import type { SegmentReader } from "../segments/segment-store.ts";
import { countCombinations } from "./combinations.ts";
import { compileCondition } from "./conditions.ts";
import type { Deadline } from "./deadline.ts";
import { type DocSet, filter, noDocs } from "./doc-set.ts";
import { countFacet } from "./facets.ts";
import { match } from "./matching.ts";
import { nearWordsOf, type VisibleSegment } from "./near-words.ts";
import { type Matched, topHits } from "./top-hits.ts";

/** A document as it is stored; its JSON is decoded where it is needed. */
export interface StoredDocument {
  readonly urn: string;
  readonly json: string;
}

interface StoredHit extends StoredDocument {
  readonly score: number;
  readonly cursor: Cursor;
}

export interface StoredAnswer extends Omit<SearchAnswer, "hits"> {
  readonly hits: readonly StoredHit[];
}

export type Answers = ReturnType<typeof createAnswers>;

/** `reader` has the segments of the transaction that is open. */
export function createAnswers(db: DatabaseSync, reader: SegmentReader) {
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

  /** The matches in each segment. */
  function find({ entityTypes, expression, condition }: Scope, deadline: Deadline) {
    const simple = condition && simplifiedCondition(condition);
    return reader.segments().map((segment): Matched & VisibleSegment => {
      const wanted = wantedTypes(segment, entityTypes);
      if (!wanted.includes(1)) return { segment, found: noDocs, visible: () => noDocs };
      const holds = simple && compileCondition(simple, segment, deadline);
      const visible = (set: DocSet): DocSet => {
        const ofTypes = withoutOthers(set, segment, wanted);
        deadline.spend(2 * ofTypes.docs.length);
        return holds === undefined ? ofTypes : filter(ofTypes, holds);
      };
      const matched = match(expression, { segment, deadline, documentOf });
      return { segment, found: visible(matched), visible };
    });
  }

  return {
    search(query: SearchQuery, deadline: Deadline): StoredAnswer {
      const all = find(query, deadline);
      const total = all.reduce((sum, { found }) => sum + found.docs.length, 0);
      const page = { ...query, count: Math.min(query.count, hitsMax) };
      const hits = topHits(all, page).flatMap(({ segment, doc, score, cursor }) => {
        const json = selectJson.get(segment.idOf(doc))?.[0];
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
    folders(query: FolderQuery, deadline: Deadline): FolderAnswer {
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

/** By the ordinal of each entity type in a segment: 1 if its documents are wanted. */
function wantedTypes(segment: Segment, entityTypes: readonly string[]): Uint8Array {
  const types = segment.field(typeField);
  const wanted = new Uint8Array(types?.count ?? 0);
  for (const type of entityTypes) {
    const ordinal = types?.find(type.toWellFormed()) ?? -1;
    if (ordinal >= 0) wanted[ordinal] = 1;
  }
  return wanted;
}

/** Leaves out documents that are deleted and those of other types. */
function withoutOthers(set: DocSet, segment: Segment, wanted: Uint8Array): DocSet {
  const { deleted } = segment;
  const types = segment.field(typeField);
  const left = deleted === undefined ? set : filter(set, (doc) => deleted[doc] !== 1);
  if (types === undefined || !wanted.includes(0)) return left;
  return filter(left, (doc) => types.some(doc, wanted));
}

/** Browse folders of one level, by the paths of a field. */
function countFolders(
  { field, path, separator }: Pick<FolderQuery, "field" | "path" | "separator">,
  all: readonly Matched[],
  deadline: Deadline,
): { readonly folders: readonly Folder[]; readonly total: number } {
  const before = (path + separator).toWellFormed();
  const between = separator.toWellFormed();
  /** Names of folders that have folders. */
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
