import { openSqliteTimeseriesReader } from "../../src/timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesSink } from "../../src/timeseries/sqlite/sqlite-timeseries-sink.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { timeseriesTableContract } from "../contract/timeseries-table.contract.ts";
import { timeseriesHistories } from "../contract/timeseries-table-model.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteTimeseriesSink,
  openReader: openSqliteTimeseriesReader,
});

timeseriesTableContract("sqlite", { createPlace });
sinkContract("sqlite timeseries", { createPlace, histories: timeseriesHistories });
