/**
 * The service's readers of views, which another edition may take the place of while they are asked.
 * Views in servers have readers that find the edition in place by themselves.
 */
import { openSqliteAspectReader } from "./aspects/sqlite/sqlite-aspect-reader.ts";
import type { CatalogError } from "./core/errors.ts";
import { openSqliteGraphReader } from "./graph/sqlite/sqlite-graph-reader.ts";
import type { RebuildingParts } from "./projector/rebuilding.ts";
import { type Replaceable, replaceable } from "./projector/replaceable.ts";
import { nextEdition, removeLeftovers } from "./projector/sqlite/editions.ts";
import { openSqliteSearchReader } from "./search/sqlite/sqlite-search-reader.ts";
import {
  type Places,
  type Readers,
  sharedView,
  type ViewName,
  viewFile,
  viewNames,
} from "./stores.ts";
import { openSqliteTimeseriesReader } from "./timeseries/sqlite/sqlite-timeseries-reader.ts";

type Reader = Readers[ViewName];

const open: Readonly<Record<ViewName, (path: string) => Reader>> = {
  aspects: openSqliteAspectReader,
  timeseries: openSqliteTimeseriesReader,
  graph: openSqliteGraphReader,
  search: openSqliteSearchReader,
};

export interface EditionReaders {
  readonly readers: Readers;
  readonly editions: RebuildingParts["readers"];
  /** Questions of the view are answered with this error. */
  refuse(view: string, error: CatalogError): void;
  /** They are answered again. */
  admit(views: readonly string[]): void;
}

export function editionReaders(config: Places, opened: Readers): EditionReaders {
  const all = new Map<string, Replaceable<Reader>>(
    viewNames.map((name) => [
      name,
      replaceable<Reader>(opened[name], name === "search" ? ("search" as never) : undefined),
    ]),
  );
  const own = (views: readonly string[]): readonly ViewName[] =>
    viewNames.filter((name) => views.includes(name) && !sharedView(config, name));

  return {
    readers: Object.fromEntries([...all].map(([name, { store }]) => [name, store])) as never,
    editions: {
      async prepare(views) {
        const next: { readonly reader: Reader; readonly of: Replaceable<Reader> | undefined }[] =
          [];
        const drop = async () => {
          for (const { reader } of next.splice(0)) await reader.close();
        };
        try {
          for (const name of own(views)) {
            const of = all.get(name);
            const reader = open[name](nextEdition(viewFile(config, name)));
            next.push({ reader, of });
            await of?.warm(reader);
          }
        } catch (error) {
          await drop();
          throw error;
        }
        return {
          async take() {
            await Promise.all(next.splice(0).map(({ reader, of }) => of?.replace(reader)));
          },
          drop,
        };
      },
      async reopen(views) {
        for (const name of own(views)) {
          void all.get(name)?.replace(open[name](viewFile(config, name)));
        }
      },
    },
    refuse: (view, error) => all.get(view)?.refuse(error),
    admit(views) {
      for (const view of views) all.get(view)?.refuse(undefined);
    },
  };
}

/** Removes what was grown beside views of the data directory, and is not in place. */
export function clearEditions(config: Places, names: readonly string[] = viewNames): void {
  for (const name of viewNames) {
    if (names.includes(name) && !sharedView(config, name)) removeLeftovers(viewFile(config, name));
  }
}
