import { openSqliteGraphReader } from "../../src/graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteGraphSink } from "../../src/graph/sqlite/sqlite-graph-sink.ts";
import { graphContract } from "../contract/graph.contract.ts";
import { graphHistories } from "../contract/graph-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteGraphSink,
  openReader: openSqliteGraphReader,
});

graphContract("sqlite", { createPlace });
sinkContract("sqlite graph", { createPlace, histories: graphHistories });
