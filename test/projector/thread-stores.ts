/**
 * What the projector's thread opens its stores with in tests: a log and both views in a directory,
 * which do as the files there say: "crash" ends the thread, "sick" makes the timeseries view fail.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createAspectProjection } from "../../projections/aspects.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { AspectWrite } from "../../src/aspects/aspect-table.ts";
import { openSqliteAspectSink } from "../../src/aspects/sqlite/sqlite-aspect-sink.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import type { Projection, Sink, View } from "../../src/projector/sink.ts";
import { openSqliteTimeseriesSink } from "../../src/timeseries/sqlite/sqlite-timeseries-sink.ts";

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
  const failing: Projection<unknown> = (change) => {
    if (told("sick")) throw new Error("feels sick");
    return timeseries(change);
  };
  return [
    {
      name: "aspects",
      project: createAspectProjection(keyAspectOf),
      sink: crashing,
    },
    {
      name: "timeseries",
      project: failing,
      sink: openSqliteTimeseriesSink({ path: join(directory, "timeseries.sqlite") }),
    },
  ] as readonly unknown[] as readonly View[];
}

function die(): void {
  throw new Error("the thread is gone");
}
