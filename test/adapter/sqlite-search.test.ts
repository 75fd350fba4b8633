import { openSqliteSearchReader } from "../../src/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/search/sqlite/sqlite-search-sink.ts";
import { searchContract } from "../contract/search.contract.ts";
import { searchHistories } from "../contract/search-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteSearchSink,
  openReader: openSqliteSearchReader,
});

searchContract("sqlite", { createPlace });

const entityOf = (urn: string) => `urn = '${urn.replaceAll("'", "''")}'`;
const documentOf = (urn: string) => `id = (SELECT id FROM entity WHERE ${entityOf(urn)})`;

sinkContract("sqlite search", {
  createPlace,
  histories: searchHistories,
  urnOf: (write) => (write.op === "put" ? write.document.urn : write.urn),
  ownerOf: ({ document }) => document.urn,
  damages: [
    ["removed", (urn) => `DELETE FROM document WHERE ${documentOf(urn)}`],
    ["forgotten", (urn) => `DELETE FROM entity WHERE ${entityOf(urn)}`],
    ["taken for removed", (urn) => `UPDATE entity SET live = 0 WHERE ${entityOf(urn)}`],
    ["changed", (urn) => `UPDATE document SET json = '["tag",{},[]]' WHERE ${documentOf(urn)}`],
    [
      "moved to another place",
      (urn) => `UPDATE entity SET position = position + 5 WHERE ${entityOf(urn)}`,
    ],
  ],
});
