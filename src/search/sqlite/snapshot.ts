/**
 * What the reading side keeps in memory of the view: which documents there are and of which type,
 * columns of fields, the order of urns. `follow` brings it to the state of the transaction that it
 * is called in, document by document, or anew when there is too much between.
 */
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { type Position, position } from "../../core/position.ts";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import { grown } from "./column.ts";
import { anewFrom, type Columns, createColumns } from "./columns.ts";
import { createDocumentTokens } from "./document-tokens.ts";
import { createDocuments, type Documents } from "./documents.ts";
import type { Kind } from "./levels.ts";
import { createPostings, type Postings } from "./postings.ts";
import { type FieldNumber, quoted, TYPE_FIELD, valueOfToken, valueRange } from "./tokens.ts";
import { createUrnOrder, type UrnOrder } from "./urn-order.ts";

export interface Snapshot {
  readonly postings: Postings;
  readonly documents: Documents;
  readonly columns: Columns;
  readonly urns: UrnOrder;
  /** To be called at the beginning of each transaction. */
  follow(): Followed;
  fieldNumber(field: string): FieldNumber | undefined;
  kinds(): readonly Kind[];
  /** All documents, ascending. */
  live(): Uint32Array;
  /** Whether there is a document of the number. */
  isLive(doc: number): boolean;
  /** Those of some types; undefined when that is all. */
  ofTypes(types: readonly string[]): TypeSelection | undefined;
}

export interface Followed {
  readonly position: Position;
  /** Documents that are not what they were when it was called before; undefined for any. */
  readonly touched: readonly number[] | undefined;
}

export interface TypeSelection {
  readonly count: number;
  has(doc: number): boolean;
}

/** With more changes than this, what is remembered of the index is rather read again. */
const REMEMBERED_FOLLOWS_MAX = 64;
/** The fields of structured properties have no end. */
const FIELDS_MAX = 10_000;
/** No token has it. */
const UNKNOWN = -1;

export function createSnapshot(db: DatabaseSync): Snapshot {
  const { arrays } = preparingOn(db);
  const postings = createPostings(db);
  const documents = createDocuments(db);
  const urns = createUrnOrder(db);
  const head = db.prepare(`
    SELECT position, generation, (SELECT max(id) FROM entity) AS last,
      (SELECT min(turn) FROM touched) AS first_turn, (SELECT max(turn) FROM touched) AS last_turn
    FROM view`);
  const touchedSince = arrays<readonly [doc: number, live: number]>(`
    SELECT DISTINCT touched.id, document.id IS NOT NULL
    FROM touched LEFT JOIN document USING (id) WHERE turn > ?`);
  const allKinds = db.prepare("SELECT id, boost, suggested FROM kind ORDER BY id");
  const findField = db.prepare("SELECT id FROM field WHERE name = ?");

  let generation = -1;
  let turn = 0;
  let last = 0;
  /** By document: 0 for none, else the number of its type. */
  let typeOf = new Uint16Array(1);
  const types = new Map<string, number>();
  let counts: number[] = [0];
  let live: Uint32Array | undefined;
  let kinds: readonly Kind[] | undefined;

  const columns = createColumns({
    postings,
    fieldNumber,
    valuesOf: (doc) => documents.values(doc)?.values ?? {},
    last: () => last,
  });

  const fields = new LRUCache<string, FieldNumber>({ max: FIELDS_MAX });
  const tokensOf = createDocumentTokens({
    fieldOf: (name) => fieldNumber(name) ?? UNKNOWN,
    kindOf: (boost, suggested) =>
      kindsNow().find((kind) => kind.boost === boost && kind.suggested === suggested)?.number ??
      UNKNOWN,
  });

  /** A field keeps its number for as long as the file lasts. */
  function fieldNumber(field: string): FieldNumber | undefined {
    const known = fields.get(field);
    if (known !== undefined) return known;
    const row = findField.get(field);
    if (row === undefined) return undefined;
    fields.set(field, Number(row.id));
    return Number(row.id);
  }

  function kindsNow(): readonly Kind[] {
    kinds ??= allKinds.all().map(({ id, boost, suggested }) => ({
      number: Number(id),
      boost: Number(boost),
      suggested: suggested === 1,
    }));
    return kinds;
  }

  function typeNumber(type: string): number {
    let number = types.get(type);
    if (number === undefined) {
      number = types.size + 1;
      types.set(type, number);
      counts.push(0);
    }
    return number;
  }

  function setType(doc: number, type: number): void {
    const before = typeOf[doc] ?? 0;
    typeOf[doc] = type;
    counts[before] = (counts[before] ?? 0) - 1;
    counts[type] = (counts[type] ?? 0) + 1;
  }

  function readAnew(): void {
    columns.clear();
    postings.remembered.clear();
    types.clear();
    counts = [0];
    typeOf = new Uint16Array(last + 1);
    for (const token of postings.tokens(...valueRange(TYPE_FIELD)).tokens) {
      const docs = postings.docs(quoted(token));
      const type = typeNumber(typeOfToken(token, docs[0] ?? 0));
      for (const doc of docs) typeOf[doc] = type;
      counts[type] = docs.length;
    }
  }

  /** A type with a name too long for its token is told by a document. */
  const typeOfToken = (token: string, doc: number): string =>
    String(valueOfToken(token) ?? typeOfDocument(doc));

  const typeOfDocument = (doc: number): string =>
    String(documents.values(doc)?.entityType).toWellFormed();

  function followChanges(): readonly number[] {
    if (typeOf.length <= last) typeOf = grown(typeOf, last * 1.25 + 1);
    const changes = touchedSince.all(turn);
    const { remembered } = postings;
    if (changes.length > REMEMBERED_FOLLOWS_MAX) remembered.clear();
    const follows = !remembered.empty;
    for (const [doc, isThere] of changes) {
      // One that stays keeps its type, which its urn tells.
      if (isThere === 0) setType(doc, 0);
      else if (typeOf[doc] === 0) setType(doc, typeNumber(typeOfDocument(doc)));
      if (follows) {
        const whole = documents.get(doc);
        remembered.follow(doc, whole === undefined ? [] : (tokensOf(whole).match(/[^ ]+/g) ?? []));
      }
    }
    const touched = changes.map(([doc]) => doc);
    columns.changed(touched);
    return touched;
  }

  return {
    postings,
    documents,
    columns,
    urns,
    follow() {
      documents.forget();
      columns.tidy();
      kinds = undefined;
      const now = head.get();
      const lastTurn = Number(now?.last_turn ?? 0);
      last = Number(now?.last ?? 0);
      const begun = Number(now?.generation) !== generation;
      const missed = Number(now?.first_turn ?? 0) > turn + 1;
      const anew = begun || missed || lastTurn - turn > anewFrom(last);
      if (begun) urns.clear();
      if (anew) readAnew();
      const touched = anew ? undefined : lastTurn === turn ? [] : followChanges();
      if (touched?.length !== 0) live = undefined;
      generation = Number(now?.generation);
      turn = lastTurn;
      urns.grow(last);
      return { position: position(Number(now?.position ?? 0)), touched };
    },
    fieldNumber,
    kinds: kindsNow,
    isLive: (doc) => (typeOf[doc] ?? 0) !== 0,
    live() {
      if (live === undefined) {
        const all = new Uint32Array(last + 1);
        let count = 0;
        for (let doc = 1; doc <= last; doc++) if (typeOf[doc] !== 0) all[count++] = doc;
        live = all.slice(0, count);
      }
      return live;
    },
    ofTypes(wanted) {
      const marked = new Uint8Array(types.size + 1);
      for (const type of wanted) marked[types.get(type.toWellFormed()) ?? 0] = 1;
      marked[0] = 0;
      let count = 0;
      let others = 0;
      for (let type = 1; type < marked.length; type++) {
        if (marked[type] === 1) count += counts[type] ?? 0;
        else others += counts[type] ?? 0;
      }
      return others === 0 ? undefined : { count, has: (doc) => marked[typeOf[doc] ?? 0] === 1 };
    },
  };
}
