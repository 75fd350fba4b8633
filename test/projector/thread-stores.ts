/**
 * The stores of the projector's thread in tests: a log and both views in a directory, controlled by
 * marker files: "crash" ends the thread, "failing" makes the store of the timeseries view fail,
 * "unfit" makes records unfit for that view.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createAspectProjection } from "../../projections/aspects.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import type { Projection, Sink, View } from "../../src/projector/sink.ts";
import type { AspectWrite } from "../../src/views/aspects/aspect-table.ts";
import { openSqliteAspectSink } from "../../src/views/aspects/sqlite/sqlite-aspect-sink.ts";
import { openSqliteTimeseriesSink } from "../../src/views/timeseries/sqlite/sqlite-timeseries-sink.ts";
import type { TimeseriesWrite } from "../../src/views/timeseries/timeseries-table.ts";

export interface TestStores {
  readonly directory: string;
}

export const openLogReader = ({ directory }: TestStores) =>
  openSqliteChangeLog({ file: join(directory, "log.sqlite"), readOnly: true });

export async function openViews({ directory }: TestStores): Promise<readonly View[]> {
  const has = (file: string) => existsSync(join(directory, file));
  if (has("locked")) {
    throw new CatalogError("unavailable", "the views are locked", { hint: "Unlock them" });
  }
  const keyAspectOf = (type: string) => `${type}Key`;
  const timeseries = createTimeseriesProjection(keyAspectOf);
  const aspects = openSqliteAspectSink({ path: join(directory, "aspects.sqlite") });
  const crashing: Sink<AspectWrite> = {
    ...aspects,
    apply(writes, upTo) {
      if (!has("crash")) return aspects.apply(writes, upTo);
      // Outside of the loop, which would treat it as a failure of the view.
      return new Promise(() => setImmediate(die));
    },
  };
  const failingOnRequest: Projection<unknown> = (change) => {
    if (has("unfit")) throw new Error("tastes odd");
    // A write, so that the store is used.
    return has("failing") ? [change] : timeseries(change);
  };
  const events = openSqliteTimeseriesSink({ path: join(directory, "timeseries.sqlite") });
  const failing: Sink<TimeseriesWrite> = {
    ...events,
    async apply(writes, upTo) {
      if (has("failing")) throw new CatalogError("unavailable", "store fails");
      await events.apply(writes, upTo);
    },
  };
  return [
    {
      name: "aspects",
      project: createAspectProjection(keyAspectOf),
      sink: crashing,
    },
    {
      name: "timeseries",
      project: failingOnRequest,
      sink: failing,
    },
  ] as readonly unknown[] as readonly View[];
}

function die(): void {
  throw new Error("the thread is gone");
}
