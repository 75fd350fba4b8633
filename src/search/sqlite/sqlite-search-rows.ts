/**
 * The rows of the search view in SQLite, for verification: documents as they are stored, and whether
 * the index has each under its urn. The bytes of the index are compared with their checksums.
 */
import type { DatabaseSync } from "node:sqlite";
import { saidBy } from "../../core/errors.ts";
import { numberOf, preparingOn } from "../../projector/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../projector/sqlite/row-reading.ts";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { hash32, searchSchema } from "./schema.ts";
import { type Segment, segmentWith } from "./segment.ts";
import { createSegmentReader } from "./segment-store.ts";

const URNS_PER_PAGE = 1_000;

interface Position {
  readonly hash: number;
  readonly urn: string;
}

export const openSqliteSearchRows = (path: string): ViewRows =>
  openSqliteViewRows(searchSchema, path, queriesOf);

/** The segments of a transaction. */
function createIndex(db: DatabaseSync) {
  const reader = createSegmentReader(db);
  let turn = -1;
  let opened: readonly Segment[] = [];

  function segments(): readonly Segment[] {
    const now = reader.state().turn;
    if (now !== turn) opened = reader.rows().map(reader.open);
    turn = now;
    return opened;
  }

  return {
    segments,
    /** Whether the index has a document under its urn. What is damaged has none. */
    has(id: number, urn: string): boolean {
      try {
        const one = segmentWith(segments(), id);
        const doc = one?.docOf(id, urn) ?? -1;
        return doc >= 0 && one?.deleted?.[doc] !== 1;
      } catch {
        return false;
      }
    },
    /** Reads every byte. */
    check(): void {
      for (const { row } of segments()) reader.read(row, [0, row.bytes]);
    },
  };
}

type FoundColumns = readonly [json: string, id: number];

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays, objects } = preparingOn(db);
  const index = createIndex(db);
  const find = arrays<FoundColumns>(`
    SELECT json, document.id FROM entity JOIN document ON document.id = entity.document
    WHERE hash = ? AND urn = ?`);
  const countDocuments = arrays<readonly [number]>("SELECT count(*) FROM document");
  const urnsAfter = objects<Position>(`
    SELECT hash, urn FROM entity JOIN document ON document.id = entity.document
    WHERE (hash, urn) > (?, ?) ORDER BY hash, urn LIMIT ${URNS_PER_PAGE}`);
  const greatest = arrays<readonly [document: number, segment: number, chunk: number]>(`
    SELECT coalesce(max(document.id), 0), (SELECT coalesce(max(id), 0) FROM segment),
      (SELECT coalesce(max(id), 0) FROM chunk) FROM document`);

  function indexFaults(deep: boolean): readonly string[] {
    try {
      const state = createSegmentReader(db).state();
      const [document = 0, segment = 0, chunk = 0] = greatest.get() ?? [];
      const isBehind = document > state.document || segment > state.segment || chunk > state.chunk;
      let indexed = 0;
      for (const { docs, deleted } of index.segments()) {
        indexed += docs - (deleted?.reduce((sum, flag) => sum + flag, 0) ?? 0);
      }
      const documents = numberOf(countDocuments);
      if (deep) index.check();
      return [
        ...(documents === indexed
          ? []
          : [`the index has ${indexed} documents, the view has ${documents}`]),
        ...(isBehind ? ["the last ids are not those of the tables"] : []),
      ];
    } catch (error) {
      return [`the index cannot be read: ${saidBy(error)}`];
    }
  }

  return {
    rowsOf(given): readonly Row[] {
      const urn = given.toWellFormed();
      const row = find.get(hash32(urn), urn);
      if (row === undefined) return [];
      const [json, id] = row;
      return [["", index.has(id, urn) ? 1 : 0, json]];
    },
    count: () => numberOf(countDocuments),
    urns(after) {
      const { hash, urn } = (after as Position | undefined) ?? { hash: -1, urn: "" };
      const page = urnsAfter.all(hash, urn);
      return {
        urns: page.map((one) => one.urn),
        next: page.length === URNS_PER_PAGE ? page.at(-1) : undefined,
      };
    },
    faults: indexFaults,
  };
}
