/**
 * Compares the views of a data directory with views that are rebuilt from its log in another
 * directory, row by row. The service must be stopped.
 */
import { join } from "node:path";
import { configuredModel } from "../../src/app/load-model.ts";
import { openLogReader } from "../../src/app/open-log.ts";
import { viewNames } from "../../src/app/store-locations.ts";
import { openViews } from "../../src/app/stores.ts";
import { readConfig } from "../../src/config/config.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { buildViews } from "./build-views.ts";
import {
  type Dump,
  openDumpedAspectReader,
  openDumpedGraphReader,
  openDumpedSearchReader,
  openDumpedTimeseriesReader,
} from "./dumped-readers.ts";
import { type Difference, findDifference } from "./find-difference.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export interface Dumped extends Dump<unknown> {
  close(): Promise<void>;
}

export const embeddedReaders: Readonly<Record<string, (file: string) => Dumped>> = {
  aspects: openDumpedAspectReader,
  timeseries: openDumpedTimeseriesReader,
  graph: openDumpedGraphReader,
  search: openDumpedSearchReader,
};

export async function differencesFromRebuild(
  directory: string,
): Promise<{ records: number; differences: readonly (Difference<unknown> & { view: string })[] }> {
  using other = temporaryDirectory("annals-rebuilt");
  const config = readConfig({ data: directory }, {});
  const log = await openLogReader(config);
  const views = await openViews({
    ...config,
    data: other.path,
    rules: configuredModel(config).rules,
  });
  let records = 0;
  const onProgress = (progress: { readonly records: number }) => {
    records = progress.records;
  };
  await buildViews({ log, views, decode: decodeRecord, onProgress });
  await log.close();
  const differences = [];
  for (const view of viewNames) {
    const open = embeddedReaders[view];
    if (open === undefined) throw new Error(`no reader for the view ${view}`);
    const live = open(join(directory, `${view}.sqlite`));
    const rebuilt = open(join(other.path, `${view}.sqlite`));
    const difference = await findDifference(live, rebuilt);
    if (difference !== undefined) differences.push({ view, ...difference });
    await live.close();
    await rebuilt.close();
  }
  return { records, differences };
}
