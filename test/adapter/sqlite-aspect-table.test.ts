import { openSqliteAspectReader } from "../../src/aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteAspectSink } from "../../src/aspects/sqlite/sqlite-aspect-sink.ts";
import { aspectTableContract } from "../contract/aspect-table.contract.ts";
import { aspectHistories } from "../contract/aspect-table-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteAspectSink,
  openReader: openSqliteAspectReader,
});

aspectTableContract("sqlite", { createPlace });
sinkContract("sqlite aspects", { createPlace, histories: aspectHistories });
