/**
 * What the projector's thread opens its stores with in tests: a log and both views in a directory,
 * which do as the files there say: "crash" ends the thread, "sick" makes the store of the timeseries
 * view fail, "poison" makes what it is given unfit for that view.
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
  const told = (file: string) => existsSync(join(directory, file));
  if (told("locked")) {
    throw new CatalogError("unavailable", "the views are locked", { hint: "Unlock them" });
  }
  const keyAspectOf = (type: string) => `${type}Key`;
  const timeseries = createTimeseriesProjection(keyAspectOf);
  const aspects = openSqliteAspectSink({ path: join(directory, "aspects.sqlite") });
  const crashing: Sink<AspectWrite> = {
    ...aspects,
    apply(writes, upTo) {
      if (!told("crash")) return aspects.apply(writes, upTo);
      // Beside the loop, which would take it for a failure of the view.
      return new Promise(() => setImmediate(die));
    },
  };
  const refusing: Projection<unknown> = (change) => {
    if (told("poison")) throw new Error("tastes odd");
    // Something to write, so that the store is asked.
    return told("sick") ? [change] : timeseries(change);
  };
  const events = openSqliteTimeseriesSink({ path: join(directory, "timeseries.sqlite") });
  const failing: Sink<TimeseriesWrite> = {
    ...events,
    async apply(writes, upTo) {
      if (told("sick")) throw new CatalogError("unavailable", "feels sick");
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
      project: refusing,
      sink: failing,
    },
  ] as readonly unknown[] as readonly View[];
}

function die(): void {
  throw new Error("the thread is gone");
}
