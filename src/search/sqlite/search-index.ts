/**
 * The reading side of the search view. Broad questions take a tenth of a second, so that it runs in
 * a thread of its own (search-thread.ts), and in slices, so that one does not hold up the others.
 * An answer is of one state of the view: the one of its last slice.
 */
import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import { threadMs } from "../../projector/thread-ms.ts";
import { evaluate, holds } from "../evaluate.ts";
import {
  type Cursor,
  type FacetValue,
  type FolderAnswer,
  type FolderQuery,
  hitsMax,
  type Scope,
  type SearchQuery,
} from "../search.ts";
import { simplifiedCondition } from "../simplified-condition.ts";
import { createBest } from "./best.ts";
import { createConditions, type Limit, narrowingMax } from "./conditions.ts";
import type { StoredDocument } from "./documents.ts";
import { countFacet, fieldsOf } from "./facets.ts";
import { countFolders } from "./folders.ts";
import { among, type Found, filter, nothing, replaced } from "./found.ts";
import { createMatching } from "./matching.ts";
import { type Place, rank } from "./ranking.ts";
import { searchSchema } from "./schema.ts";
import { advance, type Steps } from "./slices.ts";
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

/** Each is answered in slices, of which each is one transaction. */
export interface SearchIndex {
  search(query: SearchQuery): Steps<StoredAnswer>;
  folders(query: FolderQuery): Steps<FolderAnswer>;
  documents(urns: readonly string[]): Steps<readonly (StoredDocument | undefined)[]>;
  close(): void;
}

/** Times of the thread itself: what others have of the machine does not count. */
export interface SearchTimes {
  /** After which others get their turn. */
  readonly sliceMs: number;
  /** After which a question is given up. */
  readonly answerMsMax: number;
}

export const searchTimes: SearchTimes = { sliceMs: 20, answerMsMax: 20_000 };

/** Opens a view that a sink has made. */
export function openSearchIndex(path: string, times: SearchTimes = searchTimes): SearchIndex {
  let opened = openFile(path);

  /**
   * A view that was regrown lies in another file of the same name. Without one, this edition is not
   * in place any more: who asks had begun before.
   */
  function current(): OpenFile {
    const inPlace = fileNumber(path);
    if (inPlace !== 0 && opened.file !== inPlace) {
      if (opened.db.isOpen) opened.db.close();
      opened = openFile(path);
    }
    return opened;
  }

  function* ask<T>(question: (answers: Answers) => Steps<T>): Steps<T> {
    let asked: { readonly file: OpenFile; readonly steps: Steps<T> } | undefined;
    let spentMs = 0;
    for (;;) {
      const begun = threadMs();
      const answer = translated(searchSchema, "read", () => {
        const file = current();
        // In another file nothing is as it was.
        if (asked?.file !== file) asked = { file, steps: question(file.answers) };
        const { steps } = asked;
        file.db.exec("BEGIN");
        try {
          file.answers.follow();
          return advance(steps, () => threadMs() - begun >= times.sliceMs);
        } finally {
          file.db.exec("COMMIT");
        }
      });
      if (answer !== undefined) return answer.value;
      spentMs += threadMs() - begun;
      if (spentMs >= times.answerMsMax) {
        asked?.steps.return(undefined as never);
        throw tooLong(times.answerMsMax);
      }
      yield;
    }
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

const tooLong = (ms: number): CatalogError =>
  new CatalogError("too_large", `the search took more than ${ms / 1_000} s of computing`, {
    hint: "Ask with fewer criteria, or with a word or value that fewer entities have",
  });

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
/** With more changed documents than this a search begins again. */
const MENDED_MAX = 1_000;
/** A filter limits the search when it leaves no more than this part of all documents. */
const LIMITING_PART = 8;
/** Filters that are tried for whether they leave few documents. */
const TRIED_MAX = 4;

type Answers = ReturnType<typeof createAnswers>;

function createAnswers(snapshot: Snapshot) {
  const { columns, documents, urns } = snapshot;
  const conditions = createConditions(snapshot);
  const find = createMatching({ ...snapshot, conditions });
  const findBest = createBest({ ...snapshot, conditions });

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

  function* findScope(scope: Scope): Steps<Found> {
    const types = snapshot.ofTypes(scope.entityTypes);
    if (types?.count === 0) return nothing;
    const limit = limitOf(scope, types);
    const matched = yield* find(scope.expression, limit);
    const ofTypes = types === undefined ? matched : filter(matched, types.has);
    if (scope.condition === undefined) return ofTypes;
    const { docs } = ofTypes;
    const held = yield* conditions.find(scope.condition, { docs, match: matched.match });
    return among(ofTypes, held);
  }

  /** What was found for scopes, as long as no document has changed: pages are asked for in turn. */
  const lately = new LRUCache<string, Found>({ max: REMEMBERED_MAX });
  const searches = new Set<Search>();
  let now: Position = START;

  /**
   * The documents of a scope as they are now. Those that have changed since the search began are
   * looked at in the end: whatever was found of them was of different times.
   */
  function* findNow({ entityTypes, expression, condition }: Scope): Steps<Found> {
    const key = JSON.stringify([entityTypes, expression, condition]);
    const known = lately.get(key);
    if (known !== undefined) return known;
    const scope: Scope = {
      entityTypes,
      expression,
      condition: condition && simplifiedCondition(condition),
    };
    for (;;) {
      const search: Search = { touched: new Set(), anew: false };
      searches.add(search);
      try {
        const found = yield* findScope(scope);
        if (search.anew || search.touched.size > MENDED_MAX) continue;
        const mended = mend(found, search.touched, scope);
        lately.set(key, mended);
        return mended;
      } finally {
        searches.delete(search);
      }
    }
  }

  /** The places of a page, where a few steps tell them; only of a question that counts nothing. */
  function* bestPlaces(query: SearchQuery): Steps<readonly Place[] | undefined> {
    const { sort, facets, after, start, count, condition } = query;
    const plain = sort.length === 0 && facets.length === 0 && after === undefined && count > 0;
    const types = snapshot.ofTypes(query.entityTypes);
    if (query.uncounted !== true || !plain || limitOf(query, types) !== undefined) return undefined;
    const search: Search = { touched: new Set(), anew: false };
    searches.add(search);
    try {
      const best = yield* findBest({
        expression: query.expression,
        condition: condition && simplifiedCondition(condition),
        has: types?.has ?? snapshot.isLive,
        wanted: start + count,
      });
      // Whatever has changed meanwhile, it may be of two times.
      if (search.anew || search.touched.size > 0) return undefined;
      return best?.slice(start).map(({ doc, score }) => {
        return { doc, score, cursor: [score, urns.urnOf(doc)] };
      });
    } finally {
      searches.delete(search);
    }
  }

  function mend(found: Found, touched: ReadonlySet<number>, scope: Scope): Found {
    if (touched.size === 0) return found;
    const { entityTypes, expression, condition } = scope;
    const types = new Set(entityTypes.map((type) => type.toWellFormed()));
    const scores = new Map<number, number>();
    for (const doc of touched) {
      const document = documents.get(doc);
      if (document === undefined || !types.has(document.entityType.toWellFormed())) continue;
      if (condition !== undefined && !holds(condition, document)) continue;
      const score = evaluate(expression, document)?.score;
      if (score !== undefined) scores.set(doc, score);
    }
    return replaced(found, touched, scores);
  }

  /** What was found, and these columns of it: others get their turn while they are read. */
  function* findWith(scope: Scope, fields: readonly string[]) {
    const first = yield* findNow(scope);
    // Documents may have changed in between.
    const found = (yield* columns.ready(first.docs, fields)) ? yield* findNow(scope) : first;
    return { found, column: columns.of(found.docs) };
  }

  const hitsAt = (places: readonly Place[]): readonly StoredHit[] =>
    places.flatMap(({ doc, score, cursor }) => {
      const stored = documents.stored(doc);
      return stored === undefined ? [] : [{ ...stored, score, cursor }];
    });

  return {
    /** Brings all to the state of the transaction, which has just begun. */
    follow(): void {
      const { position, touched } = snapshot.follow();
      now = position;
      if (touched?.length === 0) return;
      lately.clear();
      for (const search of searches) {
        if (touched === undefined) search.anew = true;
        else for (const doc of touched) search.touched.add(doc);
      }
    },
    *search(query: SearchQuery): Steps<StoredAnswer> {
      snapshot.postings.remembered.begin();
      const page = { ...query, count: Math.min(query.count, hitsMax) };
      const best = yield* bestPlaces(page);
      if (best !== undefined) {
        return { hits: hitsAt(best), total: page.start + best.length, facets: [], position: now };
      }
      const { found, column } = yield* findWith(query, [
        ...query.facets.flatMap(fieldsOf),
        ...query.sort.map(({ field }) => field),
      ]);
      const hits = hitsAt(rank(found, page, { column, urns }));
      const facets = query.facets.map((facet) => countFacet(facet, found.docs, column));
      return { hits, total: found.docs.length, facets, position: now };
    },
    *folders(query: FolderQuery): Steps<FolderAnswer> {
      snapshot.postings.remembered.begin();
      const { found, column } = yield* findWith(query, [query.field]);
      const folders = countFolders(query, found.docs, column(query.field));
      return { ...folders, position: now };
    },
    // biome-ignore lint/correctness/useYield: it takes no time
    *documents(asked: readonly string[]): Steps<readonly (StoredDocument | undefined)[]> {
      return asked.map(documents.storedByUrn);
    },
  };
}

/** What has changed since a search began. */
interface Search {
  readonly touched: Set<number>;
  /** Anything may have. */
  anew: boolean;
}
