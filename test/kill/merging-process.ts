/**
 * A process that writes documents to a search view and merges its segments: `merging-process.ts
 * FILE`. It prints a line for each applied batch, and one for each merge that starts. The test kills it.
 */
import { position } from "../../src/core/position.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import { BATCH, batchOf } from "./merged-documents.ts";

const [path = ""] = process.argv.slice(2);
const sink = openSqliteSearchSink({ path });
let isMerging = false;
for (let batch = (await sink.position()) / BATCH; ; batch++) {
  await sink.apply(batchOf(batch), position((batch + 1) * BATCH));
  process.stdout.write(`applied ${batch}\n`);
  const before = isMerging;
  isMerging = (await sink.maintain?.()) === true;
  if (isMerging && !before) process.stdout.write("merging\n");
}
