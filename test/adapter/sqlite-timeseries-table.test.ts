import { openSqliteTimeseriesReader } from "../../src/timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesSink } from "../../src/timeseries/sqlite/sqlite-timeseries-sink.ts";
import { typeOf } from "../contract/aspect-table-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { timeseriesTableContract } from "../contract/timeseries-table.contract.ts";
import { timeseriesHistories } from "../contract/timeseries-table-model.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteTimeseriesSink,
  openReader: openSqliteTimeseriesReader,
});

timeseriesTableContract("sqlite", { createPlace });
const seriesOf = (urn: string) =>
  `(SELECT id FROM series WHERE urn = '${urn.replaceAll("'", "''")}')`;

sinkContract("sqlite timeseries", {
  createPlace,
  histories: timeseriesHistories,
  urnOf: (write) => (write.op === "truncate" ? undefined : write.urn),
  bearsOn: (write, urn) =>
    write.op === "truncate" ? typeOf(urn) === write.entityType : write.urn === urn,
  ownerOf: ({ urn }) => urn,
  damages: [
    ["removed", (urn) => `DELETE FROM event WHERE series IN ${seriesOf(urn)}`],
    ["removed in part", (urn) => `DELETE FROM event WHERE series IN ${seriesOf(urn)} AND time > 3`],
    ["changed", (urn) => `UPDATE event SET value = '{}' WHERE series IN ${seriesOf(urn)}`],
    ["moved", (urn) => `UPDATE event SET time = time + 0.5 WHERE series IN ${seriesOf(urn)}`],
    [
      "added",
      (urn) => `
        INSERT INTO event (series, time, key, position, system, value)
        SELECT id, 0.25, 'ghost', 99999, '{}', '{}' FROM series WHERE id IN ${seriesOf(urn)}`,
    ],
    [
      "added as a new series",
      (urn) => `
        INSERT INTO series (urn, aspect) VALUES ('${urn.replaceAll("'", "''")}', 'ghost');
        INSERT INTO event (series, time, key, position, system, value)
        VALUES (last_insert_rowid(), 1, 'ghost', 99999, '{}', '{}')`,
    ],
  ],
});
