/**
 * The rows of the search view in SQLite, for verification: documents, as they are stored, and whether
 * the index has each under its urn.
 */
import type { DatabaseSync } from "node:sqlite";
import { saidBy } from "../../core/errors.ts";
import { type EntitySums, everyRow } from "../../projector/sqlite/entity-sums.ts";
import { numberOf, preparingOn } from "../../projector/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../projector/sqlite/row-reading.ts";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { numberingFaults } from "./numbering-faults.ts";
import { openVocabulary } from "./postings.ts";
import { searchSchema } from "./schema.ts";
import { type FieldNumber, hash32, quoted, valueRange, valueToken } from "./tokens.ts";
import { isWide } from "./urn-order.ts";

const URNS_PER_PAGE = 1_000;
/** An index of so many pages may be found without the list of them. */
const UNLISTED_PAGES_MAX = 32;

interface Place {
  readonly hash: number;
  readonly urn: string;
}

type FoundColumns = readonly [
  ...[json: string, id: number, inIndex: number | null, live: number | null],
];

export const openSqliteSearchRows = (path: string): ViewRows =>
  openSqliteViewRows(searchSchema, path, queriesOf, addAll);

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays, objects } = preparingOn(db);
  const find = arrays<FoundColumns>(`
    SELECT json, id, (SELECT 1 FROM term_docsize WHERE term_docsize.id = entity.id), live
    FROM entity JOIN document USING (id) LEFT JOIN written USING (id)
    WHERE hash = ? AND urn = ?`);
  const isFound = createLookUp(db);
  const countDocuments = arrays<readonly [number]>("SELECT count(*) FROM document");
  const countIndexed = arrays<readonly [number]>("SELECT count(*) FROM term_docsize");
  const urnsAfter = objects<Place>(`
    SELECT hash, urn FROM entity JOIN document USING (id)
    WHERE (hash, urn) > (?, ?) ORDER BY hash, urn LIMIT ${URNS_PER_PAGE}`);
  const unnamed = arrays<readonly [number]>(
    "SELECT count(*) FROM document WHERE NOT EXISTS (SELECT 1 FROM field)",
  );
  const unlisted = arrays<readonly [number]>(`
    SELECT (SELECT count(*) FROM term_data) > ${UNLISTED_PAGES_MAX} AND NOT EXISTS (SELECT 1 FROM term_idx)`);

  // Of the others each character is one byte.
  const maybeWide = arrays<readonly [urn: string, wide: number]>(
    "SELECT urn, wide FROM entity WHERE wide <> 0 OR octet_length(urn) <> length(urn)",
  );

  function isOrderedOtherwise(): boolean {
    for (const [urn, wide] of maybeWide.iterate()) if ((wide === 1) !== isWide(urn)) return true;
    return false;
  }

  return {
    rowsOf(given): readonly Row[] {
      const urn = given.toWellFormed();
      const row = find.get(hash32(urn), urn);
      if (row === undefined) return [];
      const [json, id, inIndex, live] = row;
      const indexed = inIndex === 1 && live === 1 && isFound(id, urn);
      return [["", indexed ? 1 : 0, json]];
    },
    count: () => numberOf(countDocuments),
    urns(after) {
      const { hash, urn } = (after as Place | undefined) ?? { hash: -1, urn: "" };
      const page = urnsAfter.all(hash, urn);
      return {
        urns: page.map((place) => place.urn),
        next: page.length === URNS_PER_PAGE ? page.at(-1) : undefined,
      };
    },
    faults(deep) {
      const documents = numberOf(countDocuments);
      const indexed = numberOf(countIndexed);
      return [
        ...(documents === indexed
          ? []
          : [`the index has ${indexed} documents, and there are ${documents}`]),
        ...(numberOf(unnamed) > 0 ? ["the names of fields are gone"] : []),
        ...(numberOf(unlisted) > 0 ? ["the list of the index's pages is gone"] : []),
        ...(deep && isOrderedOtherwise() ? ["some urns come in another order than theirs"] : []),
        ...(deep ? readableNumbering(db) : []),
      ];
    },
  };
}

function readableNumbering(db: DatabaseSync): readonly string[] {
  try {
    return numberingFaults(db);
  } catch (error) {
    // What the index has in place of its parts may be anything.
    return [`the index cannot be read: ${saidBy(error)}`];
  }
}

/** Whether a document is found by its urn. */
function createLookUp(db: DatabaseSync): (id: number, urn: string) => boolean {
  const fieldOfUrns = findFieldOfUrns(db);
  // FTS5 passes over a row that is no integer, which numbers of here are not unless they are made one.
  const found = db.prepare("SELECT 1 FROM term WHERE term MATCH ? AND rowid = CAST(? AS INTEGER)");
  return (id, urn) => {
    const field = fieldOfUrns();
    if (field === undefined) return false;
    try {
      return found.get(quoted(valueToken(field, urn)), id) !== undefined;
    } catch {
      // What the index has in place of its parts may be anything.
      return false;
    }
  };
}

type DocumentColumns = readonly [
  ...[id: number, json: string, urn: string | null, hash: number | null],
  ...[inIndex: number | null, live: number | null],
];

/** One of so many documents is looked for by its words. */
const LOOKED_FOR = 200;

/** Documents in the order of their numbers. */
async function addAll(db: DatabaseSync, sums: EntitySums): Promise<void> {
  const { arrays } = preparingOn(db);
  const { hash } = sums;
  const isFound = createLookUp(db);
  const isUnderItsUrn = readIndexedUrns(db);
  const documents = arrays<DocumentColumns>(`
    SELECT document.id, json, urn, hash,
      (SELECT 1 FROM term_docsize WHERE term_docsize.id = document.id), live
    FROM document LEFT JOIN entity USING (id) LEFT JOIN written USING (id)
    WHERE document.id > ? ORDER BY document.id LIMIT ?`);
  let count = 0;
  await everyRow(documents, 1, ([id, json, urn, hashed, inIndex, live]) => {
    if (urn !== null) sums.name(id, urn);
    if (!sums.begin(id) || urn === null) return;
    const there = inIndex === 1 && live === 1 && hashed === hash32(urn) && isUnderItsUrn(id, urn);
    const indexed = there && (count++ % LOOKED_FOR !== 0 || isFound(id, urn));
    hash.text("");
    hash.number(indexed ? 1 : 0);
    hash.text(json);
    sums.end();
  });
}

type Posting = readonly [doc: number, term: string];

/** Higher numbers only a hand can have given. */
const NUMBER_MAX = 1 << 26;

/** Whether the index has a document under its urn: all that it has under urns is read at once. */
function readIndexedUrns(db: DatabaseSync): (id: number, urn: string) => boolean {
  const field = findFieldOfUrns(db)();
  if (field === undefined) return () => false;
  openVocabulary(db);
  const { arrays } = preparingOn(db);
  const [from, before] = valueRange(field);
  const last = arrays<readonly [number | null]>("SELECT max(id) FROM term_docsize").get()?.[0] ?? 0;
  const hashes = new Uint32Array(Math.min(last, NUMBER_MAX) + 1);
  const postings = arrays<Posting>(
    "SELECT doc, term FROM temp.posting WHERE term >= ? AND term < ?",
  );
  try {
    for (const [doc, term] of postings.iterate(from, before)) hashes[doc] = hash32(term);
  } catch {
    // What the index has in place of its parts may be anything.
    return () => false;
  }
  return (id, urn) => hashes[id] === hash32(valueToken(field, urn));
}

function findFieldOfUrns(db: DatabaseSync): () => FieldNumber | undefined {
  const find = db.prepare("SELECT id FROM field WHERE name = 'urn'");
  return () => {
    const id = find.get()?.id;
    return id === undefined ? undefined : Number(id);
  };
}
