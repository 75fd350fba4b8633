/**
 * The reading side of the search view, as plain calls: each is answered in one transaction. Broad
 * questions take a tenth of a second, so that it runs in a thread of its own (search-thread.ts).
 */
import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import type { Position } from "../../core/position.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import {
  type Cursor,
  type FacetValue,
  type FolderAnswer,
  type FolderQuery,
  hitsMax,
  type Scope,
  type SearchQuery,
} from "../search.ts";
import { createConditions, type Limit, narrowingMax } from "./conditions.ts";
import type { StoredDocument } from "./documents.ts";
import { countFacet } from "./facets.ts";
import { countFolders } from "./folders.ts";
import { type Found, filter, nothing } from "./found.ts";
import { createMatching } from "./matching.ts";
import { rank } from "./ranking.ts";
import { searchSchema } from "./schema.ts";
import { createSnapshot, type Snapshot, type TypeSelection } from "./snapshot.ts";
import { quoted, TYPE_FIELD, valueToken } from "./tokens.ts";

/** A hit before its document is decoded, which is left to who needs it. */
export interface StoredHit extends StoredDocument {
  readonly score: number;
  readonly cursor: Cursor;
}

export interface StoredAnswer {
  readonly hits: readonly StoredHit[];
  readonly total: number;
  readonly facets: readonly (readonly FacetValue[])[];
  readonly position: Position;
}

export interface SearchIndex {
  search(query: SearchQuery): StoredAnswer;
  folders(query: FolderQuery): FolderAnswer;
  documents(urns: readonly string[]): readonly (StoredDocument | undefined)[];
  close(): void;
}

/** Opens a view that a sink has made. */
export function openSearchIndex(path: string): SearchIndex {
  let opened = openFile(path);

  /** A view that was regrown lies in another file of the same name. */
  function current(): OpenFile {
    if (opened.file !== fileNumber(path)) {
      if (opened.db.isOpen) opened.db.close();
      opened = openFile(path);
    }
    return opened;
  }

  /** Answers from one state of the view. */
  function ask<T>(question: (answers: Answers) => T): T {
    return translated(searchSchema, "read", () => {
      const { db, answers } = current();
      db.exec("BEGIN");
      try {
        return question(answers);
      } finally {
        db.exec("COMMIT");
      }
    });
  }

  return {
    search: (query) => ask((answers) => answers.search(query)),
    folders: (query) => ask((answers) => answers.folders(query)),
    documents: (urns) => ask((answers) => answers.documents(urns)),
    close() {
      if (opened.db.isOpen) opened.db.close();
    },
  };
}

interface OpenFile {
  readonly file: number;
  readonly db: DatabaseSync;
  readonly answers: Answers;
}

function openFile(path: string): OpenFile {
  const file = fileNumber(path);
  const db = openSqliteViewReader(searchSchema, path);
  return { file, db, answers: createAnswers(createSnapshot(db)) };
}

const fileNumber = (path: string): number => (existsSync(path) ? statSync(path).ino : 0);

/** Each takes 12 bytes for every document that was found. */
const REMEMBERED_MAX = 4;
/** A filter limits the search when it leaves no more than this part of all documents. */
const LIMITING_PART = 8;
/** Filters that are tried for whether they leave few documents. */
const TRIED_MAX = 4;

type Answers = ReturnType<typeof createAnswers>;

function createAnswers(snapshot: Snapshot) {
  const { columns, documents, urns } = snapshot;
  const conditions = createConditions(snapshot);
  const find = createMatching({ ...snapshot, conditions });

  /** Where the condition or the types leave few documents, nothing is looked for beyond them. */
  function limitOf({ condition, entityTypes }: Scope, types: TypeSelection | undefined) {
    let least: Limit | undefined;
    if (types !== undefined && types.count <= narrowingMax) {
      const match = entityTypes.map((type) => quoted(valueToken(TYPE_FIELD, type))).join(" OR ");
      least = { docs: snapshot.live().filter(types.has), match };
    }
    const matches = condition === undefined ? [] : conditions.matchesOf(condition);
    const max = Math.max(narrowingMax, snapshot.live().length / LIMITING_PART);
    for (const match of matches.slice(0, TRIED_MAX)) {
      const docs = snapshot.postings.fewDocs(match, (least?.docs.length ?? Math.ceil(max)) - 1);
      if (docs !== undefined) least = { docs, match };
    }
    return least;
  }

  function findScope(scope: Scope): Found {
    const types = snapshot.ofTypes(scope.entityTypes);
    if (types?.count === 0) return nothing;
    const limit = limitOf(scope, types);
    const matched = find(scope.expression, limit);
    const ofTypes = types === undefined ? matched : filter(matched, types.has);
    if (scope.condition === undefined) return ofTypes;
    const held = conditions.find(scope.condition, { docs: ofTypes.docs, match: matched.match });
    if (held.length === ofTypes.docs.length) return ofTypes;
    let next = 0;
    return filter(ofTypes, (doc) => {
      if (held[next] !== doc) return false;
      next++;
      return true;
    });
  }

  /** What was found for scopes, as long as no document has changed: pages are asked for in turn. */
  const lately = new LRUCache<string, Found>({ max: REMEMBERED_MAX });

  function findNow(scope: Scope): { readonly found: Found; readonly position: Position } {
    const { position, changed } = snapshot.follow();
    if (changed) lately.clear();
    const { entityTypes, expression, condition } = scope;
    const key = JSON.stringify([entityTypes, expression, condition]);
    const found = lately.get(key) ?? findScope(scope);
    lately.set(key, found);
    return { found, position };
  }

  return {
    search(query: SearchQuery): StoredAnswer {
      const { found, position } = findNow(query);
      const page = { ...query, count: Math.min(query.count, hitsMax) };
      const places = rank(found, page, { column: columns.get, urns });
      const hits = places.flatMap(({ doc, score, cursor }) => {
        const stored = documents.stored(doc);
        return stored === undefined ? [] : [{ ...stored, score, cursor }];
      });
      const facets = query.facets.map((facet) => countFacet(facet, found.docs, columns.get));
      return { hits, total: found.docs.length, facets, position };
    },
    folders(query: FolderQuery): FolderAnswer {
      const { found, position } = findNow(query);
      return { ...countFolders(query, found.docs, columns.get(query.field)), position };
    },
    documents: (asked: readonly string[]) => asked.map(documents.storedByUrn),
  };
}
