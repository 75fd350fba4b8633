/**
 * The rows of the search view in SQLite, for verification: the stored documents, and whether a
 * segment has each under its urn. Also verifies the checksums of all segments.
 */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { messageOf } from "../../../core/errors.ts";
import type { Row, ViewRows } from "../../../projector/verify/view-rows.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../../storage/sqlite/row-reading.ts";
import { searchSchema } from "./schema.ts";
import { createSegmentReader } from "./segments/segment-store.ts";

const URNS_PER_PAGE = 1_000;

interface Position {
  readonly hash: number;
  readonly urn: string;
}

export const openSqliteSearchRows = (path: string): ViewRows =>
  openSqliteViewRows(searchSchema, path, queriesOf);

type FoundColumns = readonly [json: string, id: number];

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays, objects } = preparingOn(db);
  const index = createSegmentReader(db);
  const find = arrays<FoundColumns>("SELECT json, id FROM document WHERE hash = ? AND urn = ?");
  const countDocuments = arrays<readonly [number]>("SELECT count(*) FROM document");
  const lastIds = arrays<readonly [given: number, indexed: number]>(`
    SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'document'), 0),
      coalesce((SELECT max(last) FROM segment), 0)`);
  const urnsAfter = objects<Position>(`
    SELECT hash, urn FROM document WHERE (hash, urn) > (?, ?) ORDER BY hash, urn LIMIT ${URNS_PER_PAGE}`);

  /** True if a segment has the document under its urn; false for a damaged index. */
  function isIndexed(id: number, urn: string): boolean {
    try {
      return index.segments().some((segment) => {
        const doc = segment.docOf(id, urn);
        return doc >= 0 && segment.deleted?.[doc] !== 1;
      });
    } catch {
      return false;
    }
  }

  function indexFaults(): readonly string[] {
    try {
      let indexed = 0;
      for (const { row, docs, deleted } of index.segments()) {
        indexed += docs - (deleted?.reduce((sum, flag) => sum + flag, 0) ?? 0);
        // The read verifies the checksums.
        index.read(row, [0, row.bytes]);
      }
      const documents = numberOf(countDocuments);
      const [given = 0, last = 0] = lastIds.get() ?? [];
      return [
        ...(documents === indexed
          ? []
          : [`the index has ${indexed} documents, the view has ${documents}`]),
        // Documents up to the last id are never flushed again.
        ...(given < last ? ["the last id is not that of the documents"] : []),
      ];
    } catch (error) {
      return [`the index cannot be read: ${messageOf(error)}`];
    }
  }

  return {
    rowsOf(given): readonly Row[] {
      const urn = given.toWellFormed();
      const found = find.all(crc32(urn), urn);
      return found.map(([json, id]) => ["", isIndexed(id, urn) ? 1 : 0, json]);
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
